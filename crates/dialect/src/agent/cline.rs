//! Cline CLI.
//!
//! Seen in the real program, version 3.0.65, headless. Its only way to deny ends the whole run without a reason, so a
//! denial replaces the input by a harmless one that states the reason, for tools that have such an input.

use crosier_protocol::Json;

use crate::json;
use crate::read::Call;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Made, Text};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, Move, OutputShape, Page, Parts, Proof,
    TimeUnit, Timeout, Tool, Way,
};

const SEEN: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Way = Way::Send(&[Key("contextModification", Text)]);
const CANCEL: Way = Way::Send(&[Key("cancel", Is(true)), Key("errorMessage", Text)]);
const FILE: &[(&str, &str)] = &[
    ("path", "file_path"),
    ("file_text", "content"),
    ("old_text", "old_string"),
    ("new_text", "new_string"),
    ("old_str", "old_string"),
    ("new_str", "new_string"),
];

pub(super) static CLINE: Agent = Agent {
    name: "cline",
    title: "Cline",
    signs: &["clineVersion"],
    proof: Proof::Run("3.0.65"),
    event_at: &["hookName"],
    fields: &[
        Move::new("sessionContext.rootSessionId", "session_id"),
        Move::new("taskId", "session_id"),
        Move::new("workspaceRoots.0", "cwd"),
    ],
    tools: &[
        Tool::new("run_commands", "Bash").parts(Parts::Each {
            list: "commands",
            inside: "command",
            field: "command",
        }),
        Tool::new("execute_command", "Bash"),
        Tool::new("read_files", "Read").parts(Parts::Each {
            list: "files",
            inside: "path",
            field: "file_path",
        }),
        Tool::new("read_file", "Read").fields(FILE),
        Tool::new("editor", "Edit").also(&["Write"]).fields(FILE),
        Tool::new("write_to_file", "Write").fields(FILE),
        Tool::new("replace_in_file", "Edit").fields(FILE),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("input")),
        Tool::new("search_codebase", "Grep").parts(Parts::Each {
            list: "queries",
            inside: "query",
            field: "pattern",
        }),
        Tool::new("fetch_web_content", "WebFetch").parts(Parts::Each {
            list: "requests",
            inside: "url",
            field: "url",
        }),
    ],
    mcp: Mcp::Marked("", "__"),
    version_at: "clineVersion",
    project: &[FolderSource::Field("workspaceRoots"), FolderSource::Field("workspaceInfo.rootPath")],
    text_at: &[],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Fixed, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["PreToolUse", "tool_call"],
            "PreToolUse",
            EffectSupport {
                deny: Way::Send(&[
                    Key("overrideInput", Made(harmless)),
                    Key("contextModification", Made(said)),
                    Key("cancel", Made(cancel)),
                    Key("errorMessage", Made(cancelled)),
                ]),
                ask: Way::Becomes(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Way::Silence("the agent's own permissions decide"),
                rewrite: Way::Send(&[Key("overrideInput", Input)]),
                context: CONTEXT,
                halt: CANCEL,
                ..SEEN
            },
        )
        .fields(&[
            Move::new("tool_call.name", "tool_name"),
            Move::new("tool_call.input", "tool_input"),
            Move::new("tool_call.id", "tool_use_id"),
            Move::new("preToolUse.toolName", "tool_name"),
            Move::new("preToolUse.parameters", "tool_input"),
        ]),
        AgentEvent::new(
            &["PostToolUse", "tool_result"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: Way::Lost("a hook cannot change an output"),
                hide: Way::Lost("a hook cannot change an output"),
                halt: CANCEL,
                ..SEEN
            },
        )
        .fields(&[
            Move::new("tool_result.name", "tool_name"),
            Move::new("tool_result.input", "tool_input"),
            Move::new("tool_result.output", "tool_response"),
            Move::new("tool_result.id", "tool_use_id"),
            Move::new("postToolUse.toolName", "tool_name"),
            Move::new("postToolUse.parameters", "tool_input"),
            Move::new("postToolUse.result", "tool_response"),
        ]),
        AgentEvent::new(
            &["UserPromptSubmit", "prompt_submit"],
            "UserPromptSubmit",
            EffectSupport { deny: CANCEL, context: CONTEXT, halt: CANCEL, ..SEEN },
        )
        .fields(&[Move::new("userPromptSubmit.prompt", "prompt")]),
        AgentEvent::new(
            &["TaskStart", "agent_start"],
            "SessionStart",
            EffectSupport { context: CONTEXT, halt: CANCEL, ..SEEN },
        )
        .derived(&[("source", startup)]),
        AgentEvent::new(
            &["TaskResume"],
            "SessionStart",
            EffectSupport { context: CONTEXT, halt: CANCEL, ..SEEN },
        )
        .derived(&[("source", resumed)]),
        AgentEvent::new(
            &["TaskComplete", "agent_end"],
            "Stop",
            EffectSupport { resume: Way::Lost("a hook cannot keep the agent going"), ..SEEN },
        )
        .fields(&[Move::new("turn.outputText", "last_assistant_message")]),
        AgentEvent::new(&["TaskCancel"], "SessionEnd", SEEN),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport { deny: CANCEL, rewrite: Way::Lost("the agent accepts no instructions"), ..SEEN },
        ),
    ],
    page: Page {
        file: "an executable like this for each event, named after it, in ~/.cline/hooks (or .cline/hooks or \
               .clinerules/hooks in a project)",
        entry: "#!/bin/sh\nexec crosier hook cline PreToolUse",
        fails: "Exit codes are ignored; a hook that times out lets the tool run.",
        traps: &[
            "A denied command is replaced by one that prints the reason and fails; a denied read or edit is redirected to a \
             file that does not exist; any other denied tool ends the whole run.",
            "A hook cannot show anything to the person: failures are printed on stderr.",
            "Several commands in one call are checked one by one; if one is denied, all are.",
        ],
    },
};

fn startup(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("startup"))
}

fn resumed(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("resume"))
}

/// An input that does nothing but show the reason.
fn harmless(call: Option<&Call>, reason: &str) -> Option<Json> {
    let tool = call?.tool.as_ref()?;
    // The name of a file that does not exist: the model sees it in the error message.
    let plain = |c: char| if c.is_control() || c == '/' { ' ' } else { c };
    let nowhere = format!("/nonexistent/denied: {}", reason.chars().map(plain).take(200).collect::<String>());
    match tool.own_name.as_str() {
        "run_commands" => {
            let quoted = reason.replace('\'', "'\\''");
            let command = format!("printf '%s\\n' 'Denied: {quoted}' >&2; exit 1");
            Some(json::object(&[("commands", json::list(&[Json::from(command)]))]))
        }
        "read_files" => {
            let file = json::object(&[("path", Json::from(nowhere))]);
            Some(json::object(&[("files", json::list(&[file]))]))
        }
        "editor" => {
            let text = Json::from(reason);
            Some(json::object(&[
                ("path", Json::from(nowhere)),
                ("old_text", text.clone()),
                ("new_text", text),
            ]))
        }
        _ => None,
    }
}

fn said(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless(call, reason).map(|_| Json::from(format!("The call was denied: {reason}")))
}

fn cancel(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless(call, reason).is_none().then(|| json::whole("true"))
}

fn cancelled(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless(call, reason).is_none().then(|| Json::from(reason))
}
