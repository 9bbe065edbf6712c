use std::cell::Cell;

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use super::*;

/// Asks a struct which fields it has, and gives it nothing.
struct Fields<'a>(&'a Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        Err(Error::custom("seen"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Seen {
    name: &'static str,
    index: usize,
    fields: &'static [&'static str],
    /// The fields that an empty payload writes.
    written: Vec<String>,
    matcher: Option<String>,
    agent: Option<String>,
}

fn seen<P: Payload>(_: EventOf<P>) -> Seen {
    let fields = Cell::new(&[][..]);
    assert!(P::deserialize(Fields(&fields)).is_err());
    let empty = P::default();
    let written = crate::json::object_entries(&serde_json::to_string(&empty).unwrap()).unwrap();
    Seen {
        name: std::any::type_name::<P>().rsplit("::").next().unwrap(),
        index: P::row().index(),
        fields: fields.get(),
        written: written.into_iter().map(|(name, _)| name).collect(),
        matcher: empty.matcher_value().map(str::to_owned),
        agent: empty.agent_id().map(str::to_owned),
    }
}

fn all() -> Vec<Seen> {
    macro_rules! seen { ($($event:ident)*) => { vec![$(seen($event)),*] }; }
    seen![
        Setup SessionStart SessionEnd UserPromptSubmit PreMessage PostMessage PreToolUse PermissionRequest
        PostToolUse PostToolUseFailure PreCompact Stop SubagentStart SubagentStop PreAgentSpawn
        PostAgentComplete PreSessionPhase PostSessionPhase PreGitWrite PostGitWrite PreViewRender
        Notification TeammateIdle TaskCompleted
    ]
}

#[test]
fn structs_stand_in_the_order_of_the_table() {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(NAMES, names);
    let structs: Vec<(&str, usize)> = all().iter().map(|seen| (seen.name, seen.index)).collect();
    assert_eq!(structs, names.into_iter().zip(0..).collect::<Vec<_>>());
}

#[test]
fn structs_have_the_fields_of_their_rows_in_order() {
    for seen in all() {
        let row = &TABLE[seen.index];
        let derived = row.derived.map(|(derived, _)| derived);
        let names = row.fields.iter().map(|field| field.name).filter(|name| Some(*name) != derived);
        assert_eq!(seen.fields, names.collect::<Vec<_>>(), "{}", row.name);
    }
}

#[test]
fn an_empty_struct_writes_what_its_row_requires_or_fills_in() {
    for seen in all() {
        let row = &TABLE[seen.index];
        let always = row.fields.iter().filter(|field| field.required || field.default.is_some());
        assert_eq!(seen.written, always.map(|field| field.name).collect::<Vec<_>>(), "{}", row.name);
    }
}

#[test]
fn structs_match_on_the_field_that_their_row_names() {
    for seen in all() {
        let row = &TABLE[seen.index];
        assert_eq!(seen.matcher.is_some(), row.matcher.is_some(), "{}", row.name);
        assert_eq!(seen.agent.is_some(), row.field("agent_id").is_some(), "{}", row.name);
    }
    let filled = Notification { notification_type: "idle".into(), message: "m".into(), ..Default::default() };
    assert_eq!(Payload::matcher_value(&filled), Some("idle"));
}
