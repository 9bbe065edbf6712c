//! opencode.
//!
//! Its hooks are functions of a plugin. Crosier's plugin (`opencode.ts`) passes their arguments to `crosier hook
//! opencode` and acts on the answer. What opencode does with it was seen in the real program, version 1.18.33.

use crosier_protocol::Json;

use crate::json;
use crate::table::AnswerPart::Key;
use crate::table::AnswerValue::{Input, Output, Text};
use crate::table::{
    Agent, AgentEvent, Effect, EffectSupport, FolderSource, Mcp, Move, OutputShape, Page, Parts, Proof,
    TimeUnit, Timeout, Tool, Way,
};

/// The plugin, a file for `~/.config/opencode/plugins`, that runs this command: the program and the words before the
/// event.
#[must_use]
pub fn plugin(command: &[&str]) -> String {
    let words = command.iter().map(|word| Json::from(*word)).collect::<Vec<_>>();
    include_str!("opencode.ts").replace(r#"["crosier", "hook", "opencode"]"#, json::list(&words).text())
}

const SEEN: EffectSupport = EffectSupport { tell: Way::Send(&[Key("tell", Text)]), ..EffectSupport::NOTHING };
const DENY: Way = Way::Send(&[Key("deny", Text)]);
const CONTEXT: Way = Way::Send(&[Key("context", Text)]);
const OUTPUT: Way = Way::Send(&[Key("output", Output)]);
const FILE: &[(&str, &str)] = &[
    ("filePath", "file_path"),
    ("oldString", "old_string"),
    ("newString", "new_string"),
    ("replaceAll", "replace_all"),
];

pub(super) static OPENCODE: Agent = Agent {
    name: "opencode",
    title: "opencode",
    signs: &["sessionID", "callID"],
    proof: Proof::Run("1.18.33"),
    event_at: &["input.event.type", "i.event.type", "hook", "n"],
    fields: &[
        Move::new("input.sessionID", "session_id"),
        Move::new("i.sessionID", "session_id"),
        Move::new("input.event.properties.sessionID", "session_id"),
        Move::new("i.event.properties.sessionID", "session_id"),
        Move::new("directory", "cwd"),
        Move::new("input.tool", "tool_name"),
        Move::new("i.tool", "tool_name"),
        Move::new("output.args", "tool_input"),
        Move::new("o.args", "tool_input"),
        Move::new("input.args", "tool_input"),
        Move::new("i.args", "tool_input"),
        Move::new("input.callID", "tool_use_id"),
        Move::new("i.callID", "tool_use_id"),
        Move::new("output.output", "tool_response"),
        Move::new("o.output", "tool_response"),
        Move::new("output.content", "tool_response"),
        Move::new("o.content", "tool_response"),
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
    version_at: "version",
    project: &[FolderSource::Field("directory")],
    text_at: &[],
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
                ask: Way::Becomes(Effect::Deny, "a plugin cannot ask: let the person run it"),
                allow: Way::Silence("opencode's own permissions decide"),
                rewrite: Way::Send(&[Key("args", Input)]),
                halt: Way::Becomes(Effect::Deny, "a plugin cannot stop a turn"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["tool.execute.after"],
            "PostToolUse",
            EffectSupport {
                context: CONTEXT,
                replace: OUTPUT,
                hide: OUTPUT,
                halt: Way::Becomes(Effect::Tell, "a plugin cannot stop a turn"),
                ..SEEN
            },
        ),
        AgentEvent::new(
            &["chat.message"],
            "UserPromptSubmit",
            EffectSupport {
                deny: DENY,
                context: CONTEXT,
                halt: Way::Becomes(Effect::Deny, "a plugin cannot stop the agent in another way"),
                ..SEEN
            },
        )
        .derived(&[("prompt", prompt)]),
        AgentEvent::new(&["session.created"], "SessionStart", SEEN).derived(&[("source", startup)]),
        AgentEvent::new(
            &["session.idle"],
            "Stop",
            EffectSupport { resume: Way::Lost("a plugin cannot keep the agent going"), ..SEEN },
        ),
        AgentEvent::new(&["session.deleted"], "SessionEnd", SEEN),
    ],
    page: Page {
        file: "~/.config/opencode/plugins/crosier.ts (or .opencode/plugins/crosier.ts in a project)",
        entry: "crosier hook opencode --plugin > ~/.config/opencode/plugins/crosier.ts",
        fails: "The plugin throws when Crosier cannot be reached, so that the tool does not run. A plugin that cannot be \
                loaded is a line in opencode's log, and everything runs.",
        traps: &[
            "A plugin can neither resume the agent nor ask the person.",
            "Context from before a tool call is added to the tool's result.",
        ],
    },
};

fn startup(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("startup"))
}

/// The texts of a message.
fn prompt(sent: &[(String, Json)]) -> Option<Json> {
    let parts = json::at(sent, "output.parts").or_else(|| json::at(sent, "o.parts"))?;
    let texts = json::elements(&parts)?;
    let texts: Vec<String> =
        texts.iter().filter_map(|part| Some(part.get("text")?.as_str()?.into_owned())).collect();
    Some(Json::from(texts.join("\n")))
}
