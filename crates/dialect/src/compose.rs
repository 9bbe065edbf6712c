//! Turns an event in Crosier's vocabulary into what the agent would send for it, to try a policy without the agent.
//!
//! The agent's table is applied in reverse. The result is then read like a real payload, and used only when it yields
//! the event that was meant.

use crosier_protocol::{Catalog, Json};
use serde_json::{Map, Value};

use crate::json::{self, Fields};
use crate::read::{Call, Read, read};
use crate::table::{Agent, AgentEvent, Parts, Tool};

/// Where the fields of a tool's input are, for agents that put them into a separate object.
const INSIDE: [(&str, &str); 2] =
    [("command", "tool_info.command_line"), ("file_path", "tool_info.file_path")];

/// What the agent would send for this event, and the call that results from reading it.
///
/// # Errors
/// Why this agent cannot send such an event.
pub fn compose(
    agent: &'static Agent,
    event: &str,
    fields: &[(String, Json)],
    catalog: &Catalog,
) -> Result<(String, Box<Call>), String> {
    let entries = agent.events.iter().filter(|entry| entry.event == event);
    let mut is_known = false;
    for entry in entries {
        is_known = true;
        for sent in candidates(agent, entry, fields) {
            let Ok(Read::Call(call)) = read(agent, Some(entry.name()), sent.as_bytes(), catalog) else {
                continue;
            };
            if call.entry.event == event && is_meant(&call, fields) {
                return Ok((sent, call));
            }
        }
    }
    let title = agent.title;
    Err(if is_known {
        format!("Crosier does not know how {title} sends this at {event}; try it without --agent")
    } else {
        format!("{title} has no event for {event}; `crosier events --agent {}` lists them", agent.name)
    })
}

/// Whether the call has the tool and the input that were meant.
fn is_meant(call: &Call, fields: &[(String, Json)]) -> bool {
    let Some(tool) = json::find(fields, "tool_name") else { return true };
    let wanted = json::find(fields, "tool_input").and_then(Json::entries).unwrap_or_default();
    call.events.iter().any(|event| {
        let input = event.get("tool_input").unwrap_or_default();
        event.get("tool_name").as_ref() == Some(tool)
            && wanted.iter().all(|(name, value)| input.get(name).is_some_and(|read| is_same(&read, value)))
    })
}

/// Whether the values are equal; a patch does not preserve the last line break of a text.
fn is_same(read: &Json, meant: &Json) -> bool {
    read == meant || read.plain().trim_end() == meant.plain().trim_end()
}

fn candidates(agent: &'static Agent, entry: &AgentEvent, fields: &[(String, Json)]) -> Vec<String> {
    let name = json::find(fields, "tool_name").and_then(|name| name.as_str().map(|name| name.into_owned()));
    let input = json::find(fields, "tool_input").cloned();
    let (Some(name), Some(input)) = (name, input) else { return vec![sent(agent, entry, fields, None)] };
    let tools = agent.tools.iter().filter(|tool| tool.name == name || matches!(tool.parts, Parts::Patch(_)));
    let own = tools.filter_map(|tool| Some((tool.agent_name.to_owned(), own_input(tool, &name, &input)?)));
    let same = std::iter::once((name.clone(), input.clone()));
    let calls: Vec<(String, Json)> = own.chain(same).collect();
    if !entry.derived.iter().any(|(field, _)| *field == "tool_name") {
        return calls.iter().map(|call| sent(agent, entry, fields, Some(call))).collect();
    }
    // An event for one kind of tool: the input is among the other fields, or in a separate object.
    let others = || fields.iter().filter(|(field, _)| !field.starts_with("tool_")).cloned();
    let members = input.entries().unwrap_or_default();
    let inside = |(name, value): &(String, Json)| {
        let place = INSIDE.iter().find(|(here, _)| here == name).map(|(_, place)| (*place).to_owned());
        (place.unwrap_or_else(|| name.clone()), value.clone())
    };
    let beside: Fields = others().chain(members.iter().cloned()).collect();
    let inside: Fields = others().chain(members.iter().map(inside)).collect();
    vec![sent(agent, entry, &beside, None), sent(agent, entry, &inside, None)]
}

/// An input in Crosier's vocabulary, with the agent's names.
fn own_input(tool: &Tool, name: &str, input: &Json) -> Option<Json> {
    let text = |field: &str| input.get(field)?.as_str().map(|text| text.into_owned());
    let mut members = input.entries()?;
    match tool.parts {
        Parts::Patch(field) => return Some(json::object(&[(field, Json::from(patch(name, &text)?))])),
        Parts::Each { list, field, .. } => {
            if let Some((name, value)) = members.iter_mut().find(|(name, _)| name == field) {
                list.clone_into(name);
                *value = json::list(std::slice::from_ref(value));
            }
        }
        Parts::One | Parts::Shell(_) => {}
    }
    for (own, here) in tool.fields {
        if let Some((name, _)) = members.iter_mut().find(|(name, _)| name == here) {
            (*own).clone_into(name);
        }
    }
    Some(json::object(&members))
}

