//! The first minute at a terminal: the questions of `init`, and that everything fits the screen.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use rustix::termios::tcgetattr;

use crate::home::Home;
use crate::lab::mode;
use crate::terminal::{on_sized_terminal, open_sized, read_until};

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";
const LEFT: &str = "\u{1b}[D";
const ESCAPE: &str = "\u{1b}";
const CTRL_C: &str = "\u{3}";
const QUESTIONS: [&str; 3] =
    ["What should be guarded?", "In which agents?", "What happens to a denied action?"];

/// Answers the questions of `init` with these keys, one after the other; returns the exit status and the screen.
fn answered(home: &Home, columns: u16, answers: &[&str]) -> (Option<i32>, String) {
    let (mut ours, theirs) = open_sized(columns);
    let before = tcgetattr(&theirs).unwrap().local_modes;
    let mut command = home.command(&["init"]);
    let clone = || theirs.as_fd().try_clone_to_owned().unwrap();
    command.env("TERM", "xterm").stdin(clone()).stdout(clone()).stderr(clone());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut seen = String::new();
    for (answer, question) in answers.iter().zip(QUESTIONS) {
        let mut screen = String::new();
        read_until(&mut ours, &mut screen, question);
        // The line with the keys ends the question.
        read_until(&mut ours, &mut screen, "]");
        seen += &screen;
        ours.write_all(answer.as_bytes()).unwrap();
    }
    let status = child.wait().unwrap();
    assert_eq!(tcgetattr(&theirs).unwrap().local_modes, before, "the terminal is given back");
    drop(theirs);
    let mut rest = Vec::new();
    let _ = ours.read_to_end(&mut rest);
    (status.code(), seen + &String::from_utf8_lossy(&rest))
}

#[test]
fn three_questions_with_good_answers_chosen_already() {
    for columns in [40, 80] {
        let home = Home::new(&[".claude", ".gemini"]);
        let (code, seen) = answered(&home, columns, &[ENTER, ENTER, ENTER]);
        assert_eq!(code, Some(0), "{seen}");
        let config = fs::read_to_string(home.project.join("crosier.yaml")).unwrap();
        assert!(config.contains("\nextends: crosier:recommended\n") && config.contains("\nmode: enforce\n"));
        assert_eq!(
            (home.status("claude"), home.status("gemini")),
            ("current".to_owned(), "current".to_owned())
        );
        assert!(seen.contains("git push --force"), "{seen}");
    }
}

