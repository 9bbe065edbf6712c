//! GitHub Copilot CLI.
//!
//! Seen in the real program, version 1.0.102, headless. Its events have two spellings; flat keys work in both. An
//! event in camelCase does not name itself: the hook's command line does.

use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Output, Text, Word};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, Move, OutputShape, Page, Parts, Proof,
    TimeUnit, Timeout, Tool, Way,
};

const SEEN: EffectSupport =
    EffectSupport { halt: Way::Lost("a hook cannot stop the agent"), ..EffectSupport::NOTHING };
const CONTEXT: Way = Way::Send(&[Key("additionalContext", Text)]);
const BLOCK: Way = Way::Send(&[Key("decision", Word("block")), Key("reason", Text)]);
const OUTPUT: Way = Way::Send(&[
    Key("modifiedResult.resultType", Word("success")),
    Key("modifiedResult.textResultForLlm", Output),
]);
const FILE: &[(&str, &str)] =
    &[("path", "file_path"), ("file_text", "content"), ("old_str", "old_string"), ("new_str", "new_string")];

pub(super) static COPILOT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    signs: &["toolArgs", "tool_result", "toolResult", "sessionId"],
    proof: Proof::Run("1.0.102"),
    event_at: &["hook_event_name", "hookName"],
    fields: &[
        Move::new("sessionId", "session_id"),
        Move::new("transcriptPath", "transcript_path"),
        Move::new("toolName", "tool_name"),
        Move::new("toolArgs", "tool_input"),
        Move::new("toolInput", "tool_input"),
        Move::new("toolResult.textResultForLlm", "tool_response"),
        Move::new("tool_result.text_result_for_llm", "tool_response"),
        Move::new("agentId", "agent_id"),
        Move::new("agentType", "agent_type"),
        Move::new("permissionSuggestions", "permission_suggestions"),
        Move::new("source", "source").values(&[("new", "startup")]),
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
    version_at: "version",
    project: &[FolderSource::Variable("CLAUDE_PROJECT_DIR")],
    text_at: &["text_result_for_llm", "textResultForLlm"],
    output: OutputShape::Text,
    nothing: "",
    resumes: Some(8),
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[
        AgentEvent::new(
            &["preToolUse", "PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: Way::Send(&[
                    Key("permissionDecision", Word("deny")),
                    Key("permissionDecisionReason", Text),
                ]),
                ask: Way::Send(&[
                    Key("permissionDecision", Word("ask")),
                    Key("permissionDecisionReason", Text),
                ]),
                allow: Way::Send(&[Key("permissionDecision", Word("allow"))]),
                rewrite: Way::Send(&[Key("modifiedArgs", Input)]),
                context: CONTEXT,
                halt: Way::Becomes(Effect::Deny, "a hook cannot stop the agent"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["permissionRequest", "PermissionRequest"],
            "PermissionRequest",
            EffectSupport {
                deny: Way::Send(&[Key("behavior", Word("deny")), Key("message", Text)]),
                allow: Way::Send(&[Key("behavior", Word("allow"))]),
                rewrite: Way::Becomes(Effect::Deny, "the reply cannot change the input"),
                permissions: Way::Lost("the reply cannot change permissions"),
                halt: Way::Send(&[
                    Key("behavior", Word("deny")),
                    Key("message", Text),
                    Key("interrupt", Is(true)),
                ]),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["postToolUse", "PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, ..SEEN },
        ),
        AgentEvent::new(
            &["postToolUseFailure", "PostToolUseFailure"],
            "PostToolUseFailure",
            EffectSupport { context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["userPromptSubmitted", "UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["userPromptTransformed"], "UserPromptTransformed", SEEN).not_installed(),
        AgentEvent::new(
            &["sessionStart", "SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(&["sessionEnd", "SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(&["agentStop", "Stop"], "Stop", EffectSupport { resume: BLOCK, ..SEEN }),
        AgentEvent::new(
            &["subagentStop", "SubagentStop"],
            "SubagentStop",
            EffectSupport { resume: BLOCK, ..SEEN },
        )
        .fields(&[Move::new("response", "last_assistant_message")]),
        AgentEvent::new(
            &["subagentStart", "SubagentStart"],
            "SubagentStart",
            EffectSupport { context: CONTEXT, ..SEEN },
        ),
        AgentEvent::new(
            &["preCompact", "PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Way::Lost("a compaction cannot be stopped"),
                rewrite: Way::Lost("the agent accepts no instructions"),
                ..SEEN
            },
        ),
        AgentEvent::new(&["notification", "Notification"], "Notification", SEEN),
        AgentEvent::new(&["errorOccurred", "ErrorOccurred"], "ErrorOccurred", SEEN),
    ],
    page: Page {
        file: "~/.copilot/hooks/crosier.json (or .github/hooks/crosier.json in a repository)",
        entry: r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "crosier hook copilot preToolUse", "timeoutSec": 30}]}}"#,
        fails: "At preToolUse every exit status but 0 denies, without the reason; output that is not JSON, and a hook that \
                times out, let the tool run.",
        traps: &[
            "The JSON of camelCase events does not name the event: name it in the command.",
            "With `-p` but without `--trust-folder`, a repository's hooks are silently not loaded; the user's hooks always \
             are.",
            "A hook cannot show anything to the person: failures are printed on stderr.",
            "The agent also runs the hooks of `.claude/settings.json`.",
        ],
    },
};
