//! Codex.
//!
//! Seen in the real program, version 0.166.0, headless; its answers fit the schemas that it contains. One extra key
//! makes a hook "Failed" and lets the call proceed, so an answer contains only the keys that it needs.

use super::replies::{BLOCK, BLOCK_ALONE, CONTEXT, DENY, EVENT, HALT, TELL, YES_OR_NO};
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Output, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, Mcp, OutputShape, Page, Parts, TimeUnit, Timeout,
    Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport { tell: TELL, ..EffectSupport::NOTHING };
const STOPS: EffectSupport = EffectSupport { resume: BLOCK_ALONE, halt: HALT, ..OBSERVE_ONLY };
const COMPACTS: EffectSupport = EffectSupport { deny: HALT, halt: HALT, ..OBSERVE_ONLY };
const OUTPUT: Delivery = Delivery::SendAlone(&[Key("decision", Word("block")), Key("reason", Output)]);

pub(super) static CODEX: Agent = Agent {
    name: "codex",
    title: "Codex",
    marker_fields: &["turn_id"],
    verification: Verification::Run("0.166.0"),
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("Bash", "Bash").parts(Parts::Shell("command")),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("command")),
        Tool::new("spawn_agent", "Task")
            .also(&["Agent"])
            .fields(&[("message", "prompt"), ("agent_type", "subagent_type")]),
    ],
    mcp: Mcp::Same,
    version_path: "version",
    // It only names the folder of the event.
    project: &[],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 600 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Delivery::Silence("Codex rejects a reply that only allows; its own approval decides"),
                rewrite: Delivery::Send(&[
                    EVENT,
                    Key("hookSpecificOutput.permissionDecision", Word("allow")),
                    Key("hookSpecificOutput.updatedInput", Input),
                ]),
                context: CONTEXT,
                halt: Delivery::Substitute(Effect::Deny, "a hook cannot stop a turn before a tool"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["PermissionRequest"], "PermissionRequest", YES_OR_NO),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: OUTPUT,
                hide: OUTPUT,
                halt: Delivery::Substitute(Effect::Tell, "a turn cannot be stopped midway"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(&["Stop"], "Stop", STOPS),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", STOPS),
        AgentEvent::new(
            &["SubagentStart"],
            "SubagentStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport { rewrite: Delivery::Dropped("the agent accepts no instructions"), ..COMPACTS },
        ),
        AgentEvent::new(&["PostCompact"], "PostCompact", COMPACTS),
        AgentEvent::new(&["Interrupt"], "Interrupt", OBSERVE_ONLY),
    ],
    page: Page {
        file: "~/.codex/hooks.json (or .codex/hooks.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook codex --deadline 55", "timeout": 60}]}]}}"#,
        on_failure: "A missing program, a timeout, exit status 1, and 2 with an empty stderr are shown as `hook: … Failed`, and \
                the tool runs.",
        caveats: &[
            "`codex exec` silently skips untrusted hooks: run `codex` once and trust them.",
            "An unknown key at the top of hooks.json drops the whole file.",
            "The agent itself does not limit resumes: Crosier allows 8 in a row.",
            "`apply_patch` in a shell command fires PreToolUse as Bash and no PostToolUse; `write_stdin` fires nothing.",
            "SessionEnd gives a hook one second.",
        ],
    },
};
