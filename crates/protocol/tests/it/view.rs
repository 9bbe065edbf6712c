//! The payload as its struct, and what happens when it does not fit.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crosier_protocol::payload::{PreToolUse, Stop};
use crosier_protocol::{Base, Event, EventKind, FailureKind, Json, Payload};

use crate::sample::tool_call;

#[test]
fn a_look_with_the_wrong_type_does_not_spoil_the_right_one() {
    let json = br#"{"tool_name":"Bash","tool_input":{}}"#;
    let read = Event::from_json(EventKind::Static(PreToolUse::row()), json).unwrap();
    for event in [Event::from(tool_call()), read] {
        assert_eq!(event.typed::<Stop>().unwrap_err().kind, FailureKind::Delivery);
        assert_eq!(event.shared::<Stop>().unwrap_err().kind, FailureKind::Delivery);
        assert_eq!(event.typed::<PreToolUse>().unwrap().tool_name, "Bash");
        assert_eq!(event.shared::<PreToolUse>().unwrap().tool_name, "Bash");
        assert!(event.typed::<Stop>().is_err());
    }
}

#[test]
fn a_struct_is_handed_out_without_a_copy() {
    let event = Event::from(tool_call());
    let (first, again) = (event.typed::<PreToolUse>().unwrap(), event.typed::<PreToolUse>().unwrap());
    assert!(std::ptr::eq(first, again));
    assert!(std::ptr::eq(&raw const *event.shared::<PreToolUse>().unwrap(), &raw const *first));
}

#[test]
fn a_struct_read_from_json_has_the_completed_base() {
    let json = br#"{"session_id":"s","tool_name":"Bash","tool_input":{},"agent_id":"a","cwd":"/w"}"#;
    let event = Event::from_json(EventKind::Static(PreToolUse::row()), json).unwrap();
    let base = &event.typed::<PreToolUse>().unwrap().base;
    assert_eq!(base.session_id.as_deref(), Some("s"));
    assert_eq!(base.agent_id.as_deref(), Some("a"));
    assert_eq!(base.cwd.as_deref(), Some("/w"));
    assert_eq!(base.transcript_path.as_deref(), Some(""));
}

/// A host's own struct for a built-in event, whose JSON cannot be made.
#[derive(Debug, Clone, Default)]
struct Unwritable {
    base: Base,
}

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("no"))
    }
}

impl<'de> Deserialize<'de> for Unwritable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("no"))
    }
}

impl Payload for Unwritable {
    fn row() -> &'static crosier_protocol::EventRow {
        PreToolUse::row()
    }
    fn base(&self) -> &Base {
        &self.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        Some("Bash")
    }
}

#[test]
fn a_payload_that_cannot_be_written_is_a_delivery_failure_also_after_a_rewrite() {
    let event = Event::from(Unwritable::default());
    let rewritten = event.rewritten("tool_input", Json::parse("{}").unwrap());
    let extended = rewritten.with_extra("outcome", Json::null());
    for event in [event, rewritten, extended] {
        assert_eq!(event.wire().unwrap_err().kind, FailureKind::Delivery);
        assert_eq!(event.typed::<PreToolUse>().unwrap_err().kind, FailureKind::Delivery);
        assert_eq!(event.get("tool_input"), None);
        assert_eq!(event.matcher_value(), Some("Bash"));
    }
}