/// A patch that does what Write or Edit would.
fn patch(name: &str, text: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let path = text("file_path")?;
    let marked =
        |mark: char, text: String| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let body = match name {
        "Write" => format!("*** Add File: {path}\n{}", marked('+', text("content")?)),
        "Edit" => {
            let (old, new) = (marked('-', text("old_string")?), marked('+', text("new_string")?));
            format!("*** Update File: {path}\n@@\n{old}{new}")
        }
        _ => return None,
    };
    Some(format!("*** Begin Patch\n{body}*** End Patch\n"))
}

/// The whole payload, including the tool call.
fn sent(
    agent: &Agent,
    entry: &AgentEvent,
    fields: &[(String, Json)],
    call: Option<&(String, Json)>,
) -> String {
    let mut all = Map::new();
    let moves = || entry.fields.iter().chain(agent.fields);
    for (name, value) in fields {
        let value = match (name.as_str(), call) {
            ("tool_name", Some((own, _))) => Json::from(own.as_str()),
            ("tool_input", Some((_, own))) => own.clone(),
            _ => value.clone(),
        };
        let found = moves().find(|field| field.to == name);
        let value = value.to_value().unwrap_or_default();
        let word = found.and_then(|field| field.values.iter().find(|(_, here)| value == *here));
        let value = word.map_or(value, |(own, _)| Value::from(*own));
        put(&mut all, found.map_or(name.as_str(), |field| field.from), value);
    }
    if let Some(path) = agent.event_paths.first() {
        put(&mut all, path, Value::from(entry.name()));
    }
    // An entry that is for some payloads only needs the field that distinguishes them.
    if let Some(path) = entry.when {
        if json::inside(&Json::from(Value::Object(all.clone())), path).is_none() {
            put(&mut all, path, Value::from("x"));
        }
    }
    Value::Object(all).to_string()
}

fn put(all: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(all.insert(path.to_owned(), value)),
        // The first of a list.
        Some((first, "0")) => drop(all.insert(first.to_owned(), Value::from(vec![value]))),
        Some((first, rest)) => {
            let inner = all.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(tool: &str, input: serde_json::Value) -> Vec<(String, Json)> {
        vec![
            ("session_id".to_owned(), Json::from("s")),
            ("cwd".to_owned(), Json::from("/tmp")),
            ("tool_name".to_owned(), Json::from(tool)),
            ("tool_input".to_owned(), Json::from(input)),
        ]
    }

    #[test]
    fn every_agent_that_is_asked_before_a_tool_can_be_asked_about_a_command() {
        let catalog = crate::catalog();
        for agent in crate::ALL {
            if !agent.events.iter().any(|entry| entry.event == "PreToolUse") {
                continue;
            }
            let bash = fields("Bash", serde_json::json!({"command": "git push --force"}));
            let made = compose(agent, "PreToolUse", &bash, &catalog);
            assert!(made.is_ok(), "{}: {:?}", agent.name, made.err());
        }
    }

    #[test]
    fn agents_are_asked_in_their_own_words() {
        let catalog = crate::catalog();
        let sent = |agent: &str, tool: &str, input| {
            compose(crate::find(agent).unwrap(), "PreToolUse", &fields(tool, input), &catalog).unwrap().0
        };
        let gemini = sent("gemini", "Bash", serde_json::json!({"command": "ls"}));
        assert!(gemini.contains("run_shell_command") && gemini.contains("BeforeTool"), "{gemini}");
        let codex = sent("codex", "Write", serde_json::json!({"file_path": "a", "content": "x\ny"}));
        let windsurf = sent("windsurf", "Bash", serde_json::json!({"command": "ls"}));
        assert!(windsurf.contains(r#""command_line":"ls""#) && !windsurf.contains("tool_name"), "{windsurf}");
        assert!(codex.contains("*** Add File: a") && codex.contains("apply_patch"), "{codex}");
        let cline = sent("cline", "Bash", serde_json::json!({"command": "ls"}));
        assert!(cline.contains(r#""workspaceRoots":["/tmp"]"#), "{cline}");
        let nothing = compose(crate::find("codex").unwrap(), "PreMessage", &[], &catalog);
        assert!(nothing.unwrap_err().contains("has no event"));
    }
}
