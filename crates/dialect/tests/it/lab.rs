//! A call of an agent, the outcome of a hook, and what the agent gets.

use std::path::PathBuf;

use crosier_dialect::{Answer, Call, Read, Verdict, catalog, find, read};
use crosier_protocol::{Event, Json};
use serde_json::Value;

/// The folder of what was recorded.
pub(crate) fn captures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// What an agent sent.
pub(crate) fn capture(agent: &str, name: &str) -> String {
    let path = captures().join(agent).join(format!("{name}.json"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A recorded event, read. The event's name is that of the file, as an installed line gives it.
pub(crate) fn call(agent: &str, name: &str) -> Call {
    sent(agent, Some(name.split('.').next().unwrap()), &capture(agent, name))
}

/// An event, read.
pub(crate) fn sent(agent: &str, word: Option<&str>, text: &str) -> Call {
    let read = read(find(agent).unwrap(), word, text.as_bytes(), &catalog());
    match read {
        Ok(Read::Call(call)) => *call,
        other => panic!("{agent}: {other:?}"),
    }
}

/// A field of the first event that is fired.
pub(crate) fn field(event: &Event, name: &str) -> Value {
    event.get(name).and_then(|value| value.to_value()).unwrap_or_default()
}

/// What the agent gets for this verdict; one input means the first part.
pub(crate) fn says(call: &Call, verdict: Verdict) -> Answer {
    let mut verdict = verdict;
    verdict.inputs.resize(call.events.len(), None);
    call.answer(&verdict)
}

/// The object on stdout.
pub(crate) fn object(answer: &Answer) -> Value {
    match answer.stdout.as_str() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")),
    }
}

pub(crate) fn deny(reason: &str) -> Verdict {
    decide(crosier_protocol::Decision::Deny, reason)
}

pub(crate) fn ask(reason: &str) -> Verdict {
    decide(crosier_protocol::Decision::Ask, reason)
}

pub(crate) fn allow() -> Verdict {
    decide(crosier_protocol::Decision::Allow, "")
}

fn decide(decision: crosier_protocol::Decision, reason: &str) -> Verdict {
    Verdict { decision: Some(decision), reason: reason.to_owned(), ..Verdict::default() }
}

pub(crate) fn context(text: &str) -> Verdict {
    Verdict { context: vec![text.to_owned()], ..Verdict::default() }
}

pub(crate) fn halt(reason: &str) -> Verdict {
    Verdict { halt: Some(reason.to_owned()), ..Verdict::default() }
}

pub(crate) fn resume(reason: &str) -> Verdict {
    Verdict { resume: Some(reason.to_owned()), ..Verdict::default() }
}

pub(crate) fn hide() -> Verdict {
    Verdict { hide: true, ..Verdict::default() }
}

pub(crate) fn input(value: Value) -> Verdict {
    Verdict { inputs: vec![Some(Json::from(value))], ..Verdict::default() }
}

pub(crate) fn output(value: Value) -> Verdict {
    Verdict { output: Some(Json::from(value)), ..Verdict::default() }
}
