//! A log survives being cut off, and shows when it was changed.

use std::fs;
use std::path::Path;

use crosier::config::Loader;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Catalog, Engine};

use super::{Anchors, Audit, Entry, Log, ProblemKind, Protection, Settings, read, stats, verify};
use crate::permissions::Permissions;

fn fill(log: &Log, count: usize) {
    for index in 0..count {
        log.append(|line| line.push_str(&format!(",\"event\":\"E{index}\",\"note\":\"\\\"x\\\"\""))).unwrap();
    }
}

fn records(path: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    read(path, |entry| {
        if let Entry::Record(record) = entry {
            all.push(record);
        }
        true
    })
    .unwrap();
    all
}

#[test]
fn a_whole_log_verifies_and_tells_its_last_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/audit.jsonl");
    fill(&Log::new(&path, Settings::default()), 5);
    fill(&Log::new(&path, Settings::default()), 5);
    let verified = verify(&path, None, None).unwrap();
    assert_eq!((verified.records, verified.torn_bytes, verified.problem), (10, 0, None));
    let last = verified.last_hash.unwrap();
    assert_eq!(verify(&path, Some(&last), None).unwrap().contains, Some(true));
    assert_eq!(verify(&path, Some(&"f".repeat(64)), None).unwrap().contains, Some(false));
    let all = records(&path);
    assert_eq!(all[9]["prev"], all[8]["hash"]);
    assert_eq!(all[9]["seq"], 10);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn cut_at_every_byte_it_verifies_up_to_the_last_complete_record_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    fill(&Log::new(&path, Settings::default()), 4);
    let whole = fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let complete = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        let verified = verify(&path, None, None).unwrap();
        assert_eq!(verified.problem, None, "cut at {cut}");
        assert_eq!(verified.records, complete as u64, "cut at {cut}");
        let rest = cut - whole[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert_eq!(verified.torn_bytes, rest as u64, "cut at {cut}");
        // The next process continues after it, and everything still verifies.
        fill(&Log::new(&path, Settings::default()), 2);
        let after = verify(&path, None, None).unwrap();
        assert_eq!((after.problem, after.torn_bytes), (None, 0), "cut at {cut}");
        let kept = complete + usize::from(cut < whole.len() && whole[cut] == b'\n');
        assert_eq!(after.records, kept as u64 + 2, "cut at {cut}");
        assert_eq!(after.torn_records, u64::from(kept == complete && rest > 0), "cut at {cut}");
    }
}

#[test]
fn a_changed_byte_is_found_and_located() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    fill(&Log::new(&path, Settings::default()), 4);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for change in [1_u8, 0x20, 0x80, whole[at] ^ b'\n'] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            if bytes == whole {
                continue;
            }
            fs::write(&path, &bytes).unwrap();
            let problem = verify(&path, None, None).unwrap().problem;
            let problem =
                problem.unwrap_or_else(|| panic!("byte {at} was changed by {change} and nobody noticed"));
            let line = whole[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            assert_eq!((problem.line, problem.record), (line, line), "byte {at} changed by {change}");
            let start = whole[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            assert_eq!(problem.offset, start as u64, "byte {at}");
        }
    }
}

#[test]
fn removed_inserted_and_reordered_records_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    fill(&Log::new(&path, Settings::default()), 4);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (order, line) in [(vec![0, 2, 3], 2), (vec![0, 1, 1, 2, 3], 3), (vec![0, 2, 1, 3], 2)] {
        let changed: String = order.iter().map(|index| lines[*index]).collect();
        fs::write(&path, changed).unwrap();
        let problem = verify(&path, None, None).unwrap().problem.unwrap();
        assert_eq!(problem.line, line, "{order:?}");
        assert!(matches!(problem.kind, ProblemKind::Broken { .. }));
    }
    // Without its beginning it looks like a log whose older files are gone: that is reported.
    fs::write(&path, lines[2..].concat()).unwrap();
    assert_eq!(verify(&path, None, None).unwrap().begins_at, Some(3));
}

