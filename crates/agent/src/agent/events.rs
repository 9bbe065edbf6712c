//! The events that this agent fires.

/// Every event that the agent fires, in the order of the event table. A new row of the table is not fired
/// until it is listed here and the loop fires it; `crosier demo` shows each of these.
pub const EVENTS: [&str; 24] = [
    "Setup",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreMessage",
    "PostMessage",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreAgentSpawn",
    "PostAgentComplete",
    "PreSessionPhase",
    "PostSessionPhase",
    "PreGitWrite",
    "PostGitWrite",
    "PreViewRender",
    "Notification",
    "TeammateIdle",
    "TaskCompleted",
];
