//! `crosier audit`: what the hook wrote is shown, counted, and found out when it was changed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use serde_json::{Value, json};

use crate::lab::{BASH, Lab, Ran, finish, mode, wait_until};

const CONFIG: &str = "
hooks:
  PreToolUse:
    - {name: guard, matcher: Bash, reply: {decision: deny, reason: no shell here}}
    - {name: log, observe: true, type: builtin, handler: audit}
";

/// A lab in which three events were fired: two were denied.
fn lab() -> Lab {
    let lab = Lab::with(CONFIG).without_state();
    for event in [BASH, r#"{"tool_name": "Read", "tool_input": {}, "agent_id": "a1"}"#, BASH] {
        lab.feed(&["fire", "PreToolUse"], event).exits(0);
    }
    lab
}

#[test]
fn a_log_as_it_was_written_verifies() {
    let lab = lab();
    let ran = lab.run(&["audit", "verify"]).exits(0);
    ran.says("audit.jsonl: 3 records, the chain is intact\n").says("last hash: ");
    let found = lab.run(&["audit", "verify", "--json"]).exits(0).json();
    assert_eq!((&found["ok"], &found["records"], &found["problem"]), (&json!(true), &json!(3), &Value::Null));
    let hash = found["last_hash"].as_str().unwrap().to_owned();
    lab.run(&["audit", "verify", "--contains", &hash]).exits(0).says("is in it");
    // Records that are gone from the end are missed by whoever kept the hash.
    let text = lab.read("audit.jsonl");
    let two: String = text.split_inclusive('\n').take(2).collect();
    lab.write("audit.jsonl", &two);
    lab.run(&["audit", "verify"]).exits(0).says("2 records");
    lab.run(&["audit", "verify", "--contains", &hash]).exits(1).says("records are missing");
}

