//! A host's JSON is read strictly: what is missing or wrong is named.

use crosier_protocol::event::TABLE;
use crosier_protocol::{Event, EventError, EventKind, FieldKind, Json};

use crate::sample::{fields, object};

fn kind(name: &str) -> EventKind {
    EventKind::Static(TABLE.iter().find(|row| row.name == name).unwrap())
}

fn refused(name: &str, json: &str) -> EventError {
    Event::from_json(kind(name), json.as_bytes()).unwrap_err()
}

/// Values that do not fit a field of this kind.
fn misfits(kind: FieldKind) -> &'static [&'static str] {
    match kind {
        FieldKind::Text => &["1", "true", "[]", "{}", "null", "1e5"],
        FieldKind::TextOrNull => &["1", "true", "[]", "{}"],
        FieldKind::Bool => &["1", "\"true\"", "[]", "{}", "null", "0"],
        _ => &[],
    }
}

#[test]
fn a_full_object_of_every_row_is_accepted() {
    for row in TABLE {
        let event = Event::from_json(EventKind::Static(row), object(&fields(row)).as_bytes()).unwrap();
        assert_eq!(event.name(), row.name);
    }
}

#[test]
fn each_required_field_is_named_when_it_is_missing() {
    let mut tried = 0;
    for row in TABLE {
        for field in row.fields.iter().filter(|field| field.required) {
            let mut members = fields(row);
            members.retain(|(name, _)| name != field.name);
            let error = refused(row.name, &object(&members));
            let wanted = EventError::MissingField {
                event: row.name.to_owned(),
                field: field.name.to_owned(),
                wanted: field.kind.wanted(),
            };
            assert_eq!(error, wanted);
            let text = error.to_string();
            assert!(text.contains(row.name) && text.contains(&format!("`{}`", field.name)), "{text}");
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn each_optional_field_may_be_absent_or_null() {
    for row in TABLE {
        for field in row.fields.iter().filter(|field| !field.required) {
            let mut members = fields(row);
            let place = members.iter().position(|(name, _)| name == field.name).unwrap();
            members[place].1 = Json::null();
            assert!(
                Event::from_json(EventKind::Static(row), object(&members).as_bytes()).is_ok(),
                "{}",
                field.name
            );
            members.remove(place);
            assert!(
                Event::from_json(EventKind::Static(row), object(&members).as_bytes()).is_ok(),
                "{}",
                field.name
            );
        }
    }
}

#[test]
fn each_field_of_a_wrong_type_is_named() {
    let mut tried = 0;
    for row in TABLE {
        for field in row.fields {
            for &misfit in misfits(field.kind) {
                if misfit == "null" && (!field.required || field.name == "agent_id") {
                    continue;
                }
                let mut members = fields(row);
                let member = members.iter_mut().find(|(name, _)| name == field.name).unwrap();
                member.1 = Json::parse(misfit).unwrap();
                match refused(row.name, &object(&members)) {
                    EventError::WrongType { field: named, found, .. } => {
                        assert_eq!(named, field.name);
                        assert_eq!(found, Json::parse(misfit).unwrap().kind_word());
                    }
                    other => panic!("{} {}: {other:?}", row.name, field.name),
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn each_base_field_of_a_wrong_type_is_named() {
    for field in [
        "session_id",
        "transcript_path",
        "cwd",
        "permission_mode",
        "hook_event_name",
        "hook_type",
        "agent_id",
        "orchestrator_id",
        "timestamp",
    ] {
        let error = refused("Stop", &format!("{{\"{field}\":[1]}}"));
        let wanted =
            EventError::WrongType { field: field.to_owned(), wanted: "text or null", found: "a list" };
        assert_eq!(error, wanted);
        assert!(
            Event::from_json(kind("Stop"), format!("{{\"{field}\":null}}").as_bytes()).is_ok(),
            "{field}"
        );
    }
}

#[test]
fn an_event_that_says_it_is_another_one_is_refused() {
    for field in ["hook_event_name", "hook_type"] {
        let error = refused("Stop", &format!("{{\"{field}\":\"PreToolUse\"}}"));
        let event = "Stop".to_owned();
        assert_eq!(error, EventError::OtherEvent { event, field, found: "PreToolUse".to_owned() });
    }
    for name in ["PreToolUse", "pre:tool"] {
        let json = format!(r#"{{"hook_event_name":"{name}","tool_name":"Bash","tool_input":{{}}}}"#);
        let event = Event::from_json(kind("PreToolUse"), json.as_bytes()).unwrap();
        assert_eq!(event.get("hook_event_name").unwrap().text(), "\"PreToolUse\"");
    }
}

#[test]
fn a_field_that_stands_there_twice_is_refused_also_when_it_is_spelled_otherwise() {
    let twice = [
        r#"{"tool_name":"Read","tool_name":"Bash","tool_input":{}}"#,
        r#"{"tool_name":"Read","tool_n\u0061me":"Bash","tool_input":{}}"#,
        r#"{"tool_name":"Bash","tool_input":{},"x":1,"x":2}"#,
    ];
    for json in twice {
        assert!(matches!(refused("PreToolUse", json), EventError::DuplicateField { .. }), "{json}");
    }
}

#[test]
fn empty_input_is_an_empty_object() {
    for input in ["", " \n\t ", "{}"] {
        assert!(Event::from_json(kind("Stop"), input.as_bytes()).is_ok());
    }
    assert!(matches!(refused("PreToolUse", ""), EventError::MissingField { .. }));
}

#[test]
fn what_is_no_object_is_refused_with_what_it_is() {
    for (json, found) in
        [("[]", "a list"), ("\"x\"", "text"), ("1", "a number"), ("null", "null"), ("true", "true or false")]
    {
        assert_eq!(refused("Stop", json), EventError::NotAnObject { found });
    }
    for json in ["{", "{}x", "{}{}", "nul", "{'a':1}", "\u{feff}{}", "{\"a\":}", "{\"a\":1,}"] {
        assert!(matches!(refused("Stop", json), EventError::NotJson { .. }), "{json}");
    }
    let error = Event::from_json(kind("Stop"), b"{\"a\": \"\xff\"}").unwrap_err();
    assert_eq!(error, EventError::NotUtf8 { at: 7 });
}
