//! Messages: what hooks do, told to whoever listens.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Hook, HookEnd, Listener, Message, MessageKind, Mode, Received, Reply};

use super::kit::{PATIENCE, engine, quiet, says, tool};

fn heard(listener: &Listener) -> Vec<Message> {
    std::iter::from_fn(|| listener.try_next())
        .map(|heard| match heard {
            Received::Message(message) => message,
            Received::Missed(count) => panic!("missed {count}"),
        })
        .collect()
}

fn told(messages: &[Message]) -> Vec<(String, &'static str)> {
    let word = |kind: &MessageKind| match kind {
        MessageKind::Started => "started",
        MessageKind::Progress { .. } => "progress",
        MessageKind::Response { outcome: HookEnd::Success, .. } => "success",
        MessageKind::Response { outcome: HookEnd::Error, .. } => "error",
        MessageKind::Response { outcome: HookEnd::Cancelled, .. } => "cancelled",
    };
    messages.iter().map(|message| (message.hook_name.to_string(), word(&message.kind))).collect()
}

fn expected(pairs: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    pairs.iter().map(|(name, word)| ((*name).to_owned(), *word)).collect()
}

#[tokio::test]
async fn every_hook_that_runs_starts_and_ends_in_order() {
    let on = |name: &str| Hook::on(PreToolUse).named(name);
    let engine = engine([
        on("inline").callback(|_: &PreToolUse| ()),
        on("async").async_callback(|_| async {}),
        on("blocking").blocking_callback(|_: &PreToolUse| ()),
        on("panics").callback(|_: &PreToolUse| -> Reply { panic!("x") }),
        on("late").timeout(Duration::from_millis(1)).async_callback(|_| std::future::pending::<()>()),
        on("twice").callback_with(|_: &PreToolUse, call| {
            if call.second { Reply::none() } else { Reply::again(Duration::from_secs(1)) }
        }),
        says("guard", Reply::deny("no")),
        on("skipped").callback(|_: &PreToolUse| ()),
        on("audit").mode(Mode::Observe).callback(|_: &PreToolUse| ()),
    ]);
    let listener = engine.subscribe(100);
    let wanted = expected(&[
        ("inline", "started"),
        ("inline", "success"),
        ("async", "started"),
        ("async", "success"),
        ("blocking", "started"),
        ("blocking", "success"),
        ("panics", "started"),
        ("panics", "error"),
        ("late", "started"),
        ("late", "cancelled"),
        ("twice", "started"),
        ("twice", "success"),
        ("guard", "started"),
        ("guard", "success"),
        ("audit", "started"),
        ("audit", "success"),
    ]);
    engine.fire(tool("Bash")).await;
    assert_eq!(told(&heard(&listener)), wanted);
    engine.fire_blocking(tool("Bash"));
    assert_eq!(told(&heard(&listener)), wanted);
}

#[test]
fn an_id_joins_the_messages_of_one_run_and_no_others() {
    let engine = engine([quiet("a"), quiet("b")]);
    let listener = engine.subscribe(1000);
    for _ in 0..20 {
        engine.fire_blocking(tool("Bash"));
    }
    let messages = heard(&listener);
    assert_eq!(messages.len(), 80);
    let mut ids = HashSet::new();
    for pair in messages.chunks(2) {
        assert_eq!(pair[0].hook_id, pair[1].hook_id);
        assert_eq!(pair[0].hook_name, pair[1].hook_name);
        assert!(ids.insert(Arc::clone(&pair[0].hook_id)), "an id was used twice");
    }
}

#[test]
fn messages_are_written_as_in_the_claude_sdk() {
    let engine = Engine::builder().session_id("s-1").hook(quiet("a")).build().unwrap();
    let listener = engine.subscribe(10);
    engine.fire_blocking(tool("Bash"));
    let messages = heard(&listener);
    let mut values: Vec<Value> = messages.iter().map(Value::of).collect();
    let id = messages[0].hook_id.to_string();
    for value in &mut values {
        let uuid = value.as_object_mut().unwrap().remove("uuid").unwrap();
        assert_eq!(uuid.as_str().unwrap().len(), 36);
    }
    let started = format!(
        r#"{{"type":"system","subtype":"hook_started","hook_id":"{id}","hook_name":"a","hook_event":"PreToolUse","session_id":"s-1"}}"#
    );
    let response = format!(
        r#"{{"type":"system","subtype":"hook_response","hook_id":"{id}","hook_name":"a","hook_event":"PreToolUse","outcome":"success","stdout":"","stderr":"","output":"","session_id":"s-1"}}"#
    );
    assert_eq!(values[0].to_string(), started);
    assert_eq!(values[1].to_string(), response);
    let progress = Message {
        kind: MessageKind::Progress { stdout: "out\n".into(), stderr: "err".into() },
        ..messages[0].clone()
    };
    let value = Value::of(&progress);
    assert_eq!((&value["subtype"], &value["output"]), (&"hook_progress".into(), &"out\nerr".into()));
    let ended = Message {
        kind: MessageKind::Response {
            outcome: HookEnd::Error,
            exit_code: Some(3),
            stdout: "o".into(),
            stderr: "e".into(),
        },
        ..messages[0].clone()
    };
    let value = serde_json::to_value(ended).unwrap();
    assert_eq!((&value["exit_code"], &value["outcome"]), (&3.into(), &"error".into()));
}

