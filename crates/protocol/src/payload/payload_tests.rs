use std::cell::Cell;

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use super::*;
use crate::event::TABLE;
use crate::json::Json;
use crate::wire::{Defaults, Event};
use crate::{Field, FieldKind};

/// A deserializer that records which fields a struct has, and provides no data.
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

/// Is called with every typed payload once.
pub(super) trait EachPayload {
    fn visit<P: Payload + PartialEq>(&mut self, event: EventOf<P>);
}

/// Declares a check of every typed payload.
macro_rules! check_each {
    ($(#[$attribute:meta])* fn $name:ident<$payload:ident>() $check:block) => {
        $(#[$attribute])*
        fn $name() {
            struct Check;
            impl EachPayload for Check {
                fn visit<$payload: Payload + PartialEq>(&mut self, _: EventOf<$payload>) $check
            }
            each(&mut Check);
        }
    };
}

fn each(visitor: &mut impl EachPayload) {
    agent::each(visitor);
    message::each(visitor);
    session::each(visitor);
    tool::each(visitor);
    file_and_view::each(visitor);
}

#[test]
fn every_row_has_a_struct_of_its_name() {
    struct Names(Vec<&'static str>);
    impl EachPayload for Names {
        fn visit<P: Payload + PartialEq>(&mut self, _: EventOf<P>) {
            let name = std::any::type_name::<P>().rsplit("::").next().unwrap();
            assert_eq!(P::row().name, name);
            self.0.push(name);
        }
    }
    let mut names = Names(Vec::new());
    each(&mut names);
    names.0.sort_unstable();
    let mut rows: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    rows.sort_unstable();
    assert_eq!(names.0, rows);
}

check_each! {
    #[test]
    fn structs_have_the_fields_of_their_rows_in_order<P>() {
        let fields = Cell::new(&[][..]);
        assert!(P::deserialize(Fields(&fields)).is_err());
        let row = P::row();
        let derived = row.derived.map(|(derived, _)| derived);
        let names = row.fields.iter().map(|field| field.name).filter(|name| Some(*name) != derived);
        assert_eq!(fields.get(), names.collect::<Vec<_>>(), "{}", row.name);
    }
}

check_each! {
    #[test]
    fn an_empty_struct_writes_what_its_row_requires_or_fills_in<P>() {
        let row = P::row();
        let written = crate::json::object_entries(&serde_json::to_string(&P::default()).unwrap()).unwrap();
        let written: Vec<String> = written.into_iter().map(|(name, _)| name).collect();
        let always = row.fields.iter().filter(|field| field.required || field.default.is_some());
        assert_eq!(written, always.map(|field| field.name).collect::<Vec<_>>(), "{}", row.name);
    }
}

check_each! {
    #[test]
    fn structs_match_on_the_field_that_their_row_names<P>() {
        let (row, full) = (P::row(), full::<P>());
        let text = |field: &str| full.get(field).map(|json| json.plain().into_owned());
        let payload = full.typed::<P>().unwrap();
        assert_eq!(payload.matcher_value().map(str::to_owned), row.matcher.and_then(text), "{}", row.name);
        assert_eq!(payload.agent_id().map(str::to_owned), text("agent_id"), "{}", row.name);
    }
}

check_each! {
    #[test]
    fn every_struct_comes_back_from_the_wire_as_it_was<P>() {
        comes_back(full::<P>().typed::<P>().unwrap().clone());
        comes_back(P::default());
    }
}

check_each! {
    #[test]
    fn a_full_struct_writes_exactly_the_fields_of_its_row_after_the_base<P>() {
        let (kind, wire) = wire_of(full::<P>().typed::<P>().unwrap().clone());
        let entries = Json::parse(&wire).unwrap().entries().unwrap();
        let names: Vec<&str> = entries.iter().skip(9).map(|(name, _)| name.as_str()).collect();
        let row = kind.fields.iter().map(|field| field.name).filter(|name| *name != "agent_id");
        assert_eq!(names, row.collect::<Vec<_>>(), "{}", kind.name);
    }
}

/// An event with every field of its row, from JSON as a host would write it.
fn full<P: Payload>() -> Event {
    let base = r#""session_id":"s-1","transcript_path":"/t/s-1.jsonl","cwd":"/project","permission_mode":"default","orchestrator_id":"o-1","timestamp":"2026-01-02T03:04:05.006Z""#;
    let derived = P::row().derived.map(|(derived, _)| derived);
    let given = P::row().fields.iter().filter(|field| Some(field.name) != derived);
    let mut members: Vec<String> = given.map(|field| format!("\"{}\":{}", field.name, odd(field))).collect();
    if P::row().field("agent_id").is_none() {
        members.push("\"agent_id\":\"a-1\"".to_owned());
    }
    let json = format!("{{{base},{}}}", members.join(","));
    Event::from_json(EventKind::Static(P::row()), json.as_bytes()).unwrap()
}

/// A value that must keep its digits and the order of its keys.
fn odd(field: &Field) -> String {
    match field.kind {
        FieldKind::Text | FieldKind::TextOrNull => {
            serde_json::to_string(&format!("{} \"quoted\" \\ \u{1F600}\n", field.name)).unwrap()
        }
        FieldKind::Bool => "true".to_owned(),
        FieldKind::Any => {
            r#"{"z":1,"a":123456789012345678901234567890,"t":"\u00e4 \ud83d\ude00\n","n":[null,{}]}"#
                .to_owned()
        }
    }
}

fn wire_of<P: Payload>(payload: P) -> (EventKind, String) {
    let now = || "2000-01-01T00:00:00.000Z".into();
    let defaults = Arc::new(Defaults::new("completed", "/completed", now));
    let event = Event::from(payload);
    event.complete(&defaults);
    (event.kind().clone(), event.wire().unwrap().to_owned())
}

fn comes_back<P: Payload + PartialEq>(payload: P) {
    let (kind, wire) = wire_of(payload.clone());
    assert_eq!(kind.index(), P::row().index());
    let again = Event::from_json(kind, wire.as_bytes()).unwrap();
    assert_eq!(again.wire().unwrap(), wire);
    let mut decoded = again.typed::<P>().unwrap().clone();
    if payload.base().session_id.is_none() {
        // The missing base fields were filled in; everything else must be the same.
        assert_eq!(decoded.base().session_id.as_deref(), Some("completed"));
        assert_eq!(decoded.base().timestamp.as_deref(), Some("2000-01-01T00:00:00.000Z"));
        *decoded.base_mut() = payload.base().clone();
    }
    assert_eq!(decoded, payload);
    assert_eq!(again.matcher_value(), Payload::matcher_value(&payload));
    assert_eq!(again.agent_id(), Payload::agent_id(&payload));
    assert_eq!(*again.shared::<P>().unwrap(), *again.typed::<P>().unwrap());
}
