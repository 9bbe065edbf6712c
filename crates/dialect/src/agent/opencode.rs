//! opencode.
//!
//! Its hooks are functions of a plugin. Crosier's plugin (`opencode.ts`) passes their arguments to `crosier hook
//! opencode` and acts on the answer. What opencode does with it was seen in the real program, version 1.18.33.

use crosier_protocol::Json;

use super::derived::startup;
use crate::json;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Output, Text};
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, EffectSupport, FieldMapping, FolderSource, Mcp, OutputShape, Page,
    Parts, TimeUnit, Timeout, Tool, Verification,
};

/// The plugin, a file for `~/.config/opencode/plugins`, that runs this command: the program and the words before the
/// event.
#[must_use]
pub fn plugin(command: &[&str]) -> String {
    let words = command.iter().map(|word| Json::from(*word)).collect::<Vec<_>>();
    include_str!("opencode.ts").replace(r#"["crosier", "hook", "opencode"]"#, json::list(&words).text())
}

const OBSERVE_ONLY: EffectSupport =
    EffectSupport { tell: Delivery::Send(&[Key("tell", Text)]), ..EffectSupport::NOTHING };
const DENY: Delivery = Delivery::Send(&[Key("deny", Text)]);
const CONTEXT: Delivery = Delivery::Send(&[Key("context", Text)]);
const OUTPUT: Delivery = Delivery::Send(&[Key("output", Output)]);
const FILE: &[(&str, &str)] = &[
    ("filePath", "file_path"),
    ("oldString", "old_string"),
    ("newString", "new_string"),
    ("replaceAll", "replace_all"),
];

pub(super) static OPENCODE: Agent = Agent {
    name: "opencode",
    title: "opencode",
    marker_fields: &["sessionID", "callID"],
    verification: Verification::Run("1.18.33"),
    event_paths: &["input.event.type", "i.event.type", "hook", "n"],
    fields: &[
        FieldMapping::new("input.sessionID", "session_id"),
        FieldMapping::new("i.sessionID", "session_id"),
        FieldMapping::new("input.event.properties.sessionID", "session_id"),
        FieldMapping::new("i.event.properties.sessionID", "session_id"),
        FieldMapping::new("directory", "cwd"),
        FieldMapping::new("input.tool", "tool_name"),
        FieldMapping::new("i.tool", "tool_name"),
        FieldMapping::new("output.args", "tool_input"),
        FieldMapping::new("o.args", "tool_input"),
        FieldMapping::new("input.args", "tool_input"),
        FieldMapping::new("i.args", "tool_input"),
        FieldMapping::new("input.callID", "tool_use_id"),
        FieldMapping::new("i.callID", "tool_use_id"),
        FieldMapping::new("output.output", "tool_response"),
        FieldMapping::new("o.output", "tool_response"),
        FieldMapping::new("output.content", "tool_response"),
        FieldMapping::new("o.content", "tool_response"),
    ],
    tools: &[
        Tool::new("bash", "Bash"),
        Tool::new("read", "Read").fields(FILE),
        Tool::new("write", "Write").fields(FILE),
        Tool::new("edit", "Edit").fields(FILE),
        Tool::new("multiedit", "Edit").fields(FILE),
        Tool::new("patch", "Edit").parts(Parts::Patch("patchText")),
        Tool::new("apply_patch", "Edit").parts(Parts::Patch("patchText")),
        Tool::new("glob", "Glob"),
        Tool::new("grep", "Grep"),
        Tool::new("list", "LS"),
        Tool::new("webfetch", "WebFetch"),
        Tool::new("websearch", "WebSearch"),
        Tool::new("task", "Task").also(&["Agent"]),
        Tool::new("todowrite", "TodoWrite"),
    ],
    mcp: Mcp::Marked("", "_"),
    version_path: "version",
    project: &[FolderSource::Field("directory")],
    text_paths: &[],
    output: OutputShape::Text,
    nothing: "{}",
    resumes: None,
    timeout: Timeout { unit: TimeUnit::Fixed, default_s: 60 },
    events: &[
        AgentEvent::new(
            &["tool.execute.before"],
            "PreToolUse",
            EffectSupport {
                deny: DENY,
                ask: Delivery::Substitute(Effect::Deny, "a plugin cannot ask: let the person run it"),
                allow: Delivery::Silence("opencode's own permissions decide"),
                rewrite: Delivery::Send(&[Key("args", Input)]),
                halt: Delivery::Substitute(Effect::Deny, "a plugin cannot stop a turn"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["tool.execute.after"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: OUTPUT,
                hide: OUTPUT,
                halt: Delivery::Substitute(Effect::Tell, "a plugin cannot stop a turn"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(
            &["chat.message"],
            "UserPromptSubmit",
            EffectSupport {
                deny: DENY,
                context: CONTEXT,
                halt: Delivery::Substitute(Effect::Deny, "a plugin cannot stop the agent in another way"),
                ..OBSERVE_ONLY
            },
        )
        .derived(&[("prompt", prompt)]),
        AgentEvent::new(&["session.created"], "SessionStart", OBSERVE_ONLY).derived(&[("source", startup)]),
        AgentEvent::new(
            &["session.idle"],
            "Stop",
            EffectSupport {
                resume: Delivery::Dropped("a plugin cannot keep the agent going"),
                ..OBSERVE_ONLY
            },
        ),
        AgentEvent::new(&["session.deleted"], "SessionEnd", OBSERVE_ONLY),
    ],
    page: Page {
        file: "~/.config/opencode/plugins/crosier.ts (or .opencode/plugins/crosier.ts in a project)",
        entry: "crosier hook opencode --plugin > ~/.config/opencode/plugins/crosier.ts",
        on_failure: "The plugin throws when Crosier cannot be reached, so that the tool does not run. A plugin that cannot be \
                loaded is a line in opencode's log, and everything runs.",
        caveats: &[
            "A plugin can neither resume the agent nor ask the person.",
            "Context from before a tool call is added to the tool's result.",
        ],
    },
};

/// The texts of a message.
fn prompt(sent: &[(String, Json)]) -> Option<Json> {
    let parts = json::at(sent, "output.parts").or_else(|| json::at(sent, "o.parts"))?;
    let texts = json::elements(&parts)?;
    let texts: Vec<String> =
        texts.iter().filter_map(|part| Some(part.get("text")?.as_str()?.into_owned())).collect();
    Some(Json::from(texts.join("\n")))
}
