//! Event → the JSON object of the wire.

use super::BASE_FIELDS;
use super::event::{Body, Event};
use crate::json::{self, Json};

/// Writes the whole object. Fails only when the host's own payload cannot be written as JSON.
pub(super) fn event(event: &Event) -> Result<String, serde_json::Error> {
    let row = event.kind();
    let derived = row.derived.map(|(name, _)| name);
    // What the engine adds takes the place of a host's field of that name: no key stands there twice.
    let is_added = |name: &str| event.extra().iter().any(|(added, _)| *added == name);
    let is_ours = |name: &str| BASE_FIELDS.contains(&name) || derived == Some(name) || is_added(name);
    let from_struct;
    let fields: &[(String, Json)] = match event.body() {
        Body::Fields { fields, .. } => fields,
        Body::Typed(payload) => {
            from_struct = json::object_entries(&payload.to_json()?)?;
            &from_struct
        }
    };
    let mut object = Object::with_room_for(fields);
    base(&mut object, event)?;
    for (name, value) in fields.iter().filter(|(name, _)| !is_ours(name)) {
        object.raw(name, value.text())?;
        if let Some((derived, source)) = row.derived
            && source == name
        {
            object.text(derived, &value.plain())?;
        }
    }
    for field in row.fields.iter() {
        if let Some(default) = field.default
            && fields.iter().all(|(name, _)| *name != field.name)
        {
            object.raw(field.name, default)?;
        }
    }
    for (name, value) in event.extra() {
        object.raw(name, value.text())?;
    }
    Ok(object.end())
}

fn base(object: &mut Object, event: &Event) -> Result<(), serde_json::Error> {
    object.text("session_id", event.session_id())?;
    object.text("transcript_path", event.transcript_path())?;
    object.text("cwd", event.cwd())?;
    if let Some(mode) = event.permission_mode() {
        object.text("permission_mode", mode)?;
    }
    object.text("hook_event_name", event.name())?;
    object.text("hook_type", event.name())?;
    match event.agent_id() {
        Some(agent) => object.text("agent_id", agent)?,
        None => object.raw("agent_id", "null")?,
    }
    object.text("orchestrator_id", event.orchestrator_id())?;
    object.text("timestamp", event.timestamp())
}

struct Object(String);

impl Object {
    /// What the base takes.
    const BASE: usize = 512;

    fn with_room_for(fields: &[(String, Json)]) -> Self {
        let room = fields.iter().map(|(name, value)| name.len() + value.text().len() + 4).sum::<usize>();
        let mut text = String::with_capacity(Self::BASE + room);
        text.push('{');
        Self(text)
    }

    fn raw(&mut self, name: &str, json: &str) -> Result<(), serde_json::Error> {
        self.name(name)?;
        self.0.push_str(json);
        Ok(())
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), serde_json::Error> {
        self.name(name)?;
        self.quoted(text)
    }

    fn name(&mut self, name: &str) -> Result<(), serde_json::Error> {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.quoted(name)?;
        self.0.push(':');
        Ok(())
    }

    /// Most texts are written as they are.
    fn quoted(&mut self, text: &str) -> Result<(), serde_json::Error> {
        // All bytes are looked at, several at once: that is faster than to stop at the first.
        let is_special = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
        if text.bytes().fold(false, |found, byte| found | is_special(byte)) {
            self.0.push_str(&serde_json::to_string(text)?);
            return Ok(());
        }
        self.0.push('"');
        self.0.push_str(text);
        self.0.push('"');
        Ok(())
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
