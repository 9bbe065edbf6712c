//! The demo in the hands of a newcomer: nothing installed, a closed pipe, a narrow terminal, Ctrl-C, a wrong flag.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, finish};

/// A demo that puts its folder into the lab's.
fn demo(lab: &Lab, args: &[&str]) -> std::process::Command {
    let mut command = lab.command(&[&["demo"], args].concat());
    fs::create_dir_all(lab.path("tmp")).unwrap();
    command.env("TMPDIR", lab.path("tmp"));
    command
}

fn leaves_nothing(lab: &Lab) {
    let left: Vec<_> = fs::read_dir(lab.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_python_and_git_it_runs_and_says_what_it_left_out() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    let mut plain = demo(&lab, &[]);
    let ran = finish(plain.env("PATH", lab.path("empty")).spawn().unwrap(), Instant::now()).exits(0);
    ran.says("left out: the Python hook, because there is no python3 on the PATH");
    ran.says("left out: the history of files and PostGitWrite, because there is no git on the PATH");
    ran.says("SessionEnd halted").says("23 of 24 events");
    let mut json = demo(&lab, &["--json"]);
    let ran = finish(json.env("PATH", lab.path("empty")).spawn().unwrap(), Instant::now()).exits(0);
    ran.complains("no python3").complains("no git");
    assert!(ran.json()["fires"].as_array().unwrap().iter().all(|fire| fire["event"] != "PostGitWrite"));
    leaves_nothing(&lab);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let lab = Lab::new();
    let mut child = demo(&lab, &[]).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let ran = finish(child, Instant::now()).exits(1);
    assert_eq!(ran.stderr, "", "no panic, no complaint");
    leaves_nothing(&lab);
}

#[test]
fn ctrl_c_ends_the_session_in_order() {
    let lab = Lab::new();
    let mut child = demo(&lab, &[]).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    // A pipe that holds less than the demo prints: it cannot be over before it is read.
    #[cfg(target_os = "linux")]
    rustix::pipe::fcntl_setpipe_size(&stdout, 4096).unwrap();
    let mut stdout = BufReader::with_capacity(512, stdout);
    let mut seen = String::new();
    while !seen.contains("turn 1.1") {
        assert!(stdout.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    stdout.read_to_string(&mut seen).unwrap();
    finish(child, Instant::now()).exits(130).complains("stopped by signal 2");
    assert!(seen.contains("interrupted: by a person") && seen.contains("SessionEnd interrupt"), "{seen}");
    assert!(!seen.contains("prompt 2"), "{seen}");
    leaves_nothing(&lab);
}

#[test]
fn no_line_is_too_wide_and_a_pipe_gets_no_colour() {
    let lab = Lab::new();
    let ran = finish(demo(&lab, &[]).stdin(Stdio::null()).spawn().unwrap(), Instant::now()).exits(0);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100));
    assert!(!ran.stdout.contains('\u{1b}'));
    for line in [
        "prompt 1",
        "turn 1.1",
        "→ deny:",
        "→ rewrite:",
        "→ inject:",
        "failed (timeout)",
        "24 of 24 events",
        "→ would deny: by no-scripts-on-trial",
        "↻ block-commands asked again, after too-helpful changed the input",
        "changed since you trusted it",
    ] {
        ran.says(line);
    }
    leaves_nothing(&lab);
}

#[test]
fn a_small_terminal_gets_the_whole_table() {
    let lab = Lab::new();
    let mut narrow = demo(&lab, &[]);
    let ran = finish(narrow.env("COLUMNS", "40").spawn().unwrap(), Instant::now()).exits(0);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 40), "{}", ran.stdout);
    let table = ran.stdout.rsplit_once("event ").unwrap().1;
    assert!(!table.contains('…'), "nothing is cut off: {table}");
    assert!(table.contains("\nPostToolUseFailure") && table.contains("would deny"), "{table}");
}

#[test]
fn a_wrong_flag_is_a_usage_error_and_the_help_teaches() {
    let lab = Lab::new();
    lab.run(&["demo", "--jsno"]).exits(64).complains("--json");
    lab.run(&["demo", "--help"]).exits(0).says("No network, no API key").says("Example:");
}

#[test]
fn its_folder_can_be_kept_to_look_at() {
    let lab = Lab::new();
    let ran = finish(demo(&lab, &["--keep", "--json"]).spawn().unwrap(), Instant::now()).exits(0);
    ran.complains("the demo's folder is ");
    let folder = fs::read_dir(lab.path("tmp")).unwrap().next().unwrap().unwrap().path();
    let notes = fs::read_to_string(folder.join("workspace/notes.md")).unwrap();
    assert_eq!(notes, "# Notes\n\n- update the docs\n", "a hook changed what was written");
    assert!(!folder.join("workspace/notes.bak").exists(), "a hook did not let it be written");
    let config = folder.join("hooks/hooks.yaml");
    lab.run(&["check", "-c", config.to_str().unwrap()]).exits(0);
}