/// A lab with a state folder, so that the chain has a key.
fn run_with_state(lab: &Lab, args: &[&str], input: &str) -> Ran {
    let mut command = lab.command(args);
    let mut child = command.env("XDG_STATE_HOME", lab.state("").parent().unwrap()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    finish(child, Instant::now())
}

#[test]
fn a_cut_end_and_a_forged_record_show() {
    let lab = Lab::with(CONFIG).without_state();
    for _ in 0..3 {
        run_with_state(&lab, &["fire", "PreToolUse"], BASH).exits(0);
    }
    let verify = || run_with_state(&lab, &["audit", "verify"], "");
    verify().exits(0).says("3 records, the chain is intact").says("protected by a key and by its end");
    assert_eq!(mode(&lab.state("audit/key")), 0o600);
    assert_eq!((mode(&lab.state("")), mode(&lab.state("audit"))), (0o700, 0o700));
    // Its end is cut: that shows at once, and for ever after.
    let text = lab.read("audit.jsonl");
    let two: String = text.split_inclusive('\n').take(2).collect();
    lab.write("audit.jsonl", &two);
    verify().exits(1).says("the log had records up to 3: its end was removed or rewritten");
    run_with_state(&lab, &["fire", "PreToolUse"], BASH).exits(0);
    verify().exits(1).says("record 4 does not follow record 2");
    // The log is gone as a whole.
    fs::remove_file(lab.path("audit.jsonl")).unwrap();
    verify().exits(1).says("the log had records up to 4");
    // A chain that holds without the key was written by somebody else.
    lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    verify().exits(1).says("not made with the key of this machine");
}

#[test]
fn a_log_behind_a_link_or_a_key_for_all_is_refused() {
    let lab = Lab::with(
        "hooks:\n  PreToolUse:\n    - {name: log, type: builtin, handler: audit, options: {required: true}}\n",
    );
    run_with_state(&lab, &["fire", "PreToolUse", "--exit-code"], BASH).exits(0);
    let key = lab.state("audit/key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let ran = run_with_state(&lab, &["fire", "PreToolUse", "--exit-code"], BASH).exits(2);
    ran.complains("others can read or write it");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(lab.path("audit.jsonl"), lab.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(lab.path("elsewhere"), lab.path("audit.jsonl")).unwrap();
    let before = lab.read("elsewhere");
    let ran = run_with_state(&lab, &["fire", "PreToolUse", "--exit-code"], BASH).exits(2);
    ran.complains("the audit log is required and cannot be written").complains("symbolic link");
    assert_eq!(lab.read("elsewhere"), before);
}

#[test]
fn a_change_is_1_with_file_line_and_record() {
    let lab = lab();
    let changed = lab.read("audit.jsonl").replacen("\"Read\"", "\"Raed\"", 1);
    lab.write("audit.jsonl", &changed);
    let ran = lab.run(&["audit", "verify"]).exits(1);
    ran.says("audit.jsonl, line 2, record 2 (byte ")
        .says("changed after it was written")
        .says("1 record before it");
    let problem = lab.run(&["audit", "verify", "--json"]).exits(1).json()["problem"].clone();
    assert_eq!((&problem["line"], &problem["record"]), (&json!(2), &json!(2)));
    assert_eq!((&problem["file"], &problem["flaw"]), (&json!("audit.jsonl"), &json!("changed")));
}

#[test]
fn a_record_that_was_never_finished_is_told_and_is_no_fault() {
    let lab = lab();
    let text = lab.read("audit.jsonl");
    lab.write("audit.jsonl", &text[..text.len() - 40]);
    lab.run(&["audit", "verify"]).exits(0).says("2 records").says("the writer was stopped");
    lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    lab.run(&["audit", "verify"]).exits(0).says("3 records").says("1 record incomplete");
}

#[test]
fn what_cannot_be_read_is_65_and_what_makes_no_sense_64() {
    let lab = Lab::new();
    for what in ["verify", "show", "stats"] {
        lab.run(&["audit", what]).exits(65).complains("the log audit.jsonl cannot be read");
        lab.run(&["audit", what, "."]).exits(65);
    }
    lab.run(&["audit"]).exits(64);
    lab.run(&["audit", "verfy"]).exits(64).complains("verify");
    lab.run(&["audit", "verify", "--contains", "abc"]).exits(64).complains("64 hexadecimal digits");
    lab.run(&["audit", "show", "--decision", "denny"]).exits(64).complains("deny");
}

#[test]
fn records_are_shown_by_what_is_asked_for() {
    let lab = lab();
    let lines = |args: &[&str]| {
        let all: Vec<&str> = ["audit", "show"].iter().chain(args).copied().collect();
        lab.run(&all).exits(0).stdout
    };
    assert_eq!(lines(&[]).lines().count(), 3);
    assert_eq!(lines(&["--decision", "deny"]).lines().count(), 2);
    assert_eq!(lines(&["--decision", "none", "--event", "PreToolUse"]).lines().count(), 1);
    assert_eq!(lines(&["--agent", "a1", "--tool", "Read"]).lines().count(), 1);
    assert_eq!(lines(&["--session", "nobody"]), "");
    assert!(lines(&["--last", "1"]).trim_start().starts_with("3  "));
    assert!(lines(&["--last", "1"]).contains("deny by guard"));
    let record: Value = serde_json::from_str(&lines(&["--last", "1", "--json"])).unwrap();
    assert_eq!((&record["seq"], &record["by"]), (&json!(3), &json!("guard")));
    // A line that is no record is told, and the others are shown.
    lab.write("audit.jsonl", &format!("junk\u{1b}[31m\n{}", lab.read("audit.jsonl")));
    let ran = lab.run(&["audit", "show"]).exits(0);
    assert_eq!(ran.stdout.lines().count(), 3);
    ran.complains("audit.jsonl:1: this is not a record");
}

#[test]
fn records_are_counted() {
    let lab = lab();
    let stats = lab.run(&["audit", "stats", "--json"]).exits(0).json();
    assert_eq!((&stats["records"], &stats["events"]["PreToolUse"]["deny"]), (&json!(3), &json!(2)));
    assert_eq!((&stats["tools"]["Bash"]["deny"], &stats["hooks"]["guard"]["deny"]), (&json!(2), &json!(2)));
    lab.run(&["audit", "stats"]).exits(0).says("3 records of ").says("EVENT").says("guard");
}

/// Writers that are killed at any moment leave a log that verifies, and the next one goes on.
#[test]
fn killed_writers_leave_a_log_that_verifies() {
    let lab = Lab::with(CONFIG).without_state();
    for round in 0..12_u64 {
        let mut child = lab.command(&["fire", "PreToolUse"]).spawn().unwrap();
        use std::io::Write;
        child.stdin.take().unwrap().write_all(BASH.as_bytes()).unwrap();
        // Not a wait for anything: the moment of the end is what differs.
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        let _ = child.kill();
        child.wait().unwrap();
    }
    lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    wait_until("the last record is written", || fs::metadata(lab.path("audit.jsonl")).is_ok());
    let found = lab.run(&["audit", "verify", "--json"]).exits(0).json();
    assert!(found["records"].as_u64().unwrap() >= 1, "{found:#}");
}
