//! Kiro CLI, formerly Amazon Q.
//!
//! From its documentation; not run. It takes an exit status, and plain text as context.

use super::derived::startup;
use super::replies::EXIT;
use crate::table::AnswerPart::Stdout;
use crate::table::AnswerValue::Text;
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, Mcp, OutputShape, Page, TimeUnit, Timeout, Tool,
    Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Delivery = Delivery::Send(&[Stdout(Text)]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static KIRO: Agent = Agent {
    name: "kiro",
    title: "Kiro CLI",
    marker_fields: &["agentSpawn"],
    verification: Verification::Documentation,
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("execute_bash", "Bash"),
        Tool::new("shell", "Bash"),
        Tool::new("fs_read", "Read").fields(FILE),
        Tool::new("read", "Read").fields(FILE),
        Tool::new("fs_write", "Write").also(&["Edit"]).fields(FILE),
        Tool::new("write", "Write").also(&["Edit"]).fields(FILE),
    ],
    mcp: Mcp::Marked("@", "/"),
    version_path: "version",
    project: &[],
    text_paths: &["result"],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Milliseconds, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["preToolUse", "PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: EXIT,
                ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Delivery::Silence("the agent's own permissions decide"),
                rewrite: Delivery::Substitute(Effect::Deny, "a hook cannot change an input"),
                halt: Delivery::Substitute(Effect::Deny, "a hook cannot stop the agent"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["postToolUse", "PostToolUse"],
            "PostToolUse",
            EffectSupport {
                replace: Delivery::Dropped("a hook cannot change an output"),
                hide: Delivery::Dropped("a hook cannot change an output"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["userPromptSubmit", "UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport {
                deny: Delivery::Dropped("a hook cannot stop a prompt"),
                context: CONTEXT,
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["agentSpawn", "SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        )
        .derived(&[("source", startup)]),
        AgentEvent::new(
            &["stop", "Stop"],
            "Stop",
            EffectSupport { resume: Delivery::Dropped("a hook cannot keep the agent going"), ..OBSERVE_ONLY },
        ),
    ],
    page: Page {
        file: "`hooks` of an agent's configuration in ~/.kiro/agents",
        entry: r#"{"hooks": {"preToolUse": [{"matcher": "*", "command": "crosier hook kiro", "timeout_ms": 30000}]}}"#,
        on_failure: "Every exit status but 2 lets the tool run.",
        caveats: &[
            "Timeouts are in milliseconds.",
            "Its JSON names no session: context cannot be delivered later, and resumes are not counted.",
        ],
    },
};
