//! Claude Code.
//!
//! Seen in the real program, version 2.1.325, headless. Crosier's vocabulary is that of Claude Code, except for the
//! tool `Agent`.

use super::replies::{
    ALLOW, ANSWER_NO, ANSWER_YES, ASK, BEFORE_TOOL, BLOCK, CONTEXT, DENY, EVENT, EXIT, HALT, TELL,
};
use crate::read::Call;
use crate::table::AnswerPart::{Key, Stdout};
use crate::table::AnswerValue::{Input, Is, Output, Permissions, Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FolderSource, Mcp, OutputShape, Page, TimeUnit,
    Timeout, Tool, Verification,
};
use crosier_protocol::Json;

/// Events at which the person can be told something, and context waits for a later event.
const OBSERVE_ONLY: EffectSupport = EffectSupport { tell: TELL, halt: HALT, ..EffectSupport::NOTHING };
const OUTPUT: Delivery = Delivery::Send(&[EVENT, Key("hookSpecificOutput.updatedToolOutput", Output)]);
const STOPS: EffectSupport = EffectSupport { resume: BLOCK, ..OBSERVE_ONLY };
/// Events of a team: only the exit status counts.
const TEAM: EffectSupport = EffectSupport { deny: EXIT, ..OBSERVE_ONLY };

pub(super) static CLAUDE: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    marker_fields: &["effort"],
    verification: Verification::Run("2.1.325"),
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("Agent", "Task"),
        Tool::new("Task", "Task").also(&["Agent"]),
        // It runs a command in the background, or listens to a socket.
        Tool::new("Monitor", "Bash").when("command"),
    ],
    mcp: Mcp::Same,
    version_path: "version",
    project: &[FolderSource::Variable("CLAUDE_PROJECT_DIR")],
    text_paths: &["stdout", "file.content", "content"],
    output: OutputShape::Own(&[
        ("Bash", "stdout"),
        ("Read", "file.content"),
        ("Write", "content"),
        ("Edit", "newString"),
        ("WebFetch", "result"),
        ("Grep", "content"),
    ]),
    nothing: "",
    resumes: Some(8),
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 600 },
    events: &[
        AgentEvent::new(&["PreToolUse"], "PreToolUse", BEFORE_TOOL),
        AgentEvent::new(
            &["PermissionRequest"],
            "PermissionRequest",
            EffectSupport {
                deny: ANSWER_NO,
                allow: ANSWER_YES,
                rewrite: Delivery::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.behavior", Word("allow")),
                    Key("hookSpecificOutput.decision.updatedInput", Input),
                ]),
                rewrite_undecided: Some(Delivery::Substitute(
                    Effect::Deny,
                    "the person would be asked about the old input",
                )),
                permissions: Delivery::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.updatedPermissions", Permissions),
                ]),
                halt: Delivery::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.behavior", Word("deny")),
                    Key("hookSpecificOutput.decision.message", Text),
                    Key("hookSpecificOutput.decision.interrupt", Is(true)),
                ]),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PostToolUseFailure"],
            "PostToolUseFailure",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PostToolBatch"],
            "PostToolBatch",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["UserPromptExpansion"],
            "UserPromptExpansion",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(
            &["Setup"],
            "Setup",
            EffectSupport {
                context: Delivery::Dropped("context of Setup never reaches the model"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["Stop"], "Stop", STOPS),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", STOPS),
        AgentEvent::new(
            &["SubagentStart"],
            "SubagentStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: EXIT,
                context: Delivery::Send(&[Stdout(Text)]),
                rewrite: Delivery::Send(&[Stdout(Input)]),
                halt: EXIT,
                ..EffectSupport::NOTHING
            },
        )
        .restore(added_instructions),
        AgentEvent::new(&["Notification"], "Notification", OBSERVE_ONLY),
        AgentEvent::new(&["TeammateIdle"], "TeammateIdle", TEAM),
        AgentEvent::new(&["TaskCompleted"], "TaskCompleted", TEAM),
        AgentEvent::new(&["TaskCreated"], "TaskCreated", TEAM),
        AgentEvent::new(
            &["PreModelSwitch"],
            "PreModelSwitch",
            EffectSupport { deny: DENY, ask: ASK, allow: ALLOW, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["PostModelSwitch"], "PostModelSwitch", OBSERVE_ONLY),
        AgentEvent::new(&["PermissionDenied"], "PermissionDenied", OBSERVE_ONLY),
        AgentEvent::new(&["StopFailure"], "StopFailure", OBSERVE_ONLY),
        AgentEvent::new(&["PostCompact"], "PostCompact", OBSERVE_ONLY),
        AgentEvent::new(&["Elicitation"], "Elicitation", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["ElicitationResult"], "ElicitationResult", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["ConfigChange"], "ConfigChange", EffectSupport { deny: EXIT, ..OBSERVE_ONLY }),
        // A hook on this event would have to create the worktree itself.
        AgentEvent::new(&["WorktreeCreate"], "WorktreeCreate", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["WorktreeRemove"], "WorktreeRemove", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["InstructionsLoaded"], "InstructionsLoaded", OBSERVE_ONLY),
        AgentEvent::new(&["CwdChanged"], "CwdChanged", OBSERVE_ONLY),
        AgentEvent::new(&["FileChanged"], "FileChanged", OBSERVE_ONLY),
        AgentEvent::new(&["DirectoryAdded"], "DirectoryAdded", OBSERVE_ONLY),
        AgentEvent::new(&["MessageDisplay"], "MessageDisplay", EffectSupport::NOTHING).not_installed(),
    ],
    page: Page {
        file: "~/.claude/settings.json (or .claude/settings.json, .claude/settings.local.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook claude --deadline 55", "timeout": 60, "onFailure": "block"}]}]}}"#,
        on_failure: "A missing program, a hook that times out and every exit status but 2 let the tool run, unless the entry \
                has `\"onFailure\": \"block\"`.",
        caveats: &[
            "A WorktreeCreate hook replaces `git worktree`: never install one.",
            "An unknown hook type makes Claude Code ignore the whole settings file.",
            "In headless mode `ask` refuses the call, without a PermissionRequest.",
            "At SessionEnd a hook is killed after a short time, unless its entry has a `timeout`.",
            "UserPromptSubmit also fires for a `<task-notification>`; SubagentStop also fires for a compaction, with an \
             empty `agent_type`.",
            "When a ConfigChange hook denies, the old settings stay in force: this protects the entry that calls Crosier.",
            "A hook cannot change the output of a tool that failed: a secret in it reaches the model.",
            "Copilot CLI, Cursor and VS Code also run the hooks of `.claude/settings.json`.",
        ],
    },
};

/// Claude Code appends the hook's output to the existing instructions, so only the new part is printed.
fn added_instructions(call: &Call, new: &Json) -> Result<Json, String> {
    let old = call.text("custom_instructions").unwrap_or_default();
    let new = new.plain();
    Ok(Json::from(new.strip_prefix(old.as_str()).unwrap_or(&new).trim()))
}
