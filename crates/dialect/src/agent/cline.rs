//! Cline CLI.
//!
//! Seen in the real program, version 3.0.65, headless. Its only way to deny ends the whole run without a reason, so a
//! denial replaces the input by a harmless one that states the reason, for tools that have such an input.

use crosier_protocol::Json;

use super::derived::{resume, startup};
use crate::json;
use crate::read::Call;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Made, Text};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    Parts, TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport::NOTHING;
const CONTEXT: Delivery = Delivery::Send(&[Key("contextModification", Text)]);
const CANCEL: Delivery = Delivery::Send(&[Key("cancel", Is(true)), Key("errorMessage", Text)]);
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
    marker_fields: &["clineVersion"],
    verification: Verification::Run("3.0.65"),
    event_paths: &["hookName"],
    fields: &[
        FieldMapping::new("sessionContext.rootSessionId", "session_id"),
        FieldMapping::new("taskId", "session_id"),
        FieldMapping::new("workspaceRoots.0", "cwd"),
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
    version_path: "clineVersion",
    project: &[FolderSource::Field("workspaceRoots"), FolderSource::Field("workspaceInfo.rootPath")],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Fixed, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["PreToolUse", "tool_call"],
            "PreToolUse",
            EffectSupport {
                deny: Delivery::Send(&[
                    Key("overrideInput", Made(harmless_input)),
                    Key("contextModification", Made(denial_context)),
                    Key("cancel", Made(cancel_flag)),
                    Key("errorMessage", Made(cancel_message)),
                ]),
                ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
                allow: Delivery::Silence("the agent's own permissions decide"),
                rewrite: Delivery::Send(&[Key("overrideInput", Input)]),
                context: CONTEXT,
                halt: CANCEL,
                ..OBSERVE_ONLY
            },
        )
        .fields(&[
            FieldMapping::new("tool_call.name", "tool_name"),
            FieldMapping::new("tool_call.input", "tool_input"),
            FieldMapping::new("tool_call.id", "tool_use_id"),
            FieldMapping::new("preToolUse.toolName", "tool_name"),
            FieldMapping::new("preToolUse.parameters", "tool_input"),
        ]),
        AgentEvent::new(
            &["PostToolUse", "tool_result"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: Delivery::Dropped("a hook cannot change an output"),
                hide: Delivery::Dropped("a hook cannot change an output"),
                halt: CANCEL,
                ..OBSERVE_ONLY
            },
        )
        .fields(&[
            FieldMapping::new("tool_result.name", "tool_name"),
            FieldMapping::new("tool_result.input", "tool_input"),
            FieldMapping::new("tool_result.output", "tool_response"),
            FieldMapping::new("tool_result.id", "tool_use_id"),
            FieldMapping::new("postToolUse.toolName", "tool_name"),
            FieldMapping::new("postToolUse.parameters", "tool_input"),
            FieldMapping::new("postToolUse.result", "tool_response"),
        ]),
        AgentEvent::new(
            &["UserPromptSubmit", "prompt_submit"],
            "UserPromptSubmit",
            EffectSupport { deny: CANCEL, context: CONTEXT, halt: CANCEL, ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("userPromptSubmit.prompt", "prompt")]),
        AgentEvent::new(
            &["TaskStart", "agent_start"],
            "SessionStart",
            EffectSupport { context: CONTEXT, halt: CANCEL, ..OBSERVE_ONLY },
        )
        .derived(&[("source", startup)]),
        AgentEvent::new(
            &["TaskResume"],
            "SessionStart",
            EffectSupport { context: CONTEXT, halt: CANCEL, ..OBSERVE_ONLY },
        )
        .derived(&[("source", resume)]),
        AgentEvent::new(
            &["TaskComplete", "agent_end"],
            "Stop",
            EffectSupport { resume: Delivery::Dropped("a hook cannot keep the agent going"), ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("turn.outputText", "last_assistant_message")]),
        AgentEvent::new(&["TaskCancel"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: CANCEL,
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..OBSERVE_ONLY
            },
        ),
    ],
    page: Page {
        file: "an executable like this for each event, named after it, in ~/.cline/hooks (or .cline/hooks or \
               .clinerules/hooks in a project)",
        entry: "#!/bin/sh\nexec crosier hook cline PreToolUse",
        on_failure: "Exit codes are ignored; a hook that times out lets the tool run.",
        caveats: &[
            "A denied command is replaced by one that prints the reason and fails; a denied read or edit is redirected to a \
             file that does not exist; any other denied tool ends the whole run.",
            "A hook cannot show anything to the person: failures are printed on stderr.",
            "Several commands in one call are checked one by one; if one is denied, all are.",
        ],
    },
};

/// An input that does nothing but show the reason.
fn harmless_input(call: Option<&Call>, reason: &str) -> Option<Json> {
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

fn denial_context(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless_input(call, reason).map(|_| Json::from(format!("The call was denied: {reason}")))
}

fn cancel_flag(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless_input(call, reason).is_none().then(|| json::whole("true"))
}

fn cancel_message(call: Option<&Call>, reason: &str) -> Option<Json> {
    harmless_input(call, reason).is_none().then(|| Json::from(reason))
}
