//! The person at the terminal: asked, and obeyed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::run_lab::Agent;

/// Runs the turns with everything on a terminal, at which this is typed; gives back what the terminal showed.
fn typed(agent: &Agent, turns: &str, typed: &str) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs: OwnedFd =
        OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
    agent.lab.write("turns.yaml", turns);
    let mut command = agent.command(&["run", "x", "--model", "scripted:turns.yaml"]);
    command.stdin(theirs.try_clone().unwrap());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop((command, theirs));
    let mut ours = File::from(ours);
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
    assert_eq!(
        seen.matches("* Bash needs permission").count(),
        2,
        "nobody is told what is not asked: {seen}"
    );
    assert_eq!(seen.matches("[a]lways this command").count(), 2, "{seen}");
}

#[test]
fn what_would_run_cannot_hide() {
    let agent = Agent::new();
    let turns = "- {tools: [{name: Bash, input: {command: \"touch x\\e[2K\\rls\"}}]}\n- {say: Done.}\n";
    let seen = typed(&agent, turns, "n\n");
    assert!(seen.contains(r"touch x\u{1b}[2K\rls"), "{seen}");
}
