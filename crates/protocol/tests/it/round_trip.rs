//! Every payload struct goes to the wire and comes back as it was.

use std::fmt::Debug;
use std::sync::Arc;

use crosier_protocol::event::TABLE;
use crosier_protocol::{Defaults, Event, Json, Kind, Payload};

use crate::sample::every_payload;

fn defaults() -> Arc<Defaults> {
    Arc::new(Defaults {
        session_id: "completed".into(),
        cwd: "/completed".into(),
        now: || "2000-01-01T00:00:00.000Z".into(),
    })
}

fn wire_of<P: Payload>(payload: P) -> (Kind, String) {
    let event = Event::from(payload);
    event.complete(&defaults());
    (event.kind().clone(), event.wire().unwrap().to_owned())
}

fn comes_back<P: Payload + PartialEq + Debug>(payload: P) {
    let (kind, wire) = wire_of(payload.clone());
    assert_eq!(kind.index(), P::row().index());
    let again = Event::from_json(kind, wire.as_bytes()).unwrap();
    let mut decoded = again.typed::<P>().unwrap().clone();
    if payload.base().session_id.is_none() {
        // A bare payload was completed on the way; all else must be the same.
        assert_eq!(decoded.base().session_id.as_deref(), Some("completed"));
        assert_eq!(decoded.base().timestamp.as_deref(), Some("2000-01-01T00:00:00.000Z"));
        *decoded.base_mut() = payload.base().clone();
    }
    assert_eq!(decoded, payload);
    assert_eq!(again.matcher_value(), Payload::matcher_value(&payload));
    assert_eq!(again.agent_id(), Payload::agent_id(&payload));
    assert_eq!(*again.shared::<P>().unwrap(), *again.typed::<P>().unwrap());
}

#[test]
fn every_struct_comes_back_from_the_wire_as_it_was() {
    every_payload!(comes_back);
}

#[test]
fn json_of_every_struct_is_the_same_after_a_second_trip() {
    fn same_text<P: Payload>(payload: P) {
        let (kind, wire) = wire_of(payload);
        let again = Event::from_json(kind, wire.as_bytes()).unwrap();
        assert_eq!(again.wire().unwrap(), wire);
    }
    every_payload!(same_text);
}

#[test]
fn a_full_struct_writes_exactly_the_fields_of_its_row_behind_the_base() {
    fn fields<P: Payload>(payload: P) {
        if payload.base().session_id.is_none() {
            return;
        }
        let (kind, wire) = wire_of(payload);
        let entries = Json::parse(&wire).unwrap().entries().unwrap();
        let names: Vec<&str> = entries.iter().skip(9).map(|(name, _)| name.as_str()).collect();
        let row: Vec<&str> =
            kind.fields.iter().map(|field| field.name).filter(|name| *name != "agent_id").collect();
        assert_eq!(names, row, "{}", kind.name);
    }
    every_payload!(fields);
}

#[test]
fn every_row_of_the_table_has_a_payload() {
    thread_local!(static SEEN: std::cell::RefCell<Vec<&'static str>> = const { std::cell::RefCell::new(Vec::new()) });
    fn note<P: Payload>(payload: P) {
        let event = Event::from(payload);
        assert_eq!(event.name(), P::row().name);
        SEEN.with_borrow_mut(|seen| seen.push(event.name()));
    }
    every_payload!(note);
    let mut seen = SEEN.take();
    seen.dedup();
    assert_eq!(seen, TABLE.iter().map(|row| row.name).collect::<Vec<_>>());
}
