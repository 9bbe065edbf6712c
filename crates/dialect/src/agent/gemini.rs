//! Gemini CLI.
//!
//! Seen in the real program, version 0.61.0, headless. It reads stderr as JSON when stdout is empty, so an answer
//! always has an object on stdout.

use crosier_protocol::Json;

use super::replies::{CONTEXT, EVENT, HALT, TELL};
use crate::json;
use crate::read::Call;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Output, Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport { tell: TELL, ..EffectSupport::NOTHING };
const DENY: Delivery = Delivery::Send(&[Key("decision", Word("deny")), Key("reason", Text)]);
const OUTPUT: Delivery = Delivery::SendAlone(&[Key("decision", Word("deny")), Key("reason", Output)]);

pub(super) static GEMINI: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    marker_fields: &["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel"],
    verification: Verification::Run("0.61.0"),
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: TOOLS,
    mcp: Mcp::Fields("mcp_context.server_name", "mcp_context.tool_name"),
    version_path: "version",
    project: &[FolderSource::Variable("GEMINI_PROJECT_DIR"), FolderSource::Variable("CLAUDE_PROJECT_DIR")],
    text_paths: &["llmContent"],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Milliseconds, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["BeforeTool"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Delivery::Substitute(
                    Effect::Deny,
                    "a question would hang if nobody is there to answer: let the person run it",
                ),
                allow: Delivery::Silence("it does not skip Gemini's own policy"),
                rewrite: Delivery::Send(&[EVENT, Key("hookSpecificOutput.tool_input", Input)]),
                halt: Delivery::Send(&[
                    Key("continue", Is(false)),
                    Key("stopReason", Text),
                    Key("decision", Word("deny")),
                    Key("reason", Text),
                ]),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["AfterTool"], "PostToolUseFailure", EffectSupport { halt: HALT, ..OBSERVE_ONLY })
            .when("tool_response.error")
            .fields(&[FieldMapping::new("tool_response.error.message", "error")]),
        AgentEvent::new(
            &["AfterTool"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["BeforeAgent"],
            "UserPromptSubmit",
            EffectSupport { deny: DENY, context: CONTEXT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["AfterAgent"],
            "Stop",
            EffectSupport {
                resume: Delivery::SendAlone(&[Key("decision", Word("deny")), Key("reason", Text)]),
                halt: HALT,
                ..OBSERVE_ONLY
            },
        )
        .fields(&[FieldMapping::new("prompt_response", "last_assistant_message")]),
        AgentEvent::new(
            &["BeforeModel"],
            "PreMessage",
            EffectSupport {
                deny: DENY,
                rewrite: Delivery::Send(&[EVENT, Key("hookSpecificOutput.llm_request.messages", Input)]),
                halt: HALT,
                ..OBSERVE_ONLY
            },
        )
        .fields(&[FieldMapping::new("llm_request.model", "model")])
        .derived(&[("prompt", last_prompt)])
        .restore(messages),
        AgentEvent::new(
            &["AfterModel"],
            "PostMessage",
            EffectSupport {
                replace: Delivery::Send(&[EVENT, Key("hookSpecificOutput.llm_response.candidates", Output)]),
                halt: HALT,
                ..OBSERVE_ONLY
            },
        )
        .fields(&[
            FieldMapping::new("llm_response.text", "output"),
            FieldMapping::new("llm_request.model", "model"),
        ])
        .restore(candidates),
        AgentEvent::new(&["BeforeToolSelection"], "BeforeToolSelection", OBSERVE_ONLY).not_installed(),
        // It fires before every model call, whether or not there is a compaction.
        AgentEvent::new(&["PreCompress"], "PreCompress", OBSERVE_ONLY).not_installed(),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", OBSERVE_ONLY),
        AgentEvent::new(&["Notification"], "Notification", OBSERVE_ONLY),
    ],
    page: Page {
        file: "~/.gemini/settings.json (or .gemini/settings.json in a project)",
        entry: r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "crosier hook gemini BeforeTool", "timeout": 60000}]}]}}"#,
        on_failure: "A hook that times out, a missing program and exit status 2 with an empty stderr let the tool run; an exit \
                status of 2 or more with a text on stderr denies.",
        caveats: &[
            "Timeouts are in milliseconds.",
            "Name the event in the command: the form of a denial depends on the event, and an unreadable event must be denied too.",
            "A project's hooks need a trusted folder; with `--skip-trust` they are silently not loaded. The user's hooks \
             are.",
            "`hooksConfig.disabled` silently switches off all hooks.",
            "The agent itself does not limit resumes: Crosier allows 8 in a row.",
            "A rewritten prompt is not kept: the hook is asked again at every request.",
            "A rewritten answer of the model loses the tool calls of that chunk.",
            "PreCompress fires before every model call, unlike PreCompact.",
        ],
    },
};

/// The tools of Gemini CLI and of its forks.
pub(super) const TOOLS: &[Tool] = &[
    Tool::new("run_shell_command", "Bash"),
    Tool::new("read_file", "Read").fields(&[("absolute_path", "file_path")]),
    Tool::new("write_file", "Write"),
    Tool::new("replace", "Edit"),
    Tool::new("glob", "Glob").fields(&[("dir_path", "path")]),
    Tool::new("grep_search", "Grep").fields(&[("dir_path", "path")]),
    Tool::new("search_file_content", "Grep").fields(&[("dir_path", "path")]),
    Tool::new("list_directory", "LS").fields(&[("dir_path", "path")]),
    Tool::new("web_fetch", "WebFetch"),
    Tool::new("google_web_search", "WebSearch"),
    Tool::new("write_todos", "TodoWrite"),
    Tool::new("invoke_agent", "Task").also(&["Agent"]).fields(&[("agent_name", "subagent_type")]),
];

/// The person's last message. The first message starts with the context of the session.
fn last_prompt(call: &[(String, Json)]) -> Option<Json> {
    let messages = json::elements(&json::at(call, "llm_request.messages")?)?;
    let is_user = |message: &&Json| message.get("role").is_some_and(|role| role.plain() == "user");
    messages.iter().rev().find(is_user)?.get("content")
}

/// The whole list of messages, with the last prompt replaced.
fn messages(call: &Call, prompt: &Json) -> Result<Json, String> {
    let list = call.sent("llm_request.messages").and_then(|list| json::elements(&list));
    let mut list = list.ok_or("the request has no messages")?;
    let is_user = |message: &Json| message.get("role").is_some_and(|role| role.plain() == "user");
    let place = list.iter().rposition(is_user).ok_or("the request has no message of the person")?;
    let mut members = list.get(place).and_then(Json::entries).unwrap_or_default();
    if let Some((_, content)) = members.iter_mut().find(|(name, _)| name == "content") {
        *content = prompt.clone();
    }
    if let Some(message) = list.get_mut(place) {
        *message = json::object(&members);
    }
    Ok(json::list(&list))
}

/// The model's answer with its text replaced.
fn candidates(call: &Call, output: &Json) -> Result<Json, String> {
    let reason = call.sent("llm_response.candidates.0.finishReason").unwrap_or_default();
    let parts = json::list(std::slice::from_ref(output));
    let content = json::object(&[("role", Json::from("model")), ("parts", parts)]);
    let mut candidate = vec![("content", content)];
    if !reason.is_null() {
        candidate.push(("finishReason", reason));
    }
    candidate.push(("index", json::whole("0")));
    Ok(json::list(&[json::object(&candidate)]))
}
