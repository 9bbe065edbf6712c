//! Windsurf (Cascade).
//!
//! From its documentation; not run. It takes nothing but an exit status.

use crosier_protocol::Json;

use super::derived::{bash_tool, edit_tool, read_tool};
use super::replies::EXIT;
use crate::json;
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, Mcp, OutputShape, Page, TimeUnit,
    Timeout, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const BEFORE: EffectSupport = EffectSupport {
    deny: EXIT,
    ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
    allow: Delivery::Silence("the agent's own permissions decide"),
    rewrite: Delivery::Substitute(Effect::Deny, "a hook cannot change an input"),
    halt: EXIT,
    ..OBSERVE_ONLY
};
const AFTER: EffectSupport = EffectSupport {
    replace: Delivery::Dropped("a hook cannot change an output"),
    hide: Delivery::Dropped("a hook cannot change an output"),
    ..OBSERVE_ONLY
};
const RESPONSE: &[FieldMapping] = &[FieldMapping::new("tool_info.response", "tool_response")];

pub(super) static WINDSURF: Agent = Agent {
    name: "windsurf",
    title: "Windsurf",
    marker_fields: &["agent_action_name"],
    verification: Verification::Documentation,
    event_paths: &["agent_action_name"],
    fields: &[FieldMapping::new("trajectory_id", "session_id"), FieldMapping::new("tool_info.cwd", "cwd")],
    tools: &[],
    mcp: Mcp::Same,
    version_path: "version",
    project: &[],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Fixed, default_s: 60 },
    events: &[
        AgentEvent::new(&["pre_run_command"], "PreToolUse", BEFORE)
            .derived(&[("tool_name", bash_tool), ("tool_input", command)]),
        AgentEvent::new(&["pre_write_code"], "PreToolUse", BEFORE)
            .derived(&[("tool_name", edit_tool), ("tool_input", edit)]),
        AgentEvent::new(&["pre_read_code"], "PreToolUse", BEFORE)
            .derived(&[("tool_name", read_tool), ("tool_input", file)]),
        AgentEvent::new(&["pre_mcp_tool_use"], "PreToolUse", BEFORE)
            .fields(&[FieldMapping::new("tool_info.mcp_tool_arguments", "tool_input")])
            .derived(&[("tool_name", mcp)]),
        AgentEvent::new(&["post_run_command"], "PostToolUse", AFTER)
            .fields(RESPONSE)
            .derived(&[("tool_name", bash_tool), ("tool_input", command)]),
        AgentEvent::new(&["post_write_code"], "PostToolUse", AFTER)
            .fields(RESPONSE)
            .derived(&[("tool_name", edit_tool), ("tool_input", edit)]),
        AgentEvent::new(&["post_read_code"], "PostToolUse", AFTER)
            .fields(RESPONSE)
            .derived(&[("tool_name", read_tool), ("tool_input", file)]),
        AgentEvent::new(&["post_mcp_tool_use"], "PostToolUse", AFTER)
            .fields(&[
                FieldMapping::new("tool_info.mcp_tool_arguments", "tool_input"),
                FieldMapping::new("tool_info.mcp_result", "tool_response"),
            ])
            .derived(&[("tool_name", mcp)]),
        AgentEvent::new(
            &["pre_user_prompt"],
            "UserPromptSubmit",
            EffectSupport { deny: EXIT, halt: EXIT, ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("tool_info.user_prompt", "prompt")]),
        AgentEvent::new(
            &["post_cascade_response"],
            "Stop",
            EffectSupport { resume: Delivery::Dropped("a hook cannot keep the agent going"), ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("tool_info.response", "last_assistant_message")]),
    ],
    page: Page {
        file: "~/.codeium/windsurf/hooks.json (or .windsurf/hooks.json in a project)",
        entry: r#"{"hooks": {"pre_run_command": [{"command": "crosier hook windsurf", "show_output": true}]}}"#,
        on_failure: "Every exit status but 2 lets the tool run.",
        caveats: &["A hook can only deny. It cannot add context, or change an input or an output."],
    },
};

fn command(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("command", json::at(sent, "tool_info.command_line")?)]))
}

fn file(sent: &[(String, Json)]) -> Option<Json> {
    Some(json::object(&[("file_path", json::at(sent, "tool_info.file_path")?)]))
}

/// All edits of a file as one, so that guards see every text.
fn edit(sent: &[(String, Json)]) -> Option<Json> {
    let edits =
        json::at(sent, "tool_info.edits").and_then(|edits| json::elements(&edits)).unwrap_or_default();
    let texts = |name: &str| {
        let texts: Vec<String> =
            edits.iter().filter_map(|edit| Some(edit.get(name)?.as_str()?.into_owned())).collect();
        Json::from(texts.join("\n"))
    };
    Some(json::object(&[
        ("file_path", json::at(sent, "tool_info.file_path")?),
        ("old_string", texts("old_string")),
        ("new_string", texts("new_string")),
    ]))
}

fn mcp(sent: &[(String, Json)]) -> Option<Json> {
    let server = json::text(sent, "tool_info.mcp_server_name")?;
    let tool = json::text(sent, "tool_info.mcp_tool_name")?;
    Some(Json::from(format!("mcp__{server}__{tool}")))
}
