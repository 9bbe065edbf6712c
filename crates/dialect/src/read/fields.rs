//! The fields of an event, in the vocabulary of Crosier.

use crosier_protocol::wire::BASE_FIELDS;
use crosier_protocol::{EventKind, FieldKind, Json};

use crate::json::{self, Fields};
use crate::table::{Agent, AgentEvent, FieldMapping};

/// The payload with Crosier's field names. A field that has no name in Crosier keeps its own.
pub(super) fn translated(agent: &Agent, entry: &AgentEvent, sent: &Fields) -> Fields {
    let moves = || entry.fields.iter().chain(agent.fields);
    let mut out: Fields = Vec::with_capacity(sent.len() + 4);
    for (name, value) in sent {
        let is_moved = moves().any(|field| field.from == name && field.to != name);
        let names_event = agent.event_paths.contains(&name.as_str());
        if !is_moved && !names_event && name != "hook_type" && name != "host" {
            out.extend(fit_base(name, value).map(|value| (name.clone(), value)));
        }
    }
    for field in moves() {
        let Some(value) = json::at(sent, field.from) else { continue };
        let value = renamed(field, value);
        match out.iter_mut().find(|(name, _)| name == field.to) {
            // The same field with a value that has another name in Crosier.
            Some((name, old)) if *name == field.from => *old = value,
            // A field that is already in Crosier's vocabulary wins.
            Some(_) => {}
            None => out.extend(fit_base(field.to, &value).map(|value| (field.to.to_owned(), value))),
        }
    }
    for (name, derive) in entry.derived {
        out.extend(derive(sent).map(|value| ((*name).to_owned(), value)));
    }
    out
}

fn renamed(field: &FieldMapping, value: Json) -> Json {
    let word = value.as_str();
    let other = word.and_then(|word| field.values.iter().find(|(own, _)| *own == word));
    other.map_or(value.clone(), |(_, here)| Json::from(*here))
}

/// A base field must be text: a number becomes its digits; an invalid time is dropped, and the engine fills it in.
fn fit_base(name: &str, value: &Json) -> Option<Json> {
    if !BASE_FIELDS.contains(&name) || value.as_str().is_some() || value.is_null() {
        return Some(value.clone());
    }
    (name != "timestamp").then(|| Json::from(value.text()))
}

/// Adds required fields that are missing, and converts those of another type: when an agent changes a field that does
/// not matter to hooks, this must not lock its user out.
pub(super) fn complete(kind: &EventKind, fields: &mut Fields) {
    for field in kind.fields.iter() {
        match fields.iter_mut().find(|(name, _)| *name == field.name) {
            Some((_, value)) if value.is_null() && !field.required => {}
            Some((_, value)) if !field.kind.fits(value.text()) => *value = substitute(field.kind, value),
            None if field.required => {
                fields.push((field.name.to_owned(), substitute(field.kind, &Json::null())));
            }
            _ => {}
        }
    }
}

fn substitute(kind: FieldKind, value: &Json) -> Json {
    match kind {
        FieldKind::Text if value.is_null() => Json::from(""),
        FieldKind::Text | FieldKind::TextOrNull if !value.is_null() => Json::from(value.text()),
        FieldKind::Bool => json::whole("false"),
        _ => Json::null(),
    }
}
