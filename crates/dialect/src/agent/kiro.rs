//! Kiro CLI, formerly Amazon Q.
//!
//! From its documentation; not run. It takes an exit status, and plain text as context.

use crosier_protocol::Json;

use super::shape::EXIT;
use crate::table::AnswerPart::Stdout;
use crate::table::AnswerValue::Text;
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, Mcp, OutputShape, Page, Proof, TimeUnit, Timeout, Tool, Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Way = Way::Send(&[Stdout(Text)]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static KIRO: Agent = Agent {
    name: "kiro",
    title: "Kiro CLI",
    signs: &["agentSpawn"],
    proof: Proof::Documentation,
    event_at: &["hook_event_name"],
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
    version_at: "version",
    project: &[],
    text_at: &["result"],
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
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("the agent's own permissions decide"),
                rewrite: Way::Becomes(Effect::Deny, "a hook cannot change an input"),
                halt: Way::Becomes(Effect::Deny, "a hook cannot stop the agent"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["postToolUse", "PostToolUse"],
            "PostToolUse",
            EffectSupport {
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["userPromptSubmit", "UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: Way::Lost("a hook cannot stop a prompt"), context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["agentSpawn", "SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..SEEN },
        )
        .derived(&[("source", startup)]),
        AgentEvent::new(
            &["stop", "Stop"],
            "Stop",
            EffectSupport { resume: Way::Lost("a hook cannot keep the agent going"), ..SEEN },
        ),
    ],
    page: Page {
        file: "`hooks` of an agent's configuration in ~/.kiro/agents",
        entry: r#"{"hooks": {"preToolUse": [{"matcher": "*", "command": "crosier hook kiro", "timeout_ms": 30000}]}}"#,
        fails: "Every exit status but 2 lets the tool run.",
        traps: &[
            "Timeouts are in milliseconds.",
            "Its JSON names no session: context cannot be delivered later, and resumes are not counted.",
        ],
    },
};

fn startup(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("startup"))
}