#[test]
fn arrow_keys_choose() {
    let home = Home::new(&[".claude", ".gemini"]);
    let (code, seen) =
        answered(&home, 80, &[&format!("{DOWN}{ENTER}"), &format!(" {ENTER}"), &format!("{DOWN}{ENTER}")]);
    assert_eq!(code, Some(0), "{seen}");
    let config = fs::read_to_string(home.project.join("crosier.yaml")).unwrap();
    assert!(config.contains("\nextends: crosier:git\n") && config.contains("\nmode: warn\n"), "{config}");
    // The first one was taken off the list.
    assert_eq!(home.status("claude"), "not installed");
    assert_eq!(home.status("gemini"), "current");
    // There is a configuration now: only the agents are asked about.
    let (mut ours, theirs) = open_sized(80);
    let mut command = home.command(&["init"]);
    let clone = || theirs.as_fd().try_clone_to_owned().unwrap();
    command.env("TERM", "xterm").stdin(clone()).stdout(clone()).stderr(clone());
    let mut child = command.spawn().unwrap();
    let mut seen = String::new();
    read_until(&mut ours, &mut seen, QUESTIONS[1]);
    read_until(&mut ours, &mut seen, "]");
    ours.write_all(ENTER.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(home.status("claude"), "current");
}

#[test]
fn no_agent_chosen_is_not_no_agent_found() {
    let home = Home::new(&[".claude"]);
    let (code, seen) = answered(&home, 80, &[ENTER, &format!("{LEFT}{ENTER}"), ENTER]);
    assert!(code == Some(0) && seen.contains("no agent was chosen"), "{seen}");
    assert_eq!(home.status("claude"), "not installed");
}

#[test]
fn whoever_leaves_at_a_question_leaves_nothing_behind() {
    for question in 0..QUESTIONS.len() {
        for (key, code) in [(ESCAPE, 1), (CTRL_C, 130)] {
            let home = Home::new(&[".claude"]);
            let before = home.tree();
            let answers = [&[ENTER, ENTER, ENTER][..question], &[key]].concat();
            let (exit, seen) = answered(&home, 80, &answers);
            assert_eq!(exit, Some(code), "{question}: {seen}");
            assert!(seen.contains("nothing was changed"), "{question}: {seen}");
            assert_eq!(home.tree(), before);
            assert!(!home.home.join(".local/state/crosier").exists(), "{question}");
        }
    }
}

#[test]
fn a_configuration_that_nobody_trusted_is_said_to_be_one() {
    let home = Home::new(&[".claude"]);
    fs::write(home.project.join("crosier.yaml"), "extends: crosier:recommended\n").unwrap();
    home.run(&["init", "--yes"]).exits(0).says("already exists").says("crosier trust");
}

const POLICY: &str = "extends: crosier:recommended
hooks:
  PostToolUse:
    - {name: a-hook-with-a-name-that-is-longer-than-forty-columns, observe: true, type: builtin, handler: audit}
";

/// Everything that prints a table, or lines for a person.
const SHOWN: [&[&str]; 20] = [
    &["status"],
    &["doctor"],
    &["log"],
    &["log", "stats"],
    &["list"],
    &["config"],
    &["packs"],
    &["events"],
    &["events", "--agent", "codex"],
    &["trust", "--list"],
    &["explain", "PreToolUse"],
    &["explain", "PostToolUse"],
    &["audit", "show"],
    &["audit", "stats"],
    &["history", "list"],
    &["try", "git push --force"],
    &["try", "--explain", "--tool", "Write", "--path", ".env"],
    &["try", "--agent", "cline", "git push --force"],
    &["init", "--yes"],
    &["--help"],
];

#[test]
fn everything_fits_the_screen() {
    let home = Home::new(&[".claude", ".codex", ".config/opencode"]);
    fs::write(home.project.join("crosier.yaml"), POLICY).unwrap();
    home.run(&["trust", "--yes"]).exits(0);
    home.run(&["install"]).exits(0);
    for (event, tool) in [("PreToolUse", "Bash"), ("PostToolUse", "Bash")] {
        let event = serde_json::json!({
            "hook_event_name": event, "session_id": "s", "cwd": home.project, "tool_name": tool,
            "tool_input": {"command": format!("git push --force {}", "a-long-branch ".repeat(20))},
            "tool_response": {"stdout": "x", "stderr": ""},
        });
        let mut command = home.command(&["hook", "claude"]);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(mode(&home.home.join(".local/state/crosier/log/log.jsonl")), 0o600);
    let turns = "- {tools: [{name: Write, input: {path: a-file-with-a-long-name.txt, content: x}}]}\n- {say: Done.}\n";
    fs::write(home.project.join("turns.yaml"), turns).unwrap();
    home.run(&["run", "x", "--model", "scripted:turns.yaml", "--allow", "Write"]).exits(0);
    for columns in [40, 80] {
        for args in SHOWN {
            let piped = home.command(args).env("COLUMNS", columns.to_string()).output().unwrap();
            let piped = String::from_utf8(piped.stdout).unwrap();
            let mut command = home.command(args);
            command.env("NO_COLOR", "1");
            let seen = on_sized_terminal(command, columns);
            assert!(!piped.is_empty() && !seen.is_empty(), "{args:?}: {seen}");
            for line in piped.lines().chain(seen.lines()) {
                let width = line.trim_end_matches('\r').chars().count();
                assert!(width <= usize::from(columns), "{args:?} at {columns}: {width}: {line}");
            }
        }
    }
}
