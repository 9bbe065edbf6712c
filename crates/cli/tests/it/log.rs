//! The log: what every fire leaves behind, and what people see of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::lab::{Lab, Ran};

const POLICY: &str = "hooks:
  PreToolUse:
    - {name: no-force, matcher: Bash, type: builtin, handler: block-commands}
    - {name: flaky, matcher: Read, command: 'echo broken >&2; exit 1'}
    - {name: careful, matcher: Write, mode: warn, reply: {decision: deny, reason: not here}}
";

fn lab() -> Lab {
    Lab::with(POLICY)
}

fn at_home(lab: &Lab, mut command: Command) -> Command {
    command.env("HOME", lab.path("")).env("XDG_STATE_HOME", lab.path("state"));
    command.env("XDG_CONFIG_HOME", lab.path("config"));
    command
}

fn run(lab: &Lab, args: &[&str], input: &str) -> Ran {
    use std::io::Write;
    let mut child = at_home(lab, lab.command(args)).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    crate::lab::finish(child, std::time::Instant::now())
}

fn event(tool: &str, input: &Value) -> String {
    json!({"session_id": "s-1", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
        .to_string()
}

fn bash(command: &str) -> String {
    event("Bash", &json!({"command": command}))
}

fn hook(lab: &Lab, event: &str) -> Ran {
    run(lab, &["hook", "claude", "-c", "crosier.yaml"], event)
}

fn records(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["log", "--json"].into_iter().chain(args.iter().copied()).collect();
    let ran = run(lab, &words, "").exits(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_empty_log_says_what_to_do_next() {
    let lab = Lab::new();
    run(&lab, &["log"], "").exits(0).says("crosier install").says("crosier try");
    run(&lab, &["log", "stats"], "").exits(0).says("nothing is logged yet");
    assert!(records(&lab, &[]).is_empty());
    run(&lab, &["log", "abc123"], "").exits(1).complains("no record has the id `abc123`");
}

#[test]
fn a_state_folder_that_is_refused_is_named() {
    let lab = Lab::new();
    let state = lab.path("state/crosier");
    fs::create_dir_all(&state).unwrap();
    fs::create_dir(lab.path("work")).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = at_home(&lab, lab.command(&["log"]));
    let child = command.current_dir(lab.path("work")).spawn().unwrap();
    let ran = crate::lab::finish(child, std::time::Instant::now()).exits(0);
    ran.complains("others can write to it").complains("nothing is logged");
}

#[test]
fn every_fire_of_an_agent_is_a_record() {
    let lab = lab();
    hook(&lab, &bash("git push --force")).exits(0);
    hook(&lab, &bash("ls")).exits(0);
    hook(&lab, &event("Read", &json!({"file_path": "/x/a.txt"}))).exits(0);
    hook(&lab, &event("Write", &json!({"file_path": "/x/a.txt", "content": "x"}))).exits(0);
    hook(&lab, r#"{"hook_event_name": "Frob"}"#).exits(0);
    hook(&lab, "no json").exits(0);
    let all = records(&lab, &[]);
    let of = |key: &str| all.iter().map(|record| record[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("kind"), ["fire", "fire", "fire", "fire", "unknown", "closed"]);
    assert_eq!(
        of("decision"),
        [json!("deny"), json!(null), json!(null), json!(null), json!(null), json!("deny")]
    );
    assert_eq!(of("input")[..3], [json!("git push --force"), json!("ls"), json!("/x/a.txt")]);
    let denied = &all[0];
    assert_eq!(
        (&denied["agent"], &denied["session"], &denied["by"]),
        (&json!("claude"), &json!("s-1"), &json!("no-force"))
    );
    assert!(denied["reason"].as_str().unwrap().contains("force") && denied["ms"].as_f64().unwrap() > 0.0);
    assert_eq!((&all[2]["failures"][0]["hook"], &all[3]["would"]), (&json!("flaky"), &json!("deny")));
    // What people see.
    let text = run(&lab, &["log"], "").exits(0);
    text.says("deny  claude Bash: git push --force")
        .says("flaky failed")
        .says("would claude Write: /x/a.txt");
    text.says("an unknown event").says("crosier cannot read this event");
    for (args, count) in [
        (&["--denied"][..], 2),
        (&["--decision", "would"], 1),
        (&["--decision", "none"], 4),
        (&["--agent", "codex"], 0),
        (&["--session", "s-"], 4),
        (&["--hook", "flaky"], 1),
        (&["--since", "1h"], 6),
        (&["--since", "2999-01-01"], 0),
        (&["-n", "2"], 2),
    ] {
        assert_eq!(records(&lab, args).len(), count, "{args:?}");
    }
    run(&lab, &["log", "--agent", "codex"], "").exits(0).says("no record matches");
    run(&lab, &["log", "--since", "soon"], "").exits(64).complains("is not a time");
    let id = denied["id"].as_str().unwrap();
    run(&lab, &["log", id], "").exits(0).says("git push --force").says("no-force");
    let stats = run(&lab, &["log", "stats"], "").exits(0);
    stats.says("6 events: 2 denied").says("no-force").says("flaky");
    let numbers = run(&lab, &["log", "stats", "--json"], "").exits(0).json();
    assert_eq!((&numbers["denied"], &numbers["closed"]), (&json!(2), &json!(1)));
}

#[test]
fn forty_processes_write_forty_whole_records() {
    let lab = lab();
    let children: Vec<_> = (0..40)
        .map(|number| {
            let mut command = at_home(&lab, lab.command(&["hook", "claude", "-c", "crosier.yaml"]));
            let input = lab.write(&format!("in/{number}"), &bash(&format!("echo {number}")));
            command.stdin(fs::File::open(input).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut inputs: Vec<String> =
        records(&lab, &[]).iter().map(|record| record["input"].as_str().unwrap().to_owned()).collect();
    inputs.sort();
    inputs.dedup();
    assert_eq!(inputs.len(), 40);
}

#[test]
fn no_decision_depends_on_the_log() {
    let wanted = hook(&lab(), &bash("git push --force")).exits(0).stdout;
    let spoil: [fn(&Lab); 4] = [
        // No folder can be made.
        |lab| drop(lab.write("state", "a file")),
        // The log is a link.
        |lab| {
            fs::create_dir_all(lab.path("state/crosier")).unwrap();
            symlink("/tmp", lab.path("state/crosier/log")).unwrap();
        },
        // It is a folder.
        |lab| fs::create_dir_all(lab.path("state/crosier/log/log.jsonl")).unwrap(),
        // The disk is full.
        |lab| {
            fs::create_dir_all(lab.path("state/crosier/log")).unwrap();
            symlink("/dev/full", lab.path("state/crosier/log/log.jsonl")).unwrap();
        },
    ];
    for spoil in spoil {
        let lab = lab();
        spoil(&lab);
        assert_eq!(hook(&lab, &bash("git push --force")).exits(0).stdout, wanted);
    }
}

#[test]
fn it_is_for_its_owner_only_and_holds_no_secret() {
    let lab = lab();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    hook(&lab, &bash(&format!("GH_TOKEN={token} git push --force"))).exits(0);
    assert_eq!(lab.mode("state/crosier/log"), 0o700);
    for file in ["log.jsonl", "events.jsonl"] {
        assert_eq!(lab.mode(&format!("state/crosier/log/{file}")), 0o600);
        let text = lab.read(&format!("state/crosier/log/{file}"));
        assert!(text.contains("git push --force") && !text.contains(token), "{text}");
    }
}

#[test]
fn hostile_text_is_shown_escaped() {
    let lab = lab();
    hook(&lab, &bash("echo \u{1b}[2J\u{202e}\n second line; git push --force")).exits(0);
    let text = run(&lab, &["log"], "").exits(0).stdout;
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    assert!(text.contains("\\u{1b}[2J"), "{text}");
}

#[test]
fn following_shows_what_is_written_also_after_a_rotation() {
    let lab = lab();
    hook(&lab, &bash("echo before")).exits(0);
    let mut child = at_home(&lab, lab.command(&["log", "-f", "--json"])).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap()["input"].clone();
    assert_eq!(next(), "echo before");
    hook(&lab, &bash("echo one")).exits(0);
    assert_eq!(next(), "echo one");
    let folder = lab.path("state/crosier/log");
    fs::rename(folder.join("log.jsonl"), folder.join("log.jsonl.1")).unwrap();
    hook(&lab, &bash("echo two")).exits(0);
    assert_eq!(next(), "echo two");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn tables_and_records_fit_the_terminal() {
    let lab = lab();
    hook(&lab, &bash(&format!("git push --force origin {}", "a-long-branch ".repeat(20)))).exits(0);
    hook(&lab, &event("Read", &json!({"file_path": "/x/a.txt"}))).exits(0);
    let id = records(&lab, &[])[0]["id"].as_str().unwrap().to_owned();
    let config = ["-c", "crosier.yaml"];
    for columns in ["40", "80"] {
        for args in [
            &["log"][..],
            &["log", "stats"],
            &["log", &id],
            &["list", config[0], config[1]],
            &["explain", "PreToolUse", config[0], config[1]],
            &["events"],
            &["events", "--agent", "codex"],
            &["packs"],
            &["--help"],
        ] {
            let mut command = at_home(&lab, lab.command(args));
            command.env("COLUMNS", columns).stdin(Stdio::null());
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= columns.parse().unwrap(), "{args:?} at {columns}: {width}: {line}");
            }
        }
    }
}

#[test]
fn a_denial_becomes_a_case() {
    let lab = lab();
    let record = |args: &[&str]| {
        let words: Vec<&str> = ["test", "--record"].into_iter().chain(args.iter().copied()).collect();
        run(&lab, &words, "")
    };
    record(&["LAST", "-c", "crosier.yaml"]).exits(1).complains("nothing was denied yet");
    let line = "git push --force origin a-branch-whose-name-is-long ".repeat(10);
    hook(&lab, &bash(&line)).exits(0);
    hook(&lab, &bash("ls")).exits(0);
    record(&["LAST", "-c", "crosier.yaml"])
        .exits(0)
        .says("crosier.test.yaml: PreToolUse Bash: deny by no-force");
    let case = lab.read("crosier.test.yaml");
    assert!(
        case.contains(line.trim()) && !case.contains("session_id"),
        "the whole input, and nothing else: {case}"
    );
    run(&lab, &["test", "crosier.test.yaml"], "").exits(0).says("1 passed");
    let id = records(&lab, &["--denied"])[0]["id"].as_str().unwrap().to_owned();
    record(&[&id, "other.yaml", "--name", "mine", "-c", "crosier.yaml"]).exits(0).says("other.yaml: mine");
    record(&["zzzzzz"]).exits(1).complains("no complete event `zzzzzz` is stored");
    record(&["file.yaml"]).exits(64).complains("needs --event");
}

#[test]
fn it_can_be_switched_off_and_only_by_the_person() {
    let lab = lab();
    lab.write("quiet.yaml", &format!("log: off\n{POLICY}"));
    run(&lab, &["hook", "claude", "-c", "quiet.yaml"], &bash("ls")).exits(0);
    assert!(records(&lab, &[]).is_empty());
}
