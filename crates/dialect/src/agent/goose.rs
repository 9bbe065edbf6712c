//! Goose.
//!
//! From its sources (May 2026); not run.

use super::replies::BLOCK;
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, Mcp, OutputShape, Page, TimeUnit,
    Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const BEFORE: EffectSupport = EffectSupport {
    deny: BLOCK,
    ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
    allow: Delivery::Silence("the agent's own permissions decide"),
    rewrite: Delivery::Substitute(Effect::Deny, "a hook cannot change an input"),
    halt: Delivery::Substitute(Effect::Deny, "a hook cannot stop the agent"),
    ..OBSERVE_ONLY
};

pub(super) static GOOSE: Agent = Agent {
    name: "goose",
    title: "Goose",
    marker_fields: &["matcher_context"],
    verification: Verification::Source,
    event_paths: &["event", "hook_event_name"],
    fields: &[
        FieldMapping::new("working_dir", "cwd"),
        FieldMapping::new("tool_output", "tool_response"),
        FieldMapping::new("message", "prompt"),
    ],
    tools: &[
        Tool::new("developer__shell", "Bash"),
        Tool::new("shell", "Bash"),
        Tool::new("developer__text_editor", "Edit").also(&["Write"]).fields(&[
            ("path", "file_path"),
            ("file_text", "content"),
            ("old_str", "old_string"),
            ("new_str", "new_string"),
        ]),
        Tool::new("write", "Write").fields(&[("path", "file_path")]),
        Tool::new("edit", "Edit").fields(&[
            ("path", "file_path"),
            ("before", "old_string"),
            ("after", "new_string"),
        ]),
    ],
    mcp: Mcp::Marked("", "__"),
    version_path: "version",
    project: &[],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(&["PreToolUse", "BeforeShellExecution", "BeforeReadFile"], "PreToolUse", BEFORE),
        AgentEvent::new(
            &["PostToolUse", "AfterShellExecution", "AfterFileEdit"],
            "PostToolUse",
            EffectSupport {
                replace: Delivery::Dropped("a hook cannot change an output"),
                hide: Delivery::Dropped("a hook cannot change an output"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["PostToolUseFailure"], "PostToolUseFailure", OBSERVE_ONLY),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: Delivery::Dropped("a hook cannot stop a prompt"), ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", OBSERVE_ONLY),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(
            &["Stop"],
            "Stop",
            EffectSupport { resume: Delivery::Dropped("a hook cannot keep the agent going"), ..OBSERVE_ONLY },
        ),
    ],
    page: Page {
        file: "~/.agents/plugins/crosier/hooks/hooks.json (or .agents/plugins/… in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook goose", "timeout": 30}]}]}}"#,
        on_failure: "A hook that times out and every exit status but 2 let the tool run.",
        caveats: &["`\"*\"` is not a valid matcher: Goose drops the rule. Leave the matcher out."],
    },
};
