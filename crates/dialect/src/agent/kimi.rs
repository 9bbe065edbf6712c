//! Kimi CLI.
//!
//! From its sources and documentation (July 2026); not run.

use super::shape::{DENY, EXIT};
use crate::table::Put::Stdout;
use crate::table::Val::Text;
use crate::table::{
    Agent, AgentEvent, Effect, Mcp, Move, OutputShape, Page, Proof, Says, Timeout, Tool, Unit, Way,
};

const SEEN: Says = Says::NOTHING;
const CONTEXT: Way = Way::Says(&[Stdout(Text)]);
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
    timeout: Timeout { unit: Unit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            Says {
                deny: DENY,
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("it decides by itself"),
                rewrite: Way::Becomes(Effect::Deny, "a hook cannot change an input"),
                halt: Way::Becomes(Effect::Deny, "a hook cannot stop it"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            Says {
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["PostToolUseFailure"], "PostToolUseFailure", SEEN),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            Says { deny: EXIT, halt: EXIT, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", Says { context: CONTEXT, ..SEEN }),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", SEEN),
        AgentEvent::new(&["Stop"], "Stop", Says { resume: EXIT, ..SEEN }),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", SEEN),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", Says { resume: EXIT, ..SEEN }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            Says {
                deny: Way::Lost("it is not known to work"),
                rewrite: Way::Lost("it takes no instructions"),
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
        traps: &["Hooks can resume it only once."],
    },
};
