//! Reads a host's JSON as an [`Event`]. Required fields are checked, unknown fields are kept.

use std::collections::HashSet;
use std::fmt;

use super::BASE_FIELDS;
use super::event::{Body, Event};
use crate::event::EventKind;
use crate::json::{self, Json};
use crate::payload::Base;

/// Why a host's input is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventError {
    /// No event has this name.
    UnknownEvent {
        /// What is unknown, and the most similar name that exists.
        detail: String,
    },
    /// The input is not UTF-8 from this byte on.
    NotUtf8 {
        /// The offset of the first invalid byte.
        at: usize,
    },
    /// The input is not one JSON value.
    NotJson {
        /// The syntax error, with line and column.
        detail: String,
    },
    /// The input is JSON, but not an object.
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// A key is in the object twice, so the event is ambiguous.
    DuplicateField {
        /// The key.
        field: String,
    },
    /// A required payload field is missing.
    MissingField {
        /// The event.
        event: String,
        /// The field.
        field: String,
        /// What it holds.
        wanted: &'static str,
    },
    /// A field has the wrong type.
    WrongType {
        /// The field.
        field: String,
        /// What it should hold.
        wanted: &'static str,
        /// What it holds.
        found: &'static str,
    },
    /// The input names a different event than the one being fired.
    OtherEvent {
        /// The event that is fired.
        event: String,
        /// The field that names another event.
        field: &'static str,
        /// The event that it names.
        found: String,
    },
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEvent { detail } => f.write_str(detail),
            Self::NotUtf8 { at } => write!(f, "the event is not UTF-8: byte {at} begins no character"),
            Self::NotJson { detail } => write!(f, "the event is not JSON: {detail}"),
            Self::NotAnObject { found } => {
                write!(f, "the event must be a JSON object like {{\"tool_name\": …}}, but it is {found}")
            }
            Self::DuplicateField { field } => {
                write!(f, "the event has the field `{field}` twice; leave one of them out")
            }
            Self::MissingField { event, field, wanted } => {
                write!(f, "{event} needs the field `{field}` ({wanted}); add it to the event")
            }
            Self::WrongType { field, wanted, found } => {
                write!(f, "the field `{field}` must be {wanted}, but it is {found}")
            }
            Self::OtherEvent { event, field, found } => {
                write!(f, "{event} is fired, but the event's `{field}` says `{found}`; make them agree")
            }
        }
    }
}

impl std::error::Error for EventError {}

impl Event {
    /// Reads a host's JSON object as an event of this kind. Empty input is `{}`.
    ///
    /// # Errors
    /// When it is not an object, lacks a required field, or has a field of the wrong type.
    pub fn from_json(kind: EventKind, bytes: &[u8]) -> Result<Self, EventError> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| EventError::NotUtf8 { at: error.valid_up_to() })?;
        let text = match text.trim_ascii() {
            "" => "{}",
            trimmed => trimmed,
        };
        if !text.starts_with('{') {
            let json =
                Json::parse(text).map_err(|error| EventError::NotJson { detail: error.to_string() })?;
            return Err(EventError::NotAnObject { found: json.kind_word() });
        }
        let entries =
            json::object_entries(text).map_err(|error| EventError::NotJson { detail: error.to_string() })?;
        Self::from_fields(kind, entries)
    }

    /// Makes an event of this kind from named values.
    ///
    /// # Errors
    /// When a required field is missing, a field occurs twice or has the wrong type.
    pub fn from_fields(kind: EventKind, entries: Vec<(String, Json)>) -> Result<Self, EventError> {
        let mut base = Base::default();
        let mut fields: Vec<(String, Json)> = Vec::with_capacity(entries.len());
        let mut seen = HashSet::with_capacity(entries.len());
        if let Some((twice, _)) = entries.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            return Err(EventError::DuplicateField { field: twice.clone() });
        }
        for (name, value) in entries {
            if BASE_FIELDS.contains(&name.as_str()) {
                set_base(&mut base, &kind, &name, &value)?;
            } else if !(value.is_null() && kind.field(&name).is_some_and(|field| field.default.is_some())) {
                fields.push((name, value));
            }
        }
        check(&kind, &base, &fields)?;
        let matcher_value = matcher_value(&kind, &fields);
        let in_agent = name_in_agent(&kind, &fields).filter(|name| Some(name) != matcher_value.as_ref());
        let event = Self::new(kind, Body::Fields { base, fields, matcher_value });
        Ok(match in_agent {
            Some(name) => event.also_matching(vec![name]),
            None => event,
        })
    }
}

/// The text of the field that matchers run on.
pub(super) fn matcher_value(kind: &EventKind, fields: &[(String, Json)]) -> Option<String> {
    let wanted = kind.matcher?;
    let (_, value) = fields.iter().find(|(name, _)| name == wanted)?;
    value.as_str().map(|text| text.into_owned())
}

/// The tool's name in the agent that the event comes from (`host.tool_name`): matchers may use it too.
fn name_in_agent(kind: &EventKind, fields: &[(String, Json)]) -> Option<String> {
    if kind.matcher != Some("tool_name") {
        return None;
    }
    let (_, host) = fields.iter().find(|(name, _)| name == "host")?;
    host.get("tool_name")?.as_str().map(|text| text.into_owned())
}

fn set_base(base: &mut Base, kind: &EventKind, name: &str, value: &Json) -> Result<(), EventError> {
    let text = match value.as_str() {
        Some(text) => Some(text.into_owned()),
        None if value.is_null() => None,
        None => {
            let (wanted, found) = ("text or null", value.kind_word());
            return Err(EventError::WrongType { field: name.to_owned(), wanted, found });
        }
    };
    base.set(kind, name, text)
}

impl Base {
    /// Sets a base field by its name in JSON. `hook_event_name` and `hook_type` are only compared with the
    /// kind.
    ///
    /// # Errors
    /// When the text names a different event than this kind.
    pub fn set(&mut self, kind: &EventKind, name: &str, text: Option<String>) -> Result<(), EventError> {
        let place = match name {
            "session_id" => &mut self.session_id,
            "transcript_path" => &mut self.transcript_path,
            "cwd" => &mut self.cwd,
            "permission_mode" => &mut self.permission_mode,
            "agent_id" => &mut self.agent_id,
            "orchestrator_id" => &mut self.orchestrator_id,
            "timestamp" => &mut self.timestamp,
            named => {
                let field = if named == "hook_type" { "hook_type" } else { "hook_event_name" };
                return match text {
                    Some(found) if found != kind.name && kind.alias != Some(found.as_str()) => {
                        Err(EventError::OtherEvent { event: kind.name.to_owned(), field, found })
                    }
                    _ => Ok(()),
                };
            }
        };
        *place = text;
        Ok(())
    }
}

fn check(kind: &EventKind, base: &Base, fields: &[(String, Json)]) -> Result<(), EventError> {
    for field in kind.fields.iter() {
        if field.name == "agent_id" && base.agent_id.is_some() {
            continue;
        }
        match fields.iter().find(|(name, _)| *name == field.name) {
            // An explicit null of an optional field is the same as leaving it out.
            Some((_, value)) if !field.required && value.is_null() => {}
            Some((_, value)) if !field.kind.fits(value.text()) => {
                return Err(EventError::WrongType {
                    field: field.name.to_owned(),
                    wanted: field.kind.wanted(),
                    found: value.kind_word(),
                });
            }
            None if field.required => {
                return Err(EventError::MissingField {
                    event: kind.name.to_owned(),
                    field: field.name.to_owned(),
                    wanted: field.kind.wanted(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}
