//! GitHub Copilot CLI.
//!
//! Seen in the real program, version 1.0.102, headless. Its events have two spellings; flat keys work in both. An
//! event in camelCase does not name itself: the hook's command line does.

use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Output, Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    Parts, TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport =
    EffectSupport { halt: Delivery::Dropped("a hook cannot stop the agent"), ..EffectSupport::NOTHING };
const CONTEXT: Delivery = Delivery::Send(&[Key("additionalContext", Text)]);
const BLOCK: Delivery = Delivery::Send(&[Key("decision", Word("block")), Key("reason", Text)]);
const OUTPUT: Delivery = Delivery::Send(&[
    Key("modifiedResult.resultType", Word("success")),
    Key("modifiedResult.textResultForLlm", Output),
]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static COPILOT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    marker_fields: &["toolArgs", "tool_result", "toolResult", "sessionId"],
    verification: Verification::Run("1.0.102"),
    event_paths: &["hook_event_name", "hookName"],
    fields: &[
        FieldMapping::new("sessionId", "session_id"),
        FieldMapping::new("transcriptPath", "transcript_path"),
        FieldMapping::new("toolName", "tool_name"),
        FieldMapping::new("toolArgs", "tool_input"),
        FieldMapping::new("toolInput", "tool_input"),
        FieldMapping::new("toolResult.textResultForLlm", "tool_response"),
        FieldMapping::new("tool_result.text_result_for_llm", "tool_response"),
        FieldMapping::new("agentId", "agent_id"),
        FieldMapping::new("agentType", "agent_type"),
        FieldMapping::new("permissionSuggestions", "permission_suggestions"),
        FieldMapping::new("source", "source").values(&[("new", "startup")]),
    ],
    tools: &[
        Tool::new("bash", "Bash"),
        Tool::new("powershell", "Bash"),
        Tool::new("view", "Read").fields(FILE),
        Tool::new("Read", "Read").fields(FILE),
        Tool::new("create", "Write").fields(FILE),
        Tool::new("Write", "Write").fields(FILE),
        Tool::new("edit", "Edit").fields(FILE),
        Tool::new("Edit", "Edit").fields(FILE),
        Tool::new("str_replace_editor", "Edit").also(&["Write"]).fields(FILE),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("input")),
        Tool::new("grep", "Grep"),
        Tool::new("rg", "Grep"),
        Tool::new("glob", "Glob"),
        Tool::new("web_fetch", "WebFetch"),
        Tool::new("web_search", "WebSearch"),
        Tool::new("task", "Task").also(&["Agent"]).fields(&[("agent_type", "subagent_type")]),
        Tool::new("Agent", "Task").fields(&[("agent_type", "subagent_type")]),
    ],
    mcp: Mcp::Marked("", "-"),
    version_path: "version",
    project: &[FolderSource::Variable("CLAUDE_PROJECT_DIR")],
    text_paths: &["text_result_for_llm", "textResultForLlm"],
    output: OutputShape::Text,
    nothing: "",
    resumes: Some(8),
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["preToolUse", "PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: Delivery::Send(&[
                    Key("permissionDecision", Word("deny")),
                    Key("permissionDecisionReason", Text),
                ]),
                ask: Delivery::Send(&[
                    Key("permissionDecision", Word("ask")),
                    Key("permissionDecisionReason", Text),
                ]),
                allow: Delivery::Send(&[Key("permissionDecision", Word("allow"))]),
                rewrite: Delivery::Send(&[Key("modifiedArgs", Input)]),
                context: CONTEXT,
                halt: Delivery::Substitute(Effect::Deny, "a hook cannot stop the agent"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["permissionRequest", "PermissionRequest"],
            "PermissionRequest",
            EffectSupport {
                deny: Delivery::Send(&[Key("behavior", Word("deny")), Key("message", Text)]),
                allow: Delivery::Send(&[Key("behavior", Word("allow"))]),
                rewrite: Delivery::Substitute(Effect::Deny, "the reply cannot change the input"),
                permissions: Delivery::Dropped("the reply cannot change permissions"),
                halt: Delivery::Send(&[
                    Key("behavior", Word("deny")),
                    Key("message", Text),
                    Key("interrupt", Is(true)),
                ]),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["postToolUse", "PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["postToolUseFailure", "PostToolUseFailure"],
            "PostToolUseFailure",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["userPromptSubmitted", "UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["userPromptTransformed"], "UserPromptTransformed", OBSERVE_ONLY).not_installed(),
        AgentEvent::new(
            &["sessionStart", "SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["sessionEnd", "SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(&["agentStop", "Stop"], "Stop", EffectSupport { resume: BLOCK, ..OBSERVE_ONLY }),
        AgentEvent::new(
            &["subagentStop", "SubagentStop"],
            "SubagentStop",
            EffectSupport { resume: BLOCK, ..OBSERVE_ONLY },
        )
        .fields(&[FieldMapping::new("response", "last_assistant_message")]),
        AgentEvent::new(
            &["subagentStart", "SubagentStart"],
            "SubagentStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["preCompact", "PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Delivery::Dropped("a compaction cannot be stopped"),
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["notification", "Notification"], "Notification", OBSERVE_ONLY),
        AgentEvent::new(&["errorOccurred", "ErrorOccurred"], "ErrorOccurred", OBSERVE_ONLY),
    ],
    page: Page {
        file: "~/.copilot/hooks/crosier.json (or .github/hooks/crosier.json in a repository)",
        entry: r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "crosier hook copilot preToolUse", "timeoutSec": 30}]}}"#,
        on_failure: "At preToolUse every exit status but 0 denies, without the reason; output that is not JSON, and a hook that \
                times out, let the tool run.",
        caveats: &[
            "The JSON of camelCase events does not name the event: name it in the command.",
            "With `-p` but without `--trust-folder`, a repository's hooks are silently not loaded; the user's hooks always \
             are.",
            "A hook cannot show anything to the person: failures are printed on stderr.",
            "The agent also runs the hooks of `.claude/settings.json`.",
        ],
    },
};
