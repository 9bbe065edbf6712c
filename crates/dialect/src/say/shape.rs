//! A new tool output in the agent's form: as text, or in the shape of the tool's own response.

use crosier_protocol::Json;

use crate::json::{self, readable};
use crate::read::Call;
use crate::table::{Agent, OutputShape};

/// The output to send: `new` if a hook gave one, else this text.
pub(super) fn output(agent: &Agent, call: Option<&Call>, new: Option<&Json>, text: &str) -> Json {
    let new = new.cloned().unwrap_or_else(|| Json::from(text));
    if let Some((call, restore)) =
        call.filter(|call| call.tool.is_none()).and_then(|call| Some((call, call.entry.restore?)))
    {
        return restore(call, &new).unwrap_or(new);
    }
    let response = call.and_then(|call| call.events.first()?.get("tool_response"));
    match (agent.output, response) {
        (OutputShape::Own(places), Some(old)) => {
            let name = call.and_then(|call| call.tool.as_ref()).map_or("", |tool| tool.own_name.as_str());
            let place = places.iter().find(|(tool, _)| *tool == name).map(|(_, place)| *place);
            shaped(&old, &new, place)
        }
        _ => Json::from(readable(&new, agent.text_paths)),
    }
}

/// `new` in the shape of `old`. Members that only `old` has are kept, but empty: an agent drops a response of another
/// shape and shows the old one.
fn shaped(old: &Json, new: &Json, place: Option<&str>) -> Json {
    if kind(old) == kind(new) {
        let (Some(old), Some(mut new)) = (old.entries(), new.entries()) else { return new.clone() };
        for (name, value) in old {
            if json::find(&new, &name).is_none() {
                new.push((name.clone(), emptied(&name, &value)));
            }
        }
        return json::object(&new);
    }
    let text = readable(new, &[]);
    if old.as_str().is_some() {
        return Json::from(text);
    }
    let mut filler = Filler { text: Some(text), place };
    let filled = filler.fill("", "", old);
    match (filler.text, filled) {
        (None, filled) => filled,
        // No place was found for the text: a response that the agent may drop is better than the old output.
        (Some(text), filled) => filled.entries().map_or_else(
            || json::list(&[Json::from(text.as_str())]),
            |mut members| {
                members.push(("content".to_owned(), Json::from(text.as_str())));
                json::object(&members)
            },
        ),
    }
}

/// Puts a text where an old response has its text, and empties everything else.
struct Filler<'a> {
    text: Option<String>,
    place: Option<&'a str>,
}

impl Filler<'_> {
    fn fill(&mut self, path: &str, name: &str, old: &Json) -> Json {
        if let Some(members) = old.entries() {
            let inner = members.into_iter().map(|(name, value)| {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let value = self.fill(&path, &name, &value);
                (name, value)
            });
            return json::object(&inner.collect::<Vec<_>>());
        }
        if let Some(elements) = json::elements(old) {
            return match elements.first() {
                // One element is enough for one text.
                Some(first) if self.text.is_some() && self.place.is_none_or(|place| place == path) => {
                    json::list(&[Filler { text: self.text.take(), place: None }.fill("", name, first)])
                }
                _ => json::list(&[]),
            };
        }
        let is_place = self.place.is_none_or(|place| place == path) && !is_fixed(name);
        match (old.as_str().is_some() && is_place, self.text.take()) {
            (true, Some(text)) => Json::from(text),
            (_, text) => {
                self.text = text;
                emptied(name, old)
            }
        }
    }
}

/// An empty value of the same type.
fn emptied(name: &str, old: &Json) -> Json {
    if let Some(members) = old.entries() {
        let inner = members.into_iter().map(|(name, value)| {
            let value = emptied(&name, &value);
            (name, value)
        });
        return json::object(&inner.collect::<Vec<_>>());
    }
    match old.text().as_bytes().first() {
        Some(b'"') if !is_fixed(name) => Json::from(""),
        Some(b'[') => json::list(&[]),
        _ => old.clone(),
    }
}

/// Names of members that describe a response and are not its content.
fn is_fixed(name: &str) -> bool {
    matches!(name, "type" | "status" | "mode" | "filePath" | "agentId")
}

fn kind(value: &Json) -> Option<u8> {
    value.text().as_bytes().first().copied().filter(|first| matches!(first, b'{' | b'[' | b'"'))
}
