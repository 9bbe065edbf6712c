//! OpenHands.
//!
//! From the sources of its SDK (August 2026); not run.

use super::replies::HALT;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const DENY: Delivery = Delivery::Send(&[Key("decision", Word("deny")), Key("reason", Text)]);
const CONTEXT: Delivery = Delivery::Send(&[Key("additionalContext", Text)]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static OPENHANDS: Agent = Agent {
    name: "openhands",
    title: "OpenHands",
    marker_fields: &["event_type"],
    verification: Verification::Source,
    event_paths: &["event_type", "hook_event_name"],
    fields: &[FieldMapping::new("working_dir", "cwd"), FieldMapping::new("message", "prompt")],
    tools: &[
        Tool::new("terminal", "Bash"),
        Tool::new("execute_bash", "Bash"),
        Tool::new("file_editor", "Edit").also(&["Write"]).fields(FILE),
        Tool::new("str_replace_editor", "Edit").also(&["Write"]).fields(FILE),
    ],
    mcp: Mcp::Same,
    version_path: "version",
    project: &[FolderSource::Variable("OPENHANDS_PROJECT_DIR")],
    text_paths: &[],
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
                ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Delivery::Silence("the agent's own permissions decide"),
                rewrite: Delivery::Substitute(Effect::Deny, "a hook cannot change an input"),
                halt: Delivery::Substitute(Effect::Deny, "a halt alone might let the tool run"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["PostToolUse", "post_tool_use"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: Delivery::Dropped("a hook cannot change an output"),
                hide: Delivery::Dropped("a hook cannot change an output"),
                halt: HALT,
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["UserPromptSubmit", "user_prompt_submit"],
            "UserPromptSubmit",
            EffectSupport { deny: DENY, context: CONTEXT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionStart", "session_start"], "SessionStart", OBSERVE_ONLY),
        AgentEvent::new(&["SessionEnd", "session_end"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(&["Stop", "stop"], "Stop", EffectSupport { resume: DENY, ..OBSERVE_ONLY }),
    ],
    page: Page {
        file: "~/.openhands/hooks.json (or .openhands/hooks.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook openhands PreToolUse", "timeout": 60}]}]}}"#,
        on_failure: "A hook that times out and every exit status but 2 let the tool run.",
        caveats: &["A denial at Stop keeps the agent going; Crosier allows 8 in a row."],
    },
};
