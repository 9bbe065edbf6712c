//! OpenHands.
//!
//! From the sources of its SDK (August 2026); not run.

use super::shape::HALT;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Text, Word};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, Move, OutputShape, Page, Proof, TimeUnit,
    Timeout, Tool, Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
const DENY: Way = Way::Send(&[Key("decision", Word("deny")), Key("reason", Text)]);
const CONTEXT: Way = Way::Send(&[Key("additionalContext", Text)]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static OPENHANDS: Agent = Agent {
    name: "openhands",
    title: "OpenHands",
    signs: &["event_type"],
    proof: Proof::Source,
    event_at: &["event_type", "hook_event_name"],
    fields: &[Move::new("working_dir", "cwd"), Move::new("message", "prompt")],
    tools: &[
        Tool::new("terminal", "Bash"),
        Tool::new("execute_bash", "Bash"),
        Tool::new("file_editor", "Edit").also(&["Write"]).fields(FILE),
        Tool::new("str_replace_editor", "Edit").also(&["Write"]).fields(FILE),
    ],
    mcp: Mcp::Same,
    version_at: "version",
    project: &[FolderSource::Variable("OPENHANDS_PROJECT_DIR")],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["PreToolUse", "pre_tool_use"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("the agent's own permissions decide"),
                rewrite: Way::Becomes(Effect::Deny, "a hook cannot change an input"),
                halt: Way::Becomes(Effect::Deny, "a halt alone might let the tool run"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["PostToolUse", "post_tool_use"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                halt: HALT,
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["UserPromptSubmit", "user_prompt_submit"],
            "UserPromptSubmit",
            EffectSupport { deny: DENY, context: CONTEXT, halt: HALT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart", "session_start"], "SessionStart", SEEN),
        AgentEvent::new(&["SessionEnd", "session_end"], "SessionEnd", SEEN),
        AgentEvent::new(&["Stop", "stop"], "Stop", EffectSupport { resume: DENY, ..SEEN }),
    ],
    page: Page {
        file: "~/.openhands/hooks.json (or .openhands/hooks.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook openhands PreToolUse", "timeout": 60}]}]}}"#,
        fails: "A hook that times out and every exit status but 2 let the tool run.",
        traps: &["A denial at Stop keeps the agent going; Crosier allows 8 in a row."],
    },
};