#[test]
fn it_rotates_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let settings = Settings { max_size: 600, ..Settings::default() };
    fill(&Log::new(&path, settings), 10);
    fill(&Log::new(&path, settings), 10);
    let verified = verify(&path, None, None).unwrap();
    assert!(verified.files.len() > 3, "{:?}", verified.files);
    assert_eq!((verified.records, verified.problem), (20, None));
    assert_eq!(records(&path).len(), 20);
    // A change in an old file is found there.
    let old = &verified.files[1];
    let text = fs::read_to_string(old).unwrap().replacen("E", "F", 1);
    fs::write(old, text).unwrap();
    let problem = verify(&path, None, None).unwrap().problem.unwrap();
    assert_eq!((&problem.file, problem.line), (old, 1));
}

#[test]
fn old_files_go_when_only_some_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    fill(&Log::new(&path, Settings { max_size: 400, keep: Some(2), ..Settings::default() }), 20);
    let verified = verify(&path, None, None).unwrap();
    assert!(verified.files.len() <= 3 && verified.problem.is_none());
    assert!(verified.begins_at.is_some());
}

#[test]
fn several_writers_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            // Each thread opens its own files, as another process would.
            scope.spawn(|| fill(&Log::new(&path, Settings { max_size: 20_000, ..Settings::default() }), 250));
        }
    });
    let verified = verify(&path, None, None).unwrap();
    assert_eq!((verified.records, verified.problem), (1000, None));
}

#[test]
fn a_keyed_log_is_rotated_shortened_and_still_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let anchors = Some(Anchors::in_state_folder(&folder.path().join("state")));
    let path = folder.path().join("audit.jsonl");
    let settings = Settings { max_size: 2_000, keep: Some(2), ..Settings::default() };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| fill(&Log::new(&path, settings).anchored(anchors.clone()), 40));
        }
    });
    let verified = verify(&path, None, anchors.as_ref()).unwrap();
    assert_eq!((verified.problem, verified.protection), (None, Protection::KeyAndHead));
    // A renamed file that is missing was not removed by the log's own rotation.
    let mut old: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    old.retain(|path| path.to_string_lossy().contains("audit.jsonl.0"));
    old.sort();
    fs::remove_file(&old[0]).unwrap();
    let problem = verify(&path, None, anchors.as_ref()).unwrap().problem.unwrap();
    assert!(matches!(problem.kind, ProblemKind::BeginsLate { .. }), "{problem:?}");
}

#[test]
fn a_log_may_be_one_record_ahead_of_its_head_and_never_behind() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let anchors = Some(Anchors::in_state_folder(&state));
    let path = folder.path().join("audit.jsonl");
    fill(&Log::new(&path, Settings::default()).anchored(anchors.clone()), 2);
    let mut heads = fs::read_dir(state.join("audit")).unwrap().flatten().map(|entry| entry.path());
    let head = heads.find(|path| path.extension().is_some_and(|end| end == "head")).unwrap();
    let two = fs::read(&head).unwrap();
    fill(&Log::new(&path, Settings::default()).anchored(anchors.clone()), 1);
    // The state that a process leaves when it is killed between the two writes.
    fs::write(&head, &two).unwrap();
    assert_eq!(verify(&path, None, anchors.as_ref()).unwrap().problem, None);
    fill(&Log::new(&path, Settings::default()).anchored(anchors.clone()), 1);
    let verified = verify(&path, None, anchors.as_ref()).unwrap();
    assert_eq!((verified.records, verified.problem), (4, None));
    // A changed head is not accepted, and neither is a missing one.
    let mut forged = fs::read(&head).unwrap();
    forged[40] ^= 1;
    fs::write(&head, forged).unwrap();
    assert!(verify(&path, None, anchors.as_ref()).is_err());
    fs::remove_file(&head).unwrap();
    let problem = verify(&path, None, anchors.as_ref()).unwrap().problem.unwrap();
    assert_eq!(problem.kind, ProblemKind::NoHead);
}

