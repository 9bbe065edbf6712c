//! Cursor.
//!
//! From its documentation and a report about version 3.9; not run.

use crosier_protocol::Json;

use super::derived::{bash_tool, edit_tool, read_tool};
use crate::json;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
/// Sometimes the model gets one of these messages, sometimes the other: the reason is in both.
const DENY: Delivery =
    Delivery::Send(&[Key("permission", Word("deny")), Key("user_message", Text), Key("agent_message", Text)]);
const ASK: Delivery =
    Delivery::Send(&[Key("permission", Word("ask")), Key("user_message", Text), Key("agent_message", Text)]);
const ALLOW: Delivery = Delivery::Send(&[Key("permission", Word("allow"))]);
const CONTEXT: Delivery = Delivery::Send(&[Key("additional_context", Text)]);
const NO_INPUT: Delivery = Delivery::Substitute(Effect::Deny, "a hook cannot change the input here");
const NO_HALT: Delivery = Delivery::Substitute(Effect::Deny, "a hook cannot stop the agent");
const OUTPUT: Delivery = Delivery::Dropped("a hook cannot change an output");
/// Events that are about one kind of tool only.
const ONE_KIND: EffectSupport =
    EffectSupport { deny: DENY, ask: ASK, allow: ALLOW, rewrite: NO_INPUT, halt: NO_HALT, ..OBSERVE_ONLY };
const AFTER: EffectSupport = EffectSupport { replace: OUTPUT, hide: OUTPUT, ..OBSERVE_ONLY };

pub(super) static CURSOR: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    marker_fields: &["cursor_version", "conversation_id"],
    verification: Verification::Documentation,
    event_paths: &["hook_event_name"],
    fields: &[
        FieldMapping::new("conversation_id", "session_id"),
        FieldMapping::new("tool_output", "tool_response"),
        FieldMapping::new("error_message", "error"),
    ],
    tools: &[
        Tool::new("Shell", "Bash"),
        Tool::new("Read", "Read").fields(&[("path", "file_path"), ("target_file", "file_path")]),
        Tool::new("Write", "Write").fields(&[("path", "file_path"), ("contents", "content")]),
        Tool::new("Task", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Same,
    version_path: "cursor_version",
    project: &[FolderSource::Field("workspace_roots"), FolderSource::Variable("CURSOR_PROJECT_DIR")],
    text_paths: &[],
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
                ask: Delivery::Substitute(Effect::Deny, "`ask` is not enforced here: let the person run it"),
                allow: ALLOW,
                rewrite: Delivery::Send(&[Key("permission", Word("allow")), Key("updated_input", Input)]),
                halt: NO_HALT,
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["beforeShellExecution"], "PreToolUse", ONE_KIND)
            .derived(&[("tool_name", bash_tool), ("tool_input", command)])
            .not_installed(),
        AgentEvent::new(&["beforeMCPExecution"], "PreToolUse", ONE_KIND).not_installed(),
        AgentEvent::new(&["beforeReadFile"], "PreToolUse", ONE_KIND)
            .derived(&[("tool_name", read_tool), ("tool_input", file)])
            .not_installed(),
        AgentEvent::new(&["postToolUse"], "PostToolUse", EffectSupport { context: CONTEXT, ..AFTER }),
        AgentEvent::new(&["afterShellExecution"], "PostToolUse", AFTER)
            .fields(&[FieldMapping::new("output", "tool_response")])
            .derived(&[("tool_name", bash_tool), ("tool_input", command)])
            .not_installed(),
        AgentEvent::new(&["afterMCPExecution"], "PostToolUse", AFTER)
            .fields(&[FieldMapping::new("result_json", "tool_response")])
            .not_installed(),
        AgentEvent::new(&["afterFileEdit"], "PostToolUse", AFTER)
            .fields(&[FieldMapping::new("edits", "tool_response")])
            .derived(&[("tool_name", edit_tool), ("tool_input", file)])
            .not_installed(),
        AgentEvent::new(&["postToolUseFailure"], "PostToolUseFailure", OBSERVE_ONLY),
        AgentEvent::new(
            &["beforeSubmitPrompt"],
            "UserPromptSubmit",
            EffectSupport {
                deny: Delivery::Send(&[Key("continue", Is(false)), Key("user_message", Text)]),
                halt: Delivery::Send(&[Key("continue", Is(false)), Key("user_message", Text)]),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["sessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["sessionEnd"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(
            &["stop"],
            "Stop",
            EffectSupport { resume: Delivery::Send(&[Key("followup_message", Text)]), ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["subagentStop"],
            "SubagentStop",
            EffectSupport { resume: Delivery::Send(&[Key("followup_message", Text)]), ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("subagent_type", "agent_type")]),
        AgentEvent::new(&["subagentStart"], "SubagentStart", OBSERVE_ONLY)
            .fields(&[FieldMapping::new("subagent_type", "agent_type")]),
        AgentEvent::new(
            &["preCompact"],
            "PreCompact",
            EffectSupport {
                deny: Delivery::Dropped("a compaction cannot be stopped"),
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["afterAgentResponse"],
            "PostMessage",
            EffectSupport { replace: OUTPUT, ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("text", "output")])
        .not_installed(),
        AgentEvent::new(&["afterAgentThought"], "AgentThought", OBSERVE_ONLY).not_installed(),
    ],
    page: Page {
        file: "~/.cursor/hooks.json (or .cursor/hooks.json in a project)",
        entry: r#"{"version": 1, "hooks": {"preToolUse": [{"command": "crosier hook cursor", "timeout": 60, "failClosed": true}]}}"#,
        on_failure: "A missing hook, a hook that times out and every exit status but 2 let the tool run, unless the entry has `failClosed`.",
        caveats: &[
            "An unknown event name rejects the whole file.",
            "For one call, both the general event and the event of that kind of tool fire: install only the general ones.",
            "The agent also runs the hooks of `.claude/settings.json`.",
            "On Windows it sends one or two byte order marks before the JSON: Crosier skips them.",
        ],
    },
};

fn command(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("command", json::at(sent, "command")?)]))
}

fn file(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("file_path", json::at(sent, "file_path")?)]))
}
