//! What listeners hear of a command: started, progress while it runs, one response.

use std::fs;
use std::time::{Duration, Instant};

use crosier::{FailureKind, HookEnd, Listener, Message, MessageKind, Received};

use super::lab::{Lab, each_way, event, ms};

/// Waits for a message; none is long in coming.
fn next(listener: &Listener) -> Message {
    match listener.next_within(Duration::from_secs(20)) {
        Some(Received::Message(message)) => message,
        other => panic!("no message, but {other:?}"),
    }
}

/// All that was heard, when nothing more will come.
fn all(listener: &Listener) -> Vec<Message> {
    let heard = std::iter::from_fn(|| listener.try_next());
    heard
        .map(|heard| match heard {
            Received::Message(message) => message,
            Received::Missed(missed) => panic!("{missed} were missed"),
        })
        .collect()
}

fn progress(messages: &[Message]) -> (Vec<String>, Vec<String>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for message in messages {
        if let MessageKind::Progress { stdout, stderr } = &message.kind {
            out.extend((!stdout.is_empty()).then(|| stdout.clone()));
            err.extend((!stderr.is_empty()).then(|| stderr.clone()));
        }
    }
    (out, err)
}

/// What a listener with much room heard of one hook.
fn heard_of(lab: &Lab, line: &str) -> Vec<Message> {
    let engine = lab.engine([lab.shell(line).hook()]);
    let listener = engine.subscribe(100_000);
    lab.fire(&engine, event());
    all(&listener)
}

#[test]
fn a_run_is_told_from_its_start_to_its_end() {
    each_way(|lab| {
        let messages = heard_of(lab, "echo warned >&2; cat deny; exit 3");
        assert!(messages.iter().all(|message| message.hook_id == messages[0].hook_id));
        assert!(messages.iter().all(|message| &*message.hook_name == "guard"));
        assert!(messages.iter().all(|message| message.hook_event == "PreToolUse"));
        assert!(messages.iter().all(|message| &*message.session_id == "s-1"));
        assert_eq!(messages[0].kind, MessageKind::Started);
        let (out, err) = progress(&messages);
        assert_eq!((out.concat(), err.concat()), (lab.read("deny"), "warned\n".to_owned()));
        let response = MessageKind::Response {
            outcome: HookEnd::Success,
            exit_code: Some(3),
            stdout: lab.read("deny"),
            stderr: "warned\n".to_owned(),
        };
        assert_eq!(messages.last().unwrap().kind, response);
        let json = serde_json::to_value(messages.last().unwrap()).unwrap();
        assert_eq!((&json["type"], &json["subtype"]), (&"system".into(), &"hook_response".into()));
        assert_eq!((&json["outcome"], &json["exit_code"]), (&"success".into(), &3.into()));
    });
}

#[test]
fn progress_is_heard_while_the_hook_runs_and_in_whole_lines() {
    each_way(|lab| {
        let answer = lab.fifo("answer");
        let line = "printf 'one\\ntw'; read line < answer; printf 'o\\nthree'; echo no >&2; exit 2";
        let engine = lab.engine([lab.shell(line).hook()]);
        let listener = engine.subscribe(100);
        let fire = lab.start(&engine, event());
        assert_eq!(next(&listener).kind, MessageKind::Started);
        // The hook waits for an answer that comes only when its first line has been heard.
        let first = MessageKind::Progress { stdout: "one\n".to_owned(), stderr: String::new() };
        assert_eq!(next(&listener).kind, first);
        fs::write(answer, "go on\n").unwrap();
        assert_eq!(fire.join().unwrap().reason.as_deref(), Some("no"));
        let (out, err) = progress(&all(&listener));
        assert_eq!((out, err), (vec!["two\n".to_owned(), "three".to_owned()], vec!["no\n".to_owned()]));
    });
}

#[test]
fn a_failure_is_told_as_an_error_with_its_exit_code() {
    each_way(|lab| {
        let messages = heard_of(lab, "echo hello; exit 1");
        let response = MessageKind::Response {
            outcome: HookEnd::Error,
            exit_code: Some(1),
            stdout: "hello\n".to_owned(),
            stderr: String::new(),
        };
        assert_eq!(messages.last().unwrap().kind, response);
    });
}

#[test]
fn a_hook_that_cannot_be_started_is_told_as_an_error_without_an_exit_code() {
    each_way(|lab| {
        let engine = lab.engine([lab.argv(["/no/such/program"]).hook()]);
        let listener = engine.subscribe(100);
        lab.fire(&engine, event());
        let messages = all(&listener);
        let (stdout, stderr) = (String::new(), String::new());
        let response = MessageKind::Response { outcome: HookEnd::Error, exit_code: None, stdout, stderr };
        assert_eq!(messages.iter().map(|m| &m.kind).collect::<Vec<_>>(), [&MessageKind::Started, &response]);
    });
}

