//! The log from the outside: what is written down, what is masked, what is read again.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use crosier::payload::{PreToolUse, UserPromptSubmit};
use crosier::{Engine, Event, Hook, Outcome, Reply};
use crosier_log::{Filter, Log, Record, RecordKind, Stats, StoredEvent};
use proptest::prelude::*;
use serde_json::json;

fn fire(command: &str) -> (Event, Outcome) {
    let deny = Hook::on(PreToolUse).named("guard").callback(|event: &PreToolUse| {
        match event.tool_input.text().contains("rm ") {
            true => Reply::deny("no rm here"),
            false => Reply::none(),
        }
    });
    let engine = Engine::builder().hook(deny).timing().build().unwrap();
    let text =
        json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": command}}).to_string();
    let kind = crosier::Catalog::default().find("PreToolUse").unwrap();
    let event = Event::from_json(kind, text.as_bytes()).unwrap();
    let outcome = engine.fire_blocking(&event);
    (event, outcome)
}

fn record(command: &str) -> Record {
    let (event, outcome) = fire(command);
    let mut record = Record::new("claude");
    record.set_event(&event);
    record.add_outcome(&outcome);
    record.set_duration(Duration::from_micros(1_234));
    record
}

fn lab() -> (tempfile::TempDir, Log) {
    let state = tempfile::tempdir().unwrap();
    let log = Log::in_folder(state.path());
    (state, log)
}

#[test]
fn a_record_says_what_happened_and_is_read_as_it_was_written() {
    let (_state, log) = lab();
    let (denied, fine) = (record("rm -rf build"), record("ls"));
    log.append(&denied).unwrap();
    log.append(&fine).unwrap();
    log.append(&Record::command("trust", "trusted /home/ann/project")).unwrap();
    let all = log.read(&Filter::default(), None).unwrap();
    assert_eq!(all[..2], [denied.clone(), fine]);
    assert_eq!(all[2].kind, RecordKind::Command);
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    assert_eq!((text(&denied.session).as_str(), denied.event.as_str()), ("s1", "PreToolUse"));
    assert_eq!((text(&denied.tool).as_str(), text(&denied.input).as_str()), ("Bash", "rm -rf build"));
    assert_eq!((text(&denied.decision).as_str(), text(&denied.by).as_str()), ("deny", "guard"));
    assert_eq!((text(&denied.reason).as_str(), denied.ms), ("no rm here", Some(1.234)));
    assert_eq!(denied.hooks[0].hook, "guard");
    let mut only = Filter::default();
    only.denied = true;
    assert_eq!(log.read(&only, None).unwrap().len(), 1);
    let stats = Stats::of(all);
    assert_eq!((stats.events, stats.denied, stats.denials[0].by.as_str()), (2, 1, "guard"));
    assert_eq!((stats.slowest[0].hook.as_str(), stats.slowest[0].runs), ("guard", 2));
}

#[test]
fn secrets_are_in_no_file() {
    let (state, log) = lab();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let line = format!("rm x; curl -H 'Authorization: Bearer {token}' https://ann:hunter2secret@example.org");
    let (event, outcome) = fire(&line);
    let mut record = record(&line);
    record.note(&format!("could not say: {token}"));
    record.add_outcome(&outcome);
    log.append(&record).unwrap();
    log.store_event(&StoredEvent::of(&record, &event, &[]).unwrap()).unwrap();
    let mut files = 0;
    for file in fs::read_dir(state.path().join("log")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(&token) && !text.contains("hunter2secret"), "{text}");
        files += 1;
    }
    assert_eq!(files, 2);
    // What is kept is still the event: the command is there but for its secrets.
    let kept = log.stored_events().unwrap().remove(0);
    let command = kept.input.get("tool_input").and_then(|input| input.get("command")).unwrap();
    assert!(command.plain().starts_with("rm x; curl -H 'Authorization: "), "{command}");
}

#[test]
fn a_torn_line_hides_only_itself() {
    let (state, log) = lab();
    log.append(&record("one")).unwrap();
    let path = state.path().join("log/log.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"v\":1,\"id\":\"abc\",\"time\":\"2026-11").unwrap();
    log.append(&record("two")).unwrap();
    file.write_all(b"\xff\xfe nonsense\n\n{}\n").unwrap();
    log.append(&record("three")).unwrap();
    let inputs: Vec<_> =
        log.read(&Filter::default(), None).unwrap().into_iter().filter_map(|record| record.input).collect();
    assert_eq!(inputs, ["one", "two", "three"]);
}

#[test]
fn following_sees_every_record_across_rotations() {
    let (state, log) = lab();
    let mut follow = log.follow().unwrap();
    assert!(follow.look().unwrap().is_empty());
    let mut seen = Vec::new();
    for number in 0..20 {
        log.append(&record(&format!("line {number}"))).unwrap();
        if number % 3 == 2 {
            // What a rotation does.
            let folder = state.path().join("log");
            fs::rename(folder.join("log.jsonl"), folder.join("log.jsonl.1")).unwrap();
        }
        if number % 2 == 0 {
            seen.extend(follow.look().unwrap());
        }
    }
    seen.extend(follow.look().unwrap());
    seen.extend(follow.look().unwrap());
    let mut inputs: Vec<_> = seen.into_iter().filter_map(|record| record.input).collect();
    inputs.dedup();
    // Two renames between two looks lose what stood in the file between them; here there is one at most.
    assert_eq!(inputs, (0..20).map(|number| format!("line {number}")).collect::<Vec<_>>());
}

#[test]
fn nothing_is_written_where_nothing_can_be() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("file");
    fs::write(&file, "").unwrap();
    Log::in_folder(&file).append(&record("ls")).unwrap_err();
    assert!(Log::in_folder(&state.path().join("none")).read(&Filter::default(), None).unwrap().is_empty());
}

/// `cargo test --release -p crosier-log -- --ignored --nocapture`
#[test]
#[ignore = "a measurement: it depends on the machine"]
fn a_record_is_cheap() {
    let (_state, log) = lab();
    let (event, outcome) = fire("git commit -m 'a usual message' && cargo test --workspace");
    let rounds = 2_000;
    let started = Instant::now();
    for _ in 0..rounds {
        let mut record = Record::new("claude");
        record.set_event(&event);
        record.add_outcome(&outcome);
        log.append(&record).unwrap();
    }
    let each = started.elapsed() / rounds;
    println!("{each:?} a record");
    assert!(each < Duration::from_micros(300), "{each:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_one_bounded_line(text in "\\PC{0,400}|[\\x00-\\x7f]{0,400}", many in 1..2000_usize) {
        let (state, log) = lab();
        let long = text.repeat(many);
        let mut record = Record::new(&text);
        let event = UserPromptSubmit::new(long.clone());
        record.set_event(&Event::from(event));
        record.set_closed(&long);
        for _ in 0..20 {
            record.note(&long);
        }
        log.append(&record).unwrap();
        let written = fs::read_to_string(state.path().join("log/log.jsonl")).unwrap();
        prop_assert_eq!(written.matches('\n').count(), 1);
        prop_assert!(written.len() <= 64 * 1024, "{} bytes", written.len());
        prop_assert_eq!(log.read(&Filter::default(), None).unwrap(), vec![record]);
    }

    #[test]
    fn any_input_of_a_tool_has_a_short_form(input in "\\PC{0,60}") {
        let event = PreToolUse::new("mcp__x__y", json!({"anything": input}));
        let short = crosier_log::short_input(&Event::from(event)).unwrap();
        prop_assert!(short.chars().count() <= 200);
    }
}
