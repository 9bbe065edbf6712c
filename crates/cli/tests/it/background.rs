//! Background hooks outlive `fire`, and nobody waits for them.

use std::time::Duration;

use crate::lab::{BASH, Lab, is_alive, is_written, wait_until};

#[test]
fn fire_ends_at_once_and_the_hook_runs_on() {
    let lab = Lab::with(
        "hooks: {PreToolUse: [{name: slow, command: 'sleep 2; cat > got; echo >> got', background: true}]}",
    );
    // `run` reads both pipes to their end: a copy that held one would be waited for.
    let ran = lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
    assert!(ran.took < Duration::from_millis(1500), "{:?}", ran.took);
    let report = &ran.json()["reports"][0];
    assert_eq!(report["status"], "background");
    assert_eq!(report["ignored"][0]["effect"], "context");
    assert!(!lab.path("got").exists());
    wait_until("the hook to end", || is_written(&lab.path("got")));
    assert!(lab.read("got").contains("\"tool_name\":\"Bash\""));
}

#[test]
fn a_reader_behind_a_pipe_does_not_wait_either() {
    let lab = Lab::with("hooks: {Stop: [{name: slow, command: 'sleep 3; echo > done', background: true}]}");
    let started = std::time::Instant::now();
    let line = format!("{} fire Stop -c crosier.yaml </dev/null 2>&1 | cat", crate::lab::CROSIER);
    let output =
        std::process::Command::new("sh").args(["-c", &line]).current_dir(lab.path("")).output().unwrap();
    assert!(started.elapsed() < Duration::from_millis(2500), "{:?}", started.elapsed());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"status\":\"background\""));
    assert!(!lab.path("done").exists());
}

#[test]
fn its_deadline_is_kept_when_fire_is_long_gone() {
    let lab = Lab::with(
        "hooks: {Stop: [{name: stuck, command: 'echo $$ > pid; exec sleep 60', background: true, timeout: 500ms}]}",
    );
    lab.run(&["fire", "Stop"]).exits(0);
    wait_until("the hook to start", || is_written(&lab.path("pid")));
    let pid = lab.read("pid");
    wait_until("the hook to be killed", || !is_alive(&pid));
}

#[test]
fn the_copy_has_a_session_of_its_own_and_ends_with_its_hook() {
    let lab =
        Lab::with("hooks: {Stop: [{name: look, command: 'cat /proc/$PPID/stat > stat', background: true}]}");
    lab.run(&["fire", "Stop"]).exits(0);
    wait_until("the hook to look", || is_written(&lab.path("stat")));
    let stat = lab.read("stat");
    let pid = stat.split_whitespace().next().unwrap().to_owned();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    assert_eq!(fields[2], pid, "its group is its own: {stat}");
    assert_eq!(fields[3], pid, "its session is its own: {stat}");
    wait_until("the copy to end", || !is_alive(&pid));
}

#[test]
fn hooks_without_a_name_and_hooks_of_an_agent_can_be_left_too() {
    let lab = Lab::with(
        "{hooks: {PreToolUse: [{command: 'echo >> first'}, {command: 'echo >> second', background: true}]},
          agents: {a1: {hooks: {PreToolUse: [{name: -odd-, command: 'echo >> third', background: true}]}}}}",
    );
    lab.feed(&["fire", "PreToolUse", "--agent", "a1"], BASH).exits(0);
    wait_until("both hooks", || is_written(&lab.path("second")) && is_written(&lab.path("third")));
    assert_eq!(lab.read("first"), "\n", "the copy runs nothing but its own hook");
}

#[test]
fn the_event_is_handed_over_whole() {
    let lab = Lab::with(
        "hooks: {PreToolUse: [{name: keep, command: 'cat > got; echo >> got; echo > done', background: true}]}",
    );
    let event = format!(
        r#"{{"tool_name": "Bash", "tool_input": {{"big": 12345678901234567890123, "x": "{}"}}, "session_id": "s1"}}"#,
        "y".repeat(1_000_000)
    );
    lab.feed(&["fire", "PreToolUse"], &event).exits(0);
    wait_until("the hook to end", || is_written(&lab.path("done")));
    let got = lab.read("got");
    assert!(
        got.len() > 1_000_000
            && got.contains("12345678901234567890123")
            && got.contains("\"session_id\":\"s1\"")
    );
}
