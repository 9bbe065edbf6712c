//! Qwen Code.
//!
//! Seen in the real program, version 0.24.4, headless. It is a fork of Gemini CLI and takes most replies of Claude
//! Code.

use super::gemini::TOOLS;
use super::replies::{ALLOW, ASK, BLOCK, CONTEXT, DENY, HALT, HALT_AND_DENY, TELL, YES_OR_NO};
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Is, Output};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport { tell: TELL, ..EffectSupport::NOTHING };
const OUTPUT: Delivery = Delivery::SendAlone(&[Key("continue", Is(false)), Key("stopReason", Output)]);
const STOPS: EffectSupport = EffectSupport {
    resume: BLOCK,
    halt: Delivery::Silence("any reply would keep the agent going"),
    ..OBSERVE_ONLY
};

pub(super) static QWEN: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    marker_fields: &["tool_call_id", "submitted_prompt"],
    verification: Verification::Run("0.24.4"),
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: QWEN_TOOLS,
    mcp: Mcp::Same,
    version_path: "version",
    project: &[FolderSource::Variable("QWEN_PROJECT_DIR")],
    text_paths: &["llmContent"],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: Some(8),
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: ASK,
                allow: ALLOW,
                rewrite: Delivery::Substitute(
                    Effect::Deny,
                    "the agent ignores a hook's input and would run the original",
                ),
                halt: HALT_AND_DENY,
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["PermissionRequest"], "PermissionRequest", YES_OR_NO),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, halt: HALT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PostToolUseFailure"],
            "PostToolUseFailure",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["PostToolBatch"],
            "PostToolBatch",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, halt: HALT, ..OBSERVE_ONLY },
        )
        .repeat_if_empty("prompt"),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", OBSERVE_ONLY),
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
            EffectSupport {
                deny: BLOCK,
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["PostCompact"], "PostCompact", OBSERVE_ONLY),
        AgentEvent::new(&["Notification"], "Notification", OBSERVE_ONLY),
        AgentEvent::new(&["PermissionDenied"], "PermissionDenied", OBSERVE_ONLY),
        AgentEvent::new(&["StopFailure"], "StopFailure", OBSERVE_ONLY),
        AgentEvent::new(&["InstructionsLoaded"], "InstructionsLoaded", OBSERVE_ONLY).not_installed(),
        AgentEvent::new(&["MessageDisplay"], "MessageDisplay", OBSERVE_ONLY)
            .fields(&[FieldMapping::new("displayed_text", "delta"), FieldMapping::new("is_final", "final")])
            .not_installed(),
    ],
    page: Page {
        file: "~/.qwen/settings.json (or .qwen/settings.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook qwen", "timeout": 60}]}]}}"#,
        on_failure: "A hook that times out and every exit status but 2 let the tool run; 2 denies only with a text on stderr.",
        caveats: &[
            "A timeout of 1000 or more is in milliseconds, a smaller one in seconds.",
            "UserPromptSubmit fires again with an empty prompt after every round of tools: Crosier has no opinion then.",
            "SessionEnd never fires headless.",
            "The reason for a blocked prompt is not shown.",
            "Qwen Code needs Node 22.",
        ],
    },
};

const QWEN_TOOLS: &[Tool] = &[
    TOOLS[0],
    TOOLS[1],
    TOOLS[2],
    TOOLS[3],
    TOOLS[4],
    TOOLS[5],
    TOOLS[6],
    TOOLS[7],
    TOOLS[8],
    TOOLS[9],
    Tool::new("edit", "Edit"),
    Tool::new("todo_write", "TodoWrite"),
    Tool::new("notebook_edit", "NotebookEdit"),
    Tool::new("agent", "Task").also(&["Agent"]),
    Tool::new("task", "Task").also(&["Agent"]),
    // It runs a command in the background.
    Tool::new("monitor", "Bash").when("command"),
    Tool::new("skill", "Skill"),
    Tool::new("web_search", "WebSearch"),
];