#[test]
fn a_slow_listener_is_told_how_many_it_missed() {
    let engine = engine([quiet("a")]);
    for capacity in [1, 2, 3, 7] {
        let (slow, patient) = (engine.subscribe(capacity), engine.subscribe(1000));
        for _ in 0..5 {
            engine.fire_blocking(tool("Bash"));
        }
        let all = heard(&patient);
        assert_eq!(all.len(), 10);
        for message in &all[..capacity] {
            assert_eq!(slow.try_next(), Some(Received::Message(message.clone())));
        }
        assert_eq!(slow.try_next(), Some(Received::Missed(10 - capacity as u64)));
        assert_eq!(slow.try_next(), None);
        // With room again, it hears again.
        engine.fire_blocking(tool("Bash"));
        let next = heard(&patient);
        assert_eq!(slow.try_next(), Some(Received::Message(next[0].clone())));
    }
}

#[test]
fn a_gap_stands_where_it_is_and_nothing_is_counted_twice() {
    let engine = engine([quiet("a")]);
    let (slow, patient) = (engine.subscribe(3), engine.subscribe(10_000));
    let mut order = Vec::new();
    for round in 0..200 {
        engine.fire_blocking(tool("Bash"));
        for _ in 0..round % 4 {
            order.extend(slow.try_next());
        }
    }
    order.extend(std::iter::from_fn(|| slow.try_next()));
    let all = heard(&patient);
    let mut at = 0;
    for heard in order {
        match heard {
            Received::Message(message) => {
                assert_eq!(message, all[at]);
                at += 1;
            }
            Received::Missed(count) => at += usize::try_from(count).unwrap(),
        }
    }
    assert_eq!(at, all.len());
}

#[test]
fn a_listener_gets_nothing_from_before_it_listened_or_after_it_is_gone() {
    let engine = engine([quiet("a")]);
    engine.fire_blocking(tool("Bash"));
    let first = engine.subscribe(10);
    let second = engine.subscribe(10);
    engine.fire_blocking(tool("Bash"));
    drop(first);
    engine.fire_blocking(tool("Bash"));
    assert_eq!(heard(&second).len(), 4);
    drop(second);
    engine.fire_blocking(tool("Bash"));
    let third = engine.subscribe(10);
    assert_eq!(third.try_next(), None);
}

#[test]
fn an_outcome_is_the_same_whether_somebody_listens_or_not() {
    let engine = engine([says("a", Reply::ask("sure?").context("c")), quiet("b")]);
    let alone = engine.fire_blocking(tool("Bash"));
    let _listener = engine.subscribe(1);
    assert_eq!(engine.fire_blocking(tool("Bash")), alone);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_fire_is_told_as_cancelled() {
    let engine = engine([Hook::on(PreToolUse).named("w").async_callback(|_| std::future::pending::<()>())]);
    let listener = engine.subscribe(10);
    let fired = tokio::time::timeout(Duration::from_secs(1), engine.fire(tool("Bash"))).await;
    assert!(fired.is_err());
    assert_eq!(told(&heard(&listener)), expected(&[("w", "started"), ("w", "cancelled")]));
}

#[tokio::test]
async fn a_listener_can_be_awaited_until_the_engine_is_gone() {
    let engine = engine([quiet("a")]);
    let listener = engine.subscribe(10);
    let count = tokio::spawn(async move {
        let mut count = 0;
        while listener.next().await.is_some() {
            count += 1;
        }
        count
    });
    for _ in 0..3 {
        engine.fire(tool("Bash")).await;
        tokio::task::yield_now().await;
    }
    drop(engine);
    assert_eq!(count.await.unwrap(), 6);
}

#[test]
fn a_listener_can_wait_on_a_thread() {
    let engine = engine([quiet("a")]);
    let listener = engine.subscribe(10);
    assert_eq!(listener.next_within(Duration::from_millis(1)), None);
    let waiting = std::thread::spawn(move || {
        let first = listener.next_within(Duration::MAX);
        let second = listener.next_within(PATIENCE);
        (first.is_some(), second.is_some(), listener.next_within(Duration::MAX).is_none())
    });
    engine.fire_blocking(tool("Bash"));
    drop(engine);
    assert_eq!(waiting.join().unwrap(), (true, true, true));
}

#[test]
fn background_hooks_are_told_too() {
    let hook = Hook::on(PreToolUse).named("bg").mode(Mode::Background).callback(|_: &PreToolUse| ());
    let engine = engine([hook]);
    let listener = engine.subscribe(10);
    engine.fire_blocking(tool("Bash"));
    let messages: Vec<Message> = (0..2)
        .map(|_| match listener.next_within(PATIENCE) {
            Some(Received::Message(message)) => message,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told(&messages), expected(&[("bg", "started"), ("bg", "success")]));
}
