//! An event's JSON is made when the first hook asks, once, and again only after a rewrite.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crosier::payload::PreToolUse;
use crosier::{Base, Event, Hook, Json, Mode, Payload, Reply};
use serde::{Deserialize, Serialize, Serializer};

use super::kit::{Diary, engine, json};

/// A tool call that counts how often it is written.
#[derive(Debug, Clone, Default, Deserialize)]
struct Counted {
    #[serde(skip)]
    base: Base,
    tool_name: String,
    tool_input: Json,
    #[serde(skip)]
    written: Arc<AtomicUsize>,
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.written.fetch_add(1, Ordering::Relaxed);
        PreToolUse::new(self.tool_name.clone(), self.tool_input.clone()).serialize(to)
    }
}

impl Payload for Counted {
    fn row() -> &'static crosier::EventRow {
        PreToolUse::row()
    }
    fn base(&self) -> &Base {
        &self.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        Some(&self.tool_name)
    }
}

fn counted() -> (Counted, Arc<AtomicUsize>) {
    let event = Counted { tool_name: "Bash".into(), ..Counted::default() };
    let written = Arc::clone(&event.written);
    (event, written)
}

fn on(name: &str) -> crosier::HookBuilder<crosier::Untyped> {
    Hook::on_event(PreToolUse.kind()).named(name)
}

/// The event that each hook saw, kept with its JSON, so that no place in memory is used twice.
#[derive(Debug, Clone, Default)]
struct Wires(Arc<Mutex<Vec<Event>>>);

impl Wires {
    fn keep(&self, event: &Event) {
        assert!(event.wire().is_ok());
        self.0.lock().unwrap().push(event.clone());
    }

    fn reader(&self, name: &str) -> Hook {
        let wires = self.clone();
        on(name).callback(move |event: &Event| wires.keep(event))
    }

    /// Which of their texts are one and the same, as numbers in the order they were first seen.
    fn seen(&self) -> Vec<usize> {
        let events = self.0.lock().unwrap();
        let place = |event: &Event| event.wire().unwrap().as_ptr();
        let first = |event: &Event| events.iter().position(|other| place(other) == place(event)).unwrap();
        events.iter().map(first).collect()
    }
}

#[test]
fn no_json_is_made_when_no_hook_asks() {
    let engine = engine([
        on("typed").callback(|event: &Event| assert!(event.typed::<Counted>().is_ok())),
        on("names").callback(|event: &Event| {
            assert_eq!(
                (event.name(), event.matcher_value(), event.agent_id()),
                ("PreToolUse", Some("Bash"), None)
            );
            assert!(!event.session_id().is_empty() && event.cwd() == "/" && event.timestamp().ends_with('Z'));
        }),
        on("shared").async_callback(|event: Event| async move { assert!(event.shared::<Counted>().is_ok()) }),
        on("audit").mode(Mode::Observe).callback(|event: &Event| assert!(event.typed::<Counted>().is_ok())),
    ]);
    let (event, written) = counted();
    let outcome = engine.fire_blocking(event);
    assert!(outcome.failures().next().is_none(), "{outcome:?}");
    assert_eq!(written.load(Ordering::Relaxed), 0);
}

#[test]
fn json_is_made_once_for_all_hooks_that_ask() {
    let wires = Wires::default();
    let hooks: Vec<Hook> = (0..10).map(|n| wires.reader(&format!("h{n}"))).collect();
    let (event, written) = counted();
    engine(hooks).fire_blocking(event);
    assert_eq!(wires.seen(), [0; 10]);
    assert_eq!(written.load(Ordering::Relaxed), 1);
}

#[test]
fn json_is_made_again_only_after_a_rewrite() {
    let wires = Wires::default();
    let rewrites = |name: &str| on(name).callback(|_: &Event| Reply::none().rewrite_input(json("{}")));
    let engine = engine([
        wires.reader("a"),
        on("speaks").callback(|_: &Event| Reply::allow("x").context("c")),
        wires.reader("b"),
        rewrites("first"),
        wires.reader("c"),
        wires.reader("d"),
        rewrites("second"),
        rewrites("third"),
        wires.reader("e"),
    ]);
    let (event, written) = counted();
    engine.fire_blocking(event);
    assert_eq!(wires.seen(), [0, 0, 2, 2, 4]);
    // Once for the wire, once to take the payload apart for the first rewrite; never again after that.
    assert_eq!(written.load(Ordering::Relaxed), 2);
}

#[test]
fn a_stage_of_several_hooks_shares_the_json() {
    let wires = Wires::default();
    let hooks = (0..4).map(|n| {
        let wires = wires.clone();
        let together = on(&format!("h{n}")).mode(Mode::Parallel);
        together.blocking_callback(move |event: &Event| wires.keep(event))
    });
    let (event, written) = counted();
    engine(hooks).fire_blocking(event);
    assert_eq!(wires.seen(), [0; 4]);
    assert_eq!(written.load(Ordering::Relaxed), 1);
}

#[test]
fn an_event_that_is_looked_at_before_it_is_fired_is_completed_for_the_hooks() {
    let diary = Diary::default();
    let seen = diary.clone();
    let engine = crosier::Engine::builder()
        .session_id("mine")
        .folder("/project")
        .hook(on("looks").callback(move |event: &Event| {
            seen.note(event.get("session_id").unwrap().plain());
            seen.note(event.get("cwd").unwrap().plain());
        }))
        .build()
        .unwrap();
    let event = Event::from(super::kit::tool("Bash"));
    assert!(event.wire().is_ok());
    engine.fire_blocking(event);
    assert_eq!(diary.lines(), ["mine", "/project"]);
}

#[test]
fn an_engine_has_one_session_of_its_own_for_events_that_name_none() {
    let diary = Diary::default();
    let seen = diary.clone();
    let hook = || {
        let seen = seen.clone();
        on("looks").callback(move |event: &Event| {
            seen.note(event.session_id());
            seen.note(event.get("timestamp").unwrap().plain());
        })
    };
    let (one, other) = (engine([hook()]), engine([hook()]));
    for engine in [&one, &one, &other] {
        engine.fire_blocking(super::kit::tool("Bash"));
    }
    let lines = diary.lines();
    assert_eq!(lines[0], lines[2]);
    assert_ne!(lines[0], lines[4]);
    for time in [&lines[1], &lines[3], &lines[5]] {
        assert!(time.len() == 24 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    }
}
