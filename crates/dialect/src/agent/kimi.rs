//! Kimi CLI.
//!
//! From its sources and documentation (July 2026); not run.

use super::shape::{DENY, EXIT};
use crate::table::AnswerPart::Stdout;
use crate::table::AnswerValue::Text;
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, Mcp, Move, OutputShape, Page, Proof, TimeUnit, Timeout, Tool,
    Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Way = Way::Send(&[Stdout(Text)]);
const FILE: &[(&str, &str)] = &[("path", "file_path")];

pub(super) static KIMI: Agent = Agent {
    name: "kimi",
    title: "Kimi CLI",
    signs: &["kimi_version"],
    proof: Proof::Source,
    event_at: &["hook_event_name"],
    fields: &[Move::new("tool_output", "tool_response"), Move::new("tool_call_id", "tool_use_id")],
    tools: &[
        Tool::new("Shell", "Bash"),
        Tool::new("ReadFile", "Read").fields(FILE),
        Tool::new("WriteFile", "Write").fields(FILE),
        Tool::new("StrReplaceFile", "Edit").fields(FILE),
        Tool::new("FetchURL", "WebFetch"),
        Tool::new("SearchWeb", "WebSearch"),
        Tool::new("Task", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Same,
    version_at: "version",
    project: &[],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "",
    // It lets a hook resume it once.
    resumes: Some(1),
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("the agent's own permissions decide"),
                rewrite: Way::Becomes(Effect::Deny, "a hook cannot change an input"),
                halt: Way::Becomes(Effect::Deny, "a hook cannot stop the agent"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
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
            EffectSupport { deny: EXIT, halt: EXIT, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", EffectSupport { context: CONTEXT, ..SEEN }),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", SEEN),
        AgentEvent::new(&["Stop"], "Stop", EffectSupport { resume: EXIT, ..SEEN }),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", SEEN),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", EffectSupport { resume: EXIT, ..SEEN }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Way::Lost("it is not known whether this works"),
                rewrite: Way::Lost("the agent accepts no instructions"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["PostCompact"], "PostCompact", SEEN),
        AgentEvent::new(&["Notification"], "Notification", SEEN),
        AgentEvent::new(&["StopFailure"], "StopFailure", SEEN),
    ],
    page: Page {
        file: "~/.kimi/config.toml",
        entry: "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"crosier hook kimi\"\ntimeout = 30",
        fails: "A hook that times out and every exit status but 2 let the tool run.",
        traps: &["Hooks can keep the agent going only once."],
    },
};
