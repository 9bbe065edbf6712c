//! Kimi CLI.
//!
//! From its sources and documentation (July 2026); not run.

use super::replies::{DENY, EXIT};
use crate::table::AnswerPart::Stdout;
use crate::table::AnswerValue::Text;
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, Mcp, OutputShape, Page, TimeUnit,
    Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Delivery = Delivery::Send(&[Stdout(Text)]);
const FILE: &[(&str, &str)] = &[("path", "file_path")];

pub(super) static KIMI: Agent = Agent {
    name: "kimi",
    title: "Kimi CLI",
    marker_fields: &["kimi_version"],
    verification: Verification::Source,
    event_paths: &["hook_event_name"],
    fields: &[
        FieldMapping::new("tool_output", "tool_response"),
        FieldMapping::new("tool_call_id", "tool_use_id"),
    ],
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
    version_path: "version",
    project: &[],
    text_paths: &[],
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
                ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Delivery::Silence("the agent's own permissions decide"),
                rewrite: Delivery::Substitute(Effect::Deny, "a hook cannot change an input"),
                halt: Delivery::Substitute(Effect::Deny, "a hook cannot stop the agent"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
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
            EffectSupport { deny: EXIT, halt: EXIT, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(&["Stop"], "Stop", EffectSupport { resume: EXIT, ..OBSERVE_ONLY }),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", OBSERVE_ONLY),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", EffectSupport { resume: EXIT, ..OBSERVE_ONLY }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Delivery::Dropped("it is not known whether this works"),
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["PostCompact"], "PostCompact", OBSERVE_ONLY),
        AgentEvent::new(&["Notification"], "Notification", OBSERVE_ONLY),
        AgentEvent::new(&["StopFailure"], "StopFailure", OBSERVE_ONLY),
    ],
    page: Page {
        file: "~/.kimi/config.toml",
        entry: "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"crosier hook kimi\"\ntimeout = 30",
        on_failure: "A hook that times out and every exit status but 2 let the tool run.",
        caveats: &["Hooks can keep the agent going only once."],
    },
};
