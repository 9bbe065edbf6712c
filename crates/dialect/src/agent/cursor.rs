//! Cursor.
//!
//! From its documentation and a report about version 3.9; not run.

use crosier_protocol::Json;

use crate::json;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Text, Word};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, Move, OutputShape, Page, Proof, TimeUnit,
    Timeout, Tool, Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
/// Sometimes the model gets one of these messages, sometimes the other: the reason is in both.
const DENY: Way =
    Way::Send(&[Key("permission", Word("deny")), Key("user_message", Text), Key("agent_message", Text)]);
const ASK: Way =
    Way::Send(&[Key("permission", Word("ask")), Key("user_message", Text), Key("agent_message", Text)]);
const ALLOW: Way = Way::Send(&[Key("permission", Word("allow"))]);
const CONTEXT: Way = Way::Send(&[Key("additional_context", Text)]);
const NO_INPUT: Way = Way::Becomes(Effect::Deny, "a hook cannot change the input here");
const NO_HALT: Way = Way::Becomes(Effect::Deny, "a hook cannot stop the agent");
const OUTPUT: Way = Way::Lost("a hook cannot change an output");
/// Events that are about one kind of tool only.
const ONE_KIND: EffectSupport =
    EffectSupport { deny: DENY, ask: ASK, allow: ALLOW, rewrite: NO_INPUT, halt: NO_HALT, ..SEEN };
const AFTER: EffectSupport = EffectSupport { replace: OUTPUT, hide: OUTPUT, ..SEEN };

pub(super) static CURSOR: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    signs: &["cursor_version", "conversation_id"],
    proof: Proof::Documentation,
    event_at: &["hook_event_name"],
    fields: &[
        Move::new("conversation_id", "session_id"),
        Move::new("tool_output", "tool_response"),
        Move::new("error_message", "error"),
    ],
    tools: &[
        Tool::new("Shell", "Bash"),
        Tool::new("Read", "Read").fields(&[("path", "file_path"), ("target_file", "file_path")]),
        Tool::new("Write", "Write").fields(&[("path", "file_path"), ("contents", "content")]),
        Tool::new("Task", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Same,
    version_at: "cursor_version",
    project: &[FolderSource::Field("workspace_roots"), FolderSource::Variable("CURSOR_PROJECT_DIR")],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["preToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Way::Becomes(Effect::Deny, "`ask` is not enforced here: let the person run it"),
                allow: ALLOW,
                rewrite: Way::Send(&[Key("permission", Word("allow")), Key("updated_input", Input)]),
                halt: NO_HALT,
                ..SEEN
            },
        ),
        AgentEvent::new(&["beforeShellExecution"], "PreToolUse", ONE_KIND)
            .derived(&[("tool_name", shell), ("tool_input", command)])
            .not_installed(),
        AgentEvent::new(&["beforeMCPExecution"], "PreToolUse", ONE_KIND).not_installed(),
        AgentEvent::new(&["beforeReadFile"], "PreToolUse", ONE_KIND)
            .derived(&[("tool_name", reading), ("tool_input", file)])
            .not_installed(),
        AgentEvent::new(&["postToolUse"], "PostToolUse", EffectSupport { context: CONTEXT, ..AFTER }),
        AgentEvent::new(&["afterShellExecution"], "PostToolUse", AFTER)
            .fields(&[Move::new("output", "tool_response")])
            .derived(&[("tool_name", shell), ("tool_input", command)])
            .not_installed(),
        AgentEvent::new(&["afterMCPExecution"], "PostToolUse", AFTER)
            .fields(&[Move::new("result_json", "tool_response")])
            .not_installed(),
        AgentEvent::new(&["afterFileEdit"], "PostToolUse", AFTER)
            .fields(&[Move::new("edits", "tool_response")])
            .derived(&[("tool_name", editing), ("tool_input", file)])
            .not_installed(),
        AgentEvent::new(&["postToolUseFailure"], "PostToolUseFailure", SEEN),
        AgentEvent::new(
            &["beforeSubmitPrompt"],
            "UserPromptSubmit",
            EffectSupport {
                deny: Way::Send(&[Key("continue", Is(false)), Key("user_message", Text)]),
                halt: Way::Send(&[Key("continue", Is(false)), Key("user_message", Text)]),
                ..SEEN
            },
        ),
        AgentEvent::new(&["sessionStart"], "SessionStart", EffectSupport { context: CONTEXT, ..SEEN }),
        AgentEvent::new(&["sessionEnd"], "SessionEnd", SEEN),
        AgentEvent::new(
            &["stop"],
            "Stop",
            EffectSupport { resume: Way::Send(&[Key("followup_message", Text)]), ..SEEN },
        ),
        AgentEvent::new(
            &["subagentStop"],
            "SubagentStop",
            EffectSupport { resume: Way::Send(&[Key("followup_message", Text)]), ..SEEN },
        )
        .fields(&[Move::new("subagent_type", "agent_type")]),
        AgentEvent::new(&["subagentStart"], "SubagentStart", SEEN)
            .fields(&[Move::new("subagent_type", "agent_type")]),
        AgentEvent::new(
            &["preCompact"],
            "PreCompact",
            EffectSupport {
                deny: Way::Lost("a compaction cannot be stopped"),
                rewrite: Way::Lost("the agent accepts no instructions"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["afterAgentResponse"], "PostMessage", EffectSupport { replace: OUTPUT, ..SEEN })
            .fields(&[Move::new("text", "output")])
            .not_installed(),
        AgentEvent::new(&["afterAgentThought"], "AgentThought", SEEN).not_installed(),
    ],
    page: Page {
        file: "~/.cursor/hooks.json (or .cursor/hooks.json in a project)",
        entry: r#"{"version": 1, "hooks": {"preToolUse": [{"command": "crosier hook cursor", "timeout": 60, "failClosed": true}]}}"#,
        fails: "A missing hook, a hook that times out and every exit status but 2 let the tool run, unless the entry has `failClosed`.",
        traps: &[
            "An unknown event name rejects the whole file.",
            "For one call, both the general event and the event of that kind of tool fire: install only the general ones.",
            "The agent also runs the hooks of `.claude/settings.json`.",
            "On Windows it sends one or two byte order marks before the JSON: Crosier skips them.",
        ],
    },
};

fn shell(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Bash"))
}

fn reading(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Read"))
}

fn editing(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Edit"))
}

fn command(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("command", json::at(sent, "command")?)]))
}

fn file(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("file_path", json::at(sent, "file_path")?)]))
}
