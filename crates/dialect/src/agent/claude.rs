//! Claude Code.
//!
//! Seen in the real program, version 2.1.325, headless. Crosier's vocabulary is that of Claude Code, except for the
//! tool `Agent`.

use super::shape::{
    ALLOW, ANSWER_NO, ANSWER_YES, ASK, BEFORE_TOOL, BLOCK, CONTEXT, DENY, EVENT, EXIT, HALT, TELL,
};
use crate::read::Call;
use crate::table::AnswerPart::{Key, Stdout};
use crate::table::AnswerValue::{Input, Is, Output, Permissions, Text, Word};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, OutputShape, Page, Proof, TimeUnit, Timeout,
    Tool, Way,
};
use crosier_protocol::Json;

/// Events at which the person can be told something, and context waits for a later event.
const SEEN: EffectSupport = EffectSupport { tell: TELL, halt: HALT, ..EffectSupport::NOTHING };
const OUTPUT: Way = Way::Send(&[EVENT, Key("hookSpecificOutput.updatedToolOutput", Output)]);
const STOPS: EffectSupport = EffectSupport { resume: BLOCK, ..SEEN };
/// Events of a team: only the exit status counts.
const TEAM: EffectSupport = EffectSupport { deny: EXIT, ..SEEN };

pub(super) static CLAUDE: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    signs: &["effort"],
    proof: Proof::Run("2.1.325"),
    event_at: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("Agent", "Task"),
        Tool::new("Task", "Task").also(&["Agent"]),
        // It runs a command in the background, or listens to a socket.
        Tool::new("Monitor", "Bash").when("command"),
    ],
    mcp: Mcp::Same,
    version_at: "version",
    project: &[FolderSource::Variable("CLAUDE_PROJECT_DIR")],
    text_at: &["stdout", "file.content", "content"],
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
                rewrite: Way::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.behavior", Word("allow")),
                    Key("hookSpecificOutput.decision.updatedInput", Input),
                ]),
                rewrite_undecided: Some(Way::Becomes(
                    Effect::Deny,
                    "the person would be asked about the old input",
                )),
                permissions: Way::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.updatedPermissions", Permissions),
                ]),
                halt: Way::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.decision.behavior", Word("deny")),
                    Key("hookSpecificOutput.decision.message", Text),
                    Key("hookSpecificOutput.decision.interrupt", Is(true)),
                ]),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, ..SEEN },
        ),
        AgentEvent::new(
            &["PostToolUseFailure"],
            "PostToolUseFailure",
            EffectSupport { context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["PostToolBatch"],
            "PostToolBatch",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["UserPromptExpansion"],
            "UserPromptExpansion",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", EffectSupport { context: CONTEXT, ..SEEN }),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(
            &["Setup"],
            "Setup",
            EffectSupport { context: Way::Lost("context of Setup never reaches the model"), ..SEEN },
        ),
        AgentEvent::new(&["Stop"], "Stop", STOPS),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", STOPS),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", EffectSupport { context: CONTEXT, ..SEEN }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: EXIT,
                context: Way::Send(&[Stdout(Text)]),
                rewrite: Way::Send(&[Stdout(Input)]),
                halt: EXIT,
                ..EffectSupport::NOTHING
            },
        )
        .restore(added_instructions),
        AgentEvent::new(&["Notification"], "Notification", SEEN),
        AgentEvent::new(&["TeammateIdle"], "TeammateIdle", TEAM),
        AgentEvent::new(&["TaskCompleted"], "TaskCompleted", TEAM),
        AgentEvent::new(&["TaskCreated"], "TaskCreated", TEAM),
        AgentEvent::new(
            &["PreModelSwitch"],
            "PreModelSwitch",
            EffectSupport { deny: DENY, ask: ASK, allow: ALLOW, ..SEEN },
        ),
        AgentEvent::new(&["PostModelSwitch"], "PostModelSwitch", SEEN),
        AgentEvent::new(&["PermissionDenied"], "PermissionDenied", SEEN),
        AgentEvent::new(&["StopFailure"], "StopFailure", SEEN),
        AgentEvent::new(&["PostCompact"], "PostCompact", SEEN),
        AgentEvent::new(&["Elicitation"], "Elicitation", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["ElicitationResult"], "ElicitationResult", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["ConfigChange"], "ConfigChange", EffectSupport { deny: EXIT, ..SEEN }),
        // A hook on this event would have to create the worktree itself.
        AgentEvent::new(&["WorktreeCreate"], "WorktreeCreate", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["WorktreeRemove"], "WorktreeRemove", EffectSupport::NOTHING).not_installed(),
        AgentEvent::new(&["InstructionsLoaded"], "InstructionsLoaded", SEEN),
        AgentEvent::new(&["CwdChanged"], "CwdChanged", SEEN),
        AgentEvent::new(&["FileChanged"], "FileChanged", SEEN),
        AgentEvent::new(&["DirectoryAdded"], "DirectoryAdded", SEEN),
        AgentEvent::new(&["MessageDisplay"], "MessageDisplay", EffectSupport::NOTHING).not_installed(),
    ],
    page: Page {
        file: "~/.claude/settings.json (or .claude/settings.json, .claude/settings.local.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook claude", "timeout": 60, "onFailure": "block"}]}]}}"#,
        fails: "A missing program, a hook that times out and every exit status but 2 let the tool run, unless the entry \
                has `\"onFailure\": \"block\"`.",
        traps: &[
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
