//! Ctrl-C: once is in good order, twice is at once.

use std::process::Child;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{finish, is_alive, is_written, wait_until};
use crate::model_server::{Reply, Server};
use crate::run_lab::{Agent, events, lines};

const SLEEPER: &str =
    "- {tools: [{name: Bash, input: {command: 'sleep 60 & echo $$ $! > pids; wait'}}]}\n- {say: never}\n";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn start(agent: &Agent, args: &[&str]) -> Child {
    agent.lab.write("turns.yaml", SLEEPER);
    let all = ["run", "x", "--model", "scripted:turns.yaml", "--allow", "Bash"];
    let mut child = agent.command(&[&all[..], args].concat()).spawn().unwrap();
    drop(child.stdin.take());
    child
}

#[test]
fn one_kills_the_tool_with_all_it_started_and_ends_the_session() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let agent = Agent::new();
        let child = start(&agent, &["--json"]);
        wait_until("the tool to start", || is_written(&agent.lab.path("pids")));
        send(&child, signal);
        let ran = finish(child, Instant::now()).exits(code);
        let lines = lines(&ran);
        let failed = events(&lines, "PostToolUseFailure");
        assert_eq!(failed[0]["is_interrupt"], true);
        assert_eq!(events(&lines, "SessionEnd")[0]["reason"], "interrupt");
        assert_eq!(lines.last().unwrap()["end"], "interrupt");
        let pids = agent.lab.read("pids");
        wait_until("the whole group to be gone", || !pids.split_whitespace().any(is_alive));
    }
}

#[test]
fn two_leave_at_once_whatever_hooks_do() {
    let agent = Agent::with(
        "hooks: {SessionEnd: [{name: slow, command: 'echo $$ > ending; sleep 60', timeout: 60}]}",
    );
    let child = start(&agent, &[]);
    wait_until("the tool to start", || is_written(&agent.lab.path("pids")));
    send(&child, Signal::INT);
    wait_until("the last hook to start", || is_written(&agent.lab.path("ending")));
    send(&child, Signal::INT);
    let ran = finish(child, Instant::now()).exits(130);
    ran.complains("Ctrl-C again exits at once");
    let pid = agent.lab.read("ending");
    wait_until("the hook to be gone", || !is_alive(&pid));
}

#[test]
fn a_model_that_says_nothing_is_left() {
    let agent = Agent::new();
    let server = Server::start(|_, _| Reply::Silence);
    let mut command =
        agent.command(&["run", "x", "--model", "openai:m", "--base-url", &server.url(), "--json"]);
    let mut child = command.spawn().unwrap();
    drop(child.stdin.take());
    wait_until("the model to be asked", || !server.requests().is_empty());
    send(&child, Signal::INT);
    let ran = finish(child, Instant::now()).exits(130);
    assert_eq!(events(&lines(&ran), "SessionEnd")[0]["reason"], "interrupt");
}
