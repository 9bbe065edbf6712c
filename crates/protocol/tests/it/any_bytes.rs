//! Whatever bytes a host hands over: an event or a typed error, never a panic, and never a lie.

use crosier_protocol::event::TABLE;
use crosier_protocol::{Event, EventKind, Json};
use proptest::prelude::*;

use crate::sample::{fields, object};

/// What must hold for anything that was accepted.
fn is_sound(event: &Event) -> Result<(), TestCaseError> {
    let wire = event.wire().map_err(|failure| TestCaseError::fail(failure.to_string()))?;
    let json = Json::parse(wire).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let entries = json.entries().ok_or_else(|| TestCaseError::fail("not an object"))?;
    for field in event.kind().fields.iter().filter(|field| field.required) {
        let found = entries.iter().filter(|(name, _)| name == field.name).count();
        prop_assert_eq!(found, 1, "{} in {}", field.name, wire);
    }
    prop_assert_eq!(event.matcher_value().is_some(), event.kind().matcher.is_some());
    Ok(())
}

/// JSON of any shape, as text.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"(\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}){1,3}\"",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((any::<String>(), inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap()))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_an_error(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), place in 0..TABLE.len(),
    ) {
        if let Ok(event) = Event::from_json(EventKind::Static(&TABLE[place]), &bytes) {
            is_sound(&event)?;
        }
    }

    #[test]
    fn any_text_that_looks_like_json_is_an_event_or_an_error(
        text in r#"\{[\[\]{}",:a-z0-9 \\_.\-u]{0,80}\}"#, place in 0..TABLE.len(),
    ) {
        if let Ok(event) = Event::from_json(EventKind::Static(&TABLE[place]), text.as_bytes()) {
            is_sound(&event)?;
        }
    }

    #[test]
    fn a_right_object_with_anything_broken_is_an_event_or_an_error(
        place in 0..TABLE.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = object(&fields(&TABLE[place])).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(event) = Event::from_json(EventKind::Static(&TABLE[place]), &bytes) {
            is_sound(&event)?;
        }
    }

    /// Any value in any place of any event: accepted values come out as they went in.
    #[test]
    fn any_value_in_any_field_is_kept_or_refused(
        place in 0..TABLE.len(),
        at in any::<prop::sample::Index>(),
        value in any_json(),
        extra in any_json(),
    ) {
        let row = &TABLE[place];
        let mut members = fields(row);
        members.push(("x-mine".to_owned(), Json::parse(&extra).unwrap()));
        let at = at.index(members.len());
        members[at].1 = Json::parse(&value).unwrap();
        let (name, value) = members[at].clone();
        if let Ok(event) = Event::from_json(EventKind::Static(row), object(&members).as_bytes()) {
            is_sound(&event)?;
            let derived = row.derived.is_some_and(|(derived, _)| derived == name);
            let defaulted = value.is_null() && row.field(&name).is_some_and(|field| field.default.is_some());
            if !derived && !defaulted && name != "agent_id" {
                prop_assert_eq!(event.get(&name).unwrap().text().to_owned(), value.text().to_owned());
            }
        } else {
            prop_assert_ne!(name.as_str(), "x-mine");
            prop_assert!(row.field(&name).is_some_and(|field| !field.kind.fits(value.text())));
        }
    }
}
