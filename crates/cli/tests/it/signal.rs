//! A signal ends the hooks first, and the program says which one it was.

use std::fs;
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, finish, is_alive, is_written, wait_until};

const SLEEPER: &str = "hooks: {Stop: [{name: stuck, command: 'sleep 60 & echo $$ $! > pids; wait'}]}";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Whether the pipe holds as much as it can, so that its writer waits.
fn is_full(pipe: &ChildStdout) -> bool {
    #[cfg(target_os = "linux")]
    let room = rustix::pipe::fcntl_getpipe_size(pipe).unwrap();
    // Nothing asks macOS for it; its smallest pipe is enough here, because more is written than any pipe holds.
    #[cfg(not(target_os = "linux"))]
    let room = 16 << 10;
    rustix::io::ioctl_fionread(pipe).unwrap() >= room as u64
}

/// Both processes of the hook are gone.
fn is_over(pids: &str) -> bool {
    !pids.split_whitespace().any(is_alive)
}

#[test]
fn a_signal_kills_the_hooks_and_is_128_and_its_number() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let lab = Lab::with(SLEEPER);
        let mut child = lab.command(&["fire", "Stop"]).spawn().unwrap();
        drop(child.stdin.take());
        wait_until("the hook to start", || is_written(&lab.path("pids")));
        send(&child, signal);
        let ran = finish(child, Instant::now()).exits(code);
        assert!(ran.took < Duration::from_secs(10), "{:?}", ran.took);
        assert_eq!(ran.stdout, "", "no decision is printed");
        ran.complains(&format!("stopped by signal {}", code - 128));
        wait_until("the whole group to be gone", || is_over(&lab.read("pids")));
    }
}

#[test]
fn with_exit_code_a_signal_is_a_denial_while_hooks_run() {
    let lab = Lab::with(SLEEPER);
    let mut child = lab.command(&["fire", "Stop", "--exit-code"]).spawn().unwrap();
    drop(child.stdin.take());
    wait_until("the hook to start", || is_written(&lab.path("pids")));
    send(&child, Signal::TERM);
    finish(child, Instant::now()).exits(2).complains("stopped by signal 15");
    wait_until("the whole group to be gone", || is_over(&lab.read("pids")));
}

#[test]
fn with_exit_code_a_signal_is_a_denial_while_the_event_is_read() {
    let lab = Lab::with(SLEEPER);
    // Its stdin stays open: it waits for the event.
    let child = lab.command(&["fire", "Stop", "--exit-code"]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    wait_until("signals to be watched", || {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap_or_default() & (1 << (15 - 1)) != 0
    });
    send(&child, Signal::TERM);
    finish_with_open_stdin(child).exits(2);
}

fn finish_with_open_stdin(mut child: Child) -> crate::lab::Ran {
    let stdin = child.stdin.take();
    let ran = finish(child, Instant::now());
    drop(stdin);
    ran
}

#[test]
fn a_signal_ends_a_run_of_cases_and_their_hooks() {
    let lab = Lab::with(SLEEPER);
    lab.write("a.test.yaml", "- {name: x, config: crosier.yaml, event: Stop, expect: {decision: null}}");
    let mut child = lab.command(&["test", "a.test.yaml"]).spawn().unwrap();
    drop(child.stdin.take());
    wait_until("the hook to start", || is_written(&lab.path("pids")));
    send(&child, Signal::INT);
    let ran = finish(child, Instant::now()).exits(130);
    ran.complains("stopped by signal 2");
    wait_until("the whole group to be gone", || is_over(&lab.read("pids")));
}

#[test]
fn a_signal_ends_a_program_whose_outcome_nobody_reads() {
    let lab = Lab::with(
        "hooks: {Stop: [{name: long, command: 'yes x | head -c 300000; echo > done', output: text}]}",
    );
    let mut child = lab.command(&["fire", "Stop"]).spawn().unwrap();
    drop(child.stdin.take());
    wait_until("the hook to end", || is_written(&lab.path("done")));
    wait_until("the program to wait for its reader", || is_full(child.stdout.as_ref().unwrap()));
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// Whether a descriptor of the program asks for a signal (`O_ASYNC`).
#[cfg(target_os = "linux")]
fn has_asynchronous_descriptor(child: &Child) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fdinfo", child.id())) else { return false };
    let infos = open.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let flags = |info: String| {
        let line = info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim().to_owned();
        u32::from_str_radix(&line, 8).ok()
    };
    infos.filter_map(flags).any(|flags| flags & 0o20_000 != 0)
}

/// Kills the program with a signal that it cannot see, and waits for its hook to be gone.
#[cfg(target_os = "linux")]
fn expect_to_die_together(lab: &Lab, args: &[&str], event: &str) {
    use std::io::Write;
    let mut child = lab.command(args).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    wait_until("the hook to start", || is_written(&lab.path("pids")));
    let pids = lab.read("pids");
    assert!(pids.split_whitespace().all(is_alive), "{pids}");
    // On a busy machine a hook can be ahead of the program that started it.
    wait_until("the program to watch over its hook", || has_asynchronous_descriptor(&child));
    send(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("the hook to be gone", || is_over(&pids));
}

#[test]
#[cfg(target_os = "linux")]
fn hooks_die_with_the_program_when_it_is_killed() {
    const STOP: &str = r#"{"session_id":"s","cwd":"/","hook_event_name":"Stop"}"#;
    let ignores = "trap '' HUP INT TERM IO; sleep 60 & echo $$ $! > pids; wait; sleep 60";
    for config in [SLEEPER, &format!("hooks: {{Stop: [{{name: deaf, command: \"{ignores}\"}}]}}")] {
        expect_to_die_together(&Lab::with(config), &["fire", "Stop"], STOP);
        expect_to_die_together(&Lab::with(config), &["hook", "claude", "-c", "crosier.yaml"], STOP);
        expect_to_die_together(&Lab::with(config), &["fire", "Stop", "--exit-code"], STOP);
    }
    // A Python hook, in the middle of its call.
    let lab = Lab::with("hooks: {Stop: [{name: stuck, type: python, handler: stuck.check}]}");
    let code = "import os, time\ndef check(event):\n    open('pids', 'w').write(f'{os.getpid()}\\n')\n    time.sleep(60)\n";
    lab.write("stuck.py", code);
    expect_to_die_together(&lab, &["fire", "Stop"], STOP);
}

#[test]
fn what_a_hook_leaves_in_the_background_lives_on() {
    let lab = Lab::with("hooks: {Stop: [{name: quick, command: 'sleep 60 & echo $! > pids'}]}");
    lab.feed(&["fire", "Stop"], "{}").exits(0);
    let pid = lab.read("pids");
    assert!(is_alive(&pid));
    kill_process(Pid::from_raw(pid.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}