#[test]
fn a_timeout_is_told_as_cancelled_with_what_was_written() {
    each_way(|lab| {
        let guard = lab.shell("echo begun; echo warned >&2; sleep 60").timeout(ms(250));
        let engine = lab.engine([guard.hook()]);
        let listener = engine.subscribe(100);
        // A busy machine may be too slow for the hook to have written anything.
        for _ in 0..20 {
            lab.fire(&engine, event());
            let messages = all(&listener);
            let MessageKind::Response { outcome, exit_code, stdout, stderr } = &messages.last().unwrap().kind
            else {
                panic!("{messages:?}");
            };
            assert_eq!((*outcome, *exit_code), (HookEnd::Cancelled, None));
            if (stdout.as_str(), stderr.as_str()) == ("begun\n", "warned\n") {
                return;
            }
        }
        panic!("what the hook wrote was never told");
    });
}

#[test]
fn a_shutdown_is_told_as_cancelled() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell("echo begun; sleep 60").hook()]);
        let listener = engine.subscribe(100);
        let fire = lab.start(&engine, event());
        assert_eq!(next(&listener).kind, MessageKind::Started);
        assert!(matches!(next(&listener).kind, MessageKind::Progress { .. }));
        engine.shut_down();
        fire.join().unwrap();
        let MessageKind::Response { outcome, stdout, .. } = next(&listener).kind else {
            panic!("no response")
        };
        assert_eq!((outcome, stdout.as_str()), (HookEnd::Cancelled, "begun\n"));
    });
}

#[test]
fn a_flood_is_told_in_bounded_messages_up_to_a_limit() {
    each_way(|lab| {
        let messages = heard_of(lab, "head -c 20000000 /dev/zero; head -c 5000000 /dev/zero >&2");
        let (out, err) = progress(&messages);
        for piece in out.iter().chain(&err) {
            assert!(piece.len() <= 32 * 1024, "one message has {} bytes", piece.len());
        }
        for told in [out.concat(), err.concat()] {
            assert!(
                (1 << 20..(1 << 20) + (64 << 10)).contains(&told.len()),
                "{} bytes were told",
                told.len()
            );
        }
        let MessageKind::Response { stdout, stderr, .. } = &messages.last().unwrap().kind else {
            panic!("no response")
        };
        assert_eq!((stdout.len(), stderr.len()), (1 << 20, 64 << 10));
    });
}

#[test]
fn characters_of_a_line_without_an_end_stay_whole_in_progress() {
    each_way(|lab| {
        for space in ["", "x"] {
            let text = format!("{space}{}", "\u{e4}".repeat(100_000));
            lab.write("text", &text);
            let (out, _) = progress(&heard_of(lab, "cat text"));
            assert!(out.len() > 1);
            assert!(out.concat() == text, "a character was broken");
        }
        // What is no text at all is told all the same.
        lab.write("text", [b"a".as_slice(), &[0xff; 20_000], b"b"].concat());
        let (out, _) = progress(&heard_of(lab, "cat text"));
        assert_eq!(out.concat().chars().filter(|c| *c == '\u{fffd}').count(), 20_000);
    });
}

#[test]
fn a_listener_that_does_not_listen_slows_nothing_and_is_told_what_it_missed() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell("yes | head -n 400000; echo no >&2; exit 2").hook()]);
        let listener = engine.subscribe(2);
        let begun = Instant::now();
        assert_eq!(lab.fire(&engine, event()).reason.as_deref(), Some("no"));
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(matches!(
            listener.try_next(),
            Some(Received::Message(Message { kind: MessageKind::Started, .. }))
        ));
        assert!(matches!(listener.try_next(), Some(Received::Message(_))));
        assert!(matches!(listener.try_next(), Some(Received::Missed(missed)) if missed > 1));
        assert!(listener.try_next().is_none());
    });
}

#[test]
fn two_runs_have_two_ids_and_both_phases_of_one_run_have_one() {
    each_way(|lab| {
        let line = r#"test "$CROSIER_ASYNC_PHASE" = 2 && exec cat deny; echo '{"async":true}'"#;
        let engine = lab.engine([lab.shell(line).hook()]);
        let listener = engine.subscribe(100);
        lab.fire(&engine, event());
        let first = all(&listener);
        lab.fire(&engine, event());
        let second = all(&listener);
        for run in [&first, &second] {
            assert!(run.iter().all(|message| message.hook_id == run[0].hook_id));
            let ends = run.iter().filter(|m| matches!(m.kind, MessageKind::Response { .. })).count();
            let starts = run.iter().filter(|m| m.kind == MessageKind::Started).count();
            assert_eq!((starts, ends), (1, 1));
        }
        assert_ne!(first[0].hook_id, second[0].hook_id);
    });
}

#[test]
fn the_end_of_a_second_run_that_does_not_start_is_not_the_end_of_the_first() {
    each_way(|lab| {
        let path = lab.script("hook.sh", "#!/bin/sh\nrm \"$0\"\necho '{\"async\":true}'\n");
        let engine = lab.engine([lab.argv([&path]).hook()]);
        let listener = engine.subscribe(100);
        let outcome = lab.fire(&engine, event());
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Spawn);
        let MessageKind::Response { outcome, exit_code, stdout, .. } =
            &all(&listener).last().unwrap().kind.clone()
        else {
            panic!("no response")
        };
        assert_eq!((*outcome, *exit_code, stdout.as_str()), (HookEnd::Error, None, ""));
    });
}
