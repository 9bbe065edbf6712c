//! Codex.
//!
//! Seen in the real program, version 0.166.0, headless; its answers fit the schemas that it contains. One extra key
//! makes a hook "Failed" and lets the call proceed, so an answer contains only the keys that it needs.

use super::shape::{BLOCK, BLOCK_ALONE, CONTEXT, DENY, EVENT, HALT, TELL, YES_OR_NO};
use crate::table::Put::Key;
use crate::table::Val::{Input, Output, Word};
use crate::table::{
    Agent, AgentEvent, Effect, Mcp, OutputShape, Page, Parts, Proof, Says, Timeout, Tool, Unit, Way,
};

const SEEN: Says = Says { tell: TELL, ..Says::NOTHING };
const STOPS: Says = Says { resume: BLOCK_ALONE, halt: HALT, ..SEEN };
const COMPACTS: Says = Says { deny: HALT, halt: HALT, ..SEEN };
const OUTPUT: Way = Way::Alone(&[Key("decision", Word("block")), Key("reason", Output)]);

pub(super) static CODEX: Agent = Agent {
    name: "codex",
    title: "Codex",
    signs: &["turn_id"],
    proof: Proof::Run("0.166.0"),
    event_at: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("Bash", "Bash").parts(Parts::Shell("command")),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("command")),
        Tool::new("spawn_agent", "Task")
            .also(&["Agent"])
            .fields(&[("message", "prompt"), ("agent_type", "subagent_type")]),
    ],
    mcp: Mcp::Same,
    version_at: "version",
    // It only names the folder of the event.
    project: &[],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: Unit::Seconds, default_s: 600 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            Says {
                deny: DENY,
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("a bare allow makes the hook fail; Codex's own approval follows"),
                rewrite: Way::Says(&[
                    EVENT,
                    Key("hookSpecificOutput.permissionDecision", Word("allow")),
                    Key("hookSpecificOutput.updatedInput", Input),
                ]),
                context: CONTEXT,
                halt: Way::Becomes(Effect::Deny, "a hook cannot stop a turn before a tool"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["PermissionRequest"], "PermissionRequest", YES_OR_NO),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            Says {
                context: CONTEXT,
                replace: OUTPUT,
                hide: OUTPUT,
                halt: Way::Becomes(Effect::Tell, "a turn cannot be stopped in its middle"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            Says { deny: BLOCK, context: CONTEXT, halt: HALT, ..SEEN },
        ),
        AgentEvent::new(&["SessionStart"], "SessionStart", Says { context: CONTEXT, halt: HALT, ..SEEN }),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", Says::NOTHING),
        AgentEvent::new(&["Stop"], "Stop", STOPS),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", STOPS),
        AgentEvent::new(&["SubagentStart"], "SubagentStart", Says { context: CONTEXT, ..SEEN }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            Says { rewrite: Way::Lost("it takes no instructions"), ..COMPACTS },
        ),
        AgentEvent::new(&["PostCompact"], "PostCompact", COMPACTS),
        AgentEvent::new(&["Interrupt"], "Interrupt", SEEN),
    ],
    page: Page {
        file: "~/.codex/hooks.json (or .codex/hooks.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook codex", "timeout": 60}]}]}}"#,
        fails: "A missing program, a timeout, exit status 1, and 2 with an empty stderr are shown as `hook: … Failed`, and \
                the tool runs.",
        traps: &[
            "`codex exec` silently skips untrusted hooks: run `codex` once and trust them.",
            "An unknown key at the top of hooks.json drops the whole file.",
            "The agent itself does not limit resumes: Crosier allows 8 in a row.",
            "`apply_patch` in a shell command fires PreToolUse as Bash and no PostToolUse; `write_stdin` fires nothing.",
            "SessionEnd gives a hook one second.",
        ],
    },
};
