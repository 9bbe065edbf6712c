//! Crush.
//!
//! From its sources and documentation (August 2026); not run.

use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Is, Text, Word};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FolderSource, Mcp, OutputShape, Page, TimeUnit,
    Timeout, Tool, Verification,
};

pub(super) static CRUSH: Agent = Agent {
    name: "crush",
    title: "Crush",
    marker_fields: &["crush_version"],
    verification: Verification::Source,
    event_paths: &["event", "hook_event_name"],
    fields: &[],
    tools: &[
        Tool::new("bash", "Bash"),
        Tool::new("view", "Read"),
        Tool::new("write", "Write"),
        Tool::new("edit", "Edit"),
        Tool::new("multiedit", "Edit"),
        Tool::new("glob", "Glob"),
        Tool::new("grep", "Grep"),
        Tool::new("ls", "LS"),
        Tool::new("fetch", "WebFetch"),
        Tool::new("download", "WebFetch"),
        Tool::new("agent", "Task").also(&["Agent"]),
    ],
    mcp: Mcp::Marked("mcp_", "_"),
    version_path: "version",
    project: &[FolderSource::Variable("CRUSH_PROJECT_DIR")],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Seconds, default_s: 30 },
    events: &[AgentEvent::new(
        &["PreToolUse", "pre_tool_use"],
        "PreToolUse",
        EffectSupport {
            deny: Delivery::Send(&[Key("decision", Word("deny")), Key("reason", Text)]),
            ask: Delivery::Substitute(Effect::Deny, "a hook cannot ask: let the person run it"),
            allow: Delivery::Send(&[Key("decision", Word("allow"))]),
            // Merged into the old input: a member that a hook removed stays.
            rewrite: Delivery::Send(&[Key("updated_input", Input)]),
            context: Delivery::Send(&[Key("context", Text)]),
            halt: Delivery::Send(&[
                Key("decision", Word("deny")),
                Key("reason", Text),
                Key("halt", Is(true)),
            ]),
            ..EffectSupport::NOTHING
        },
    )],
    page: Page {
        file: "~/.config/crush/crush.json (or crush.json in a project)",
        entry: r#"{"hooks": {"PreToolUse": [{"command": "crosier hook crush", "timeout": 30}]}}"#,
        on_failure: "A hook that times out and every exit status but 2 and 49 let the tool run.",
        caveats: &["A rewritten input is merged into the original: a key that a hook removed stays."],
    },
};