#[test]
fn what_is_required_and_cannot_be_written_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let config = |event: &str| {
        let hook = json!({"type": "builtin", "handler": "audit",
            "options": {"required": true, "file": "file/audit.jsonl"}});
        let config = json!({"hooks": {event: [hook]}}).to_string();
        Loader::new(Catalog::default())
            .builtin(Audit::default())
            .text("hooks.yaml", &config, folder.path())
            .load()
    };
    let engine = Engine::builder().config(config("PreToolUse").unwrap()).build().unwrap();
    let fire = || {
        let event = engine.event("PreToolUse", br#"{"tool_name":"Read","tool_input":{}}"#).unwrap();
        engine.fire_blocking(event)
    };
    assert_eq!(fire().decision, None);
    fs::remove_dir_all(folder.path().join("file")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let outcome = fire();
    assert!(outcome.is_denied() && outcome.reason.unwrap_or_default().contains("audit log"));
    assert!(config("Notification").unwrap_err().to_string().contains("cannot be denied"));
}

fn engine(folder: &Path, options: &Value) -> Engine {
    let config = json!({"hooks": {
        "PreToolUse": [
            {"name": "guard", "matcher": "Bash", "type": "builtin", "handler": "permissions", "options": {"deny": ["Bash(echo *)"]}},
            {"name": "log", "observe": true, "type": "builtin", "handler": "audit", "options": options}],
        "Stop": [{"observe": true, "type": "builtin", "handler": "audit", "options": options}],
    }});
    let loader = Loader::new(Catalog::default()).builtin(Audit::default()).builtin(Permissions);
    let config = loader.text("hooks.yaml", &config.to_string(), folder).load().unwrap();
    Engine::builder().config(config).session_id("s1").build().unwrap()
}

fn fire(engine: &Engine, name: &str, input: &Value) {
    let outcome = engine.fire_blocking(engine.event(name, input.to_string().as_bytes()).unwrap());
    assert_eq!(outcome.failures().count(), 0, "{outcome:?}");
}

#[test]
fn events_are_written_without_their_payload() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), &json!({}));
    fire(
        &engine,
        "PreToolUse",
        &json!({"tool_name": "Bash", "tool_input": {"command": "echo hunter2secret"}}),
    );
    fire(
        &engine,
        "PreToolUse",
        &json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "agent_id": "a1"}),
    );
    fire(&engine, "Stop", &json!({}));
    let path = folder.path().join("audit.jsonl");
    assert!(!fs::read_to_string(&path).unwrap().contains("hunter2secret"));
    let all = records(&path);
    assert_eq!(all[0]["event"], "PreToolUse");
    assert_eq!(all[0]["tool_name"], "Bash");
    assert_eq!(all[0]["decision"], "deny");
    assert_eq!(all[0]["by"], "guard");
    assert_eq!(all[0]["session"], "s1");
    assert_eq!(all[0]["hooks"][0]["decision"], "deny");
    assert_eq!(all[0]["payload"]["tool_input"]["keys"], json!(["command"]));
    assert_eq!(all[0]["payload"]["tool_input"]["bytes"], 32);
    assert_eq!((&all[1]["agent"], &all[1]["decision"]), (&json!("a1"), &Value::Null));
    assert_eq!(all[2]["event"], "Stop");
    assert_eq!(verify(&path, None, None).unwrap().records, 3);
    let stats = stats(&path).unwrap();
    assert_eq!((stats.records, stats.sessions, stats.events["PreToolUse"].deny), (3, 1, 1));
    assert_eq!((stats.tools["Bash"].total, stats.hooks["guard"].deny), (1, 1));
}

#[test]
fn a_full_payload_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), &json!({"payload": "full", "fsync": "always"}));
    let token = format!("gh{}_{}", "p", "Ab1".repeat(12));
    fire(
        &engine,
        "PreToolUse",
        &json!({"tool_name": "Read", "tool_input": {"note": format!("use {token}\nnow")}}),
    );
    let text = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    assert!(!text.contains(&token) && text.contains("use ghp_****") && text.lines().count() == 1);
}

#[test]
fn it_must_observe() {
    let config = json!({"hooks": {"PreToolUse": [{"type": "builtin", "handler": "audit"}]}}).to_string();
    let loader = Loader::new(Catalog::default()).builtin(Audit::default());
    let problems = loader.text("hooks.yaml", &config, "/").load().unwrap_err().to_string();
    assert!(problems.contains("observe: true"), "{problems}");
}

#[test]
fn a_log_that_cannot_be_written_is_a_failure_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), &json!({"file": "hooks.yaml/audit.jsonl"}));
    fs::write(folder.path().join("hooks.yaml"), "").unwrap();
    let event = engine.event("PreToolUse", br#"{"tool_name":"Read","tool_input":{}}"#).unwrap();
    let outcome = engine.fire_blocking(event);
    assert_eq!((outcome.decision, outcome.failures().count()), (None, 1));
}
