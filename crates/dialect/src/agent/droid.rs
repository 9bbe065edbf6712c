//! Factory droid.
//!
//! Seen in the real program, version 0.215.0, headless. It takes the replies of Claude Code; some of them do nothing.

use super::replies::{ALLOW, BLOCK, CONTEXT, DENY, HALT, HALT_AND_DENY, REWRITE, TELL};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FolderSource, Mcp, OutputShape, Page, Parts,
    TimeUnit, Timeout, Tool, Verification,
};

const OBSERVE_ONLY: EffectSupport = EffectSupport { tell: TELL, halt: HALT, ..EffectSupport::NOTHING };
const OUTPUT: Delivery = Delivery::Substitute(Effect::Tell, "a hook cannot change an output");

pub(super) static DROID: Agent = Agent {
    name: "droid",
    title: "Factory droid",
    marker_fields: &["riskLevel", "tool_execution_count", "session_duration_ms"],
    verification: Verification::Run("0.215.0"),
    event_paths: &["hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("Execute", "Bash"),
        Tool::new("Create", "Write"),
        Tool::new("Edit", "Edit").fields(&[("old_str", "old_string"), ("new_str", "new_string")]),
        Tool::new("ApplyPatch", "Edit").parts(Parts::Patch("input")),
        Tool::new("LS", "LS").fields(&[("directory_path", "path")]),
        Tool::new("Glob", "Glob").parts(Parts::Each {
            list: "patterns",
            inside: "pattern",
            field: "pattern",
        }),
        Tool::new("FetchUrl", "WebFetch"),
        Tool::new("Task", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Marked("", "___"),
    version_path: "version",
    project: &[FolderSource::Variable("FACTORY_PROJECT_DIR")],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["PreToolUse"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Delivery::Substitute(
                    Effect::Deny,
                    "`ask` does not stop the tool here: let the person run it",
                ),
                allow: ALLOW,
                rewrite: REWRITE,
                halt: HALT_AND_DENY,
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["PostToolUse"],
            "PostToolUse",
            EffectSupport { context: CONTEXT, replace: OUTPUT, hide: OUTPUT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["UserPromptSubmit"],
            "UserPromptSubmit",
            EffectSupport { deny: BLOCK, context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(
            &["SessionStart"],
            "SessionStart",
            EffectSupport { context: CONTEXT, ..OBSERVE_ONLY },
        ),
        AgentEvent::new(&["SessionEnd"], "SessionEnd", EffectSupport::NOTHING),
        AgentEvent::new(&["Stop"], "Stop", EffectSupport { resume: BLOCK, ..OBSERVE_ONLY }),
        AgentEvent::new(&["SubagentStop"], "SubagentStop", EffectSupport { resume: BLOCK, ..OBSERVE_ONLY }),
        AgentEvent::new(
            &["PreCompact"],
            "PreCompact",
            EffectSupport {
                deny: Delivery::Dropped("it is not known whether this works"),
                rewrite: Delivery::Dropped("the agent accepts no instructions"),
                ..EffectSupport::NOTHING
            },
        ),
        AgentEvent::new(&["Notification"], "Notification", OBSERVE_ONLY),
    ],
    page: Page {
        file: "`hooks` in ~/.factory/settings.json or .factory/settings.json",
        entry: r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "crosier hook droid", "timeout": 60}]}]}}"#,
        on_failure: "Exit status 2 denies, even without output; every other status, and a hook that times out, let the tool run.",
        caveats: &[
            "`droid exec` fires no UserPromptSubmit, and no PostToolUse for a tool that failed.",
            "An output can be neither replaced nor hidden: the person is told instead.",
            "The agent itself does not limit resumes: Crosier allows 8 in a row.",
        ],
    },
};
