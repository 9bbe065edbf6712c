//! The person at the terminal: asked, and obeyed.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Child;

use crate::run_lab::Agent;
use crate::terminal::{open, read_until};

/// Starts the turns with everything on a terminal, and gives back our side of it.
fn start(agent: &Agent, turns: &str, args: &[&str]) -> (File, Child) {
    let (ours, theirs) = open();
    agent.lab.write("turns.yaml", turns);
    let mut command = agent.command(&[&["run", "x", "--model", "scripted:turns.yaml"], args].concat());
    command.env("TERM", "xterm").stdin(theirs.try_clone().unwrap());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    (ours, command.spawn().unwrap())
}

/// Runs the turns with everything on a terminal, at which this is typed; gives back what the terminal showed.
fn typed(agent: &Agent, turns: &str, typed: &str) -> String {
    let (mut ours, mut child) = start(agent, turns, &[]);
    // A terminal keeps what is typed until it is read.
    ours.write_all(typed.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let _ = ours.read_to_end(&mut seen);
    child.wait().unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}

fn touch(names: &[&str]) -> String {
    let call = |name: &&str| format!("- {{tools: [{{name: Bash, input: {{command: touch {name}}}}}]}}\n");
    names.iter().map(call).collect::<String>() + "- {say: Done.}\n"
}

#[test]
fn yes_runs_it_and_no_does_not() {
    let agent = Agent::new();
    let seen = typed(&agent, &touch(&["a", "b", "c"]), "what?\ny\nn\nyes\n");
    assert!(agent.lab.path("a").exists() && !agent.lab.path("b").exists(), "{seen}");
    assert!(agent.lab.path("c").exists());
    assert!(seen.contains("main wants to run Bash") && seen.contains("command: touch a"), "{seen}");
}

#[test]
fn always_is_for_the_same_command_only() {
    let agent = Agent::new();
    let turns = "- {tools: [{name: Bash, input: {command: echo 1 >> log}}]}\n".repeat(2)
        + "- {tools: [{name: Bash, input: {command: echo 2 >> log}}]}\n- {say: Done.}\n";
    let seen = typed(&agent, &turns, "a\nn\n");
    assert_eq!(agent.lab.read("log"), "1\n1\n", "{seen}");
    assert_eq!(seen.matches("main wants to run Bash").count(), 2, "nobody is told what is not asked: {seen}");
    assert_eq!(seen.matches("[a]lways this command").count(), 2, "{seen}");
}

#[test]
fn what_would_run_cannot_hide() {
    let agent = Agent::new();
    let turns = "- {tools: [{name: Bash, input: {command: \"touch x\\e[2K\\rls\"}}]}\n- {say: Done.}\n";
    let seen = typed(&agent, turns, "n\n");
    assert!(seen.contains(r"touch x\u{1b}[2K\u{d}ls"), "{seen}");
}

#[test]
fn on_the_full_screen_a_key_answers() {
    let agent = Agent::new();
    let (mut ours, mut child) = start(&agent, &touch(&["a", "b"]), &["--tui"]);
    let mut seen = String::new();
    read_until(&mut ours, &mut seen, "a question");
    read_until(&mut ours, &mut seen, "lways");
    ours.write_all(b"y").unwrap();
    crate::lab::wait_until("the first command to run", || agent.lab.path("a").exists());
    let mut seen = String::new();
    read_until(&mut ours, &mut seen, "a question");
    ours.write_all(b"n").unwrap();
    read_until(&mut ours, &mut seen, "over");
    ours.write_all(b"q").unwrap();
    // What is left on the terminal when the screen is gone.
    read_until(&mut ours, &mut seen, "Done.\r\n");
    read_until(&mut ours, &mut seen, &format!("session {}", agent.sessions()[0]));
    assert_eq!(child.wait().unwrap().code(), Some(0), "{seen}");
    assert!(!agent.lab.path("b").exists());
    agent.play("- {say: x}", &["x", "--tui"]).exits(64).complains("--tui needs a terminal");
}
