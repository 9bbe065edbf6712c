//! Goose.
//!
//! From its sources (May 2026); not run.

use super::shape::BLOCK;
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, Mcp, Move, OutputShape, Page, Proof, TimeUnit, Timeout, Tool,
    Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
const BEFORE: EffectSupport = EffectSupport {
    deny: BLOCK,
    ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
    allow: Way::Silence("the agent's own permissions decide"),
    rewrite: Way::Becomes(Effect::Deny, "a hook cannot change an input"),
    halt: Way::Becomes(Effect::Deny, "a hook cannot stop the agent"),
    ..SEEN
};

pub(super) static GOOSE: Agent = Agent {
    name: "goose",
    title: "Goose",
    signs: &["matcher_context"],
    proof: Proof::Source,
    event_at: &["event", "hook_event_name"],
    fields: &[
        Move::new("working_dir", "cwd"),
        Move::new("tool_output", "tool_response"),
        Move::new("message", "prompt"),
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
    version_at: "version",
    project: &[],
    text_at: &[],
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
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["PostToolUseFailure"], "PostToolUseFailure", SEEN),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: Way::Lost("a hook cannot stop a prompt"), ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", SEEN),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", SEEN),
        AgentEvent::new(
            &["Stop"],
            "Stop",
            EffectSupport { resume: Way::Lost("a hook cannot keep the agent going"), ..SEEN },
        ),
    ],
    page: Page {
        file: "~/.agents/plugins/crosier/hooks/hooks.json (or .agents/plugins/… in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook goose", "timeout": 30}]}]}}"#,
        fails: "A hook that times out and every exit status but 2 let the tool run.",
        traps: &["`\"*\"` is not a valid matcher: Goose drops the rule. Leave the matcher out."],
    },
};
