//! What a terminal gets and a pipe does not: colour and progress.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::lab::Lab;

const CASES: &str =
    "- {name: a, config: {hooks: {Stop: [{reply: {}}]}}, event: Stop, expect: {decision: deny}}\n";

/// A terminal of a usual size: our side, and that of a program.
pub(crate) fn open() -> (File, OwnedFd) {
    open_sized(100)
}

/// A terminal with so many columns.
pub(crate) fn open_sized(columns: u16) -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs: OwnedFd =
        OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
    tcsetwinsize(&theirs, Winsize { ws_col: columns, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (File::from(ours), theirs)
}

/// Reads until this has been seen.
pub(crate) fn read_until(ours: &mut File, seen: &mut String, wanted: &str) {
    while !seen.contains(wanted) {
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::new(ours, PollFlags::IN)], Some(&limit)).unwrap();
        assert!(ready > 0, "no `{wanted}` in {seen:?}");
        let mut bytes = [0; 4096];
        let read = ours.read(&mut bytes).unwrap_or(0);
        assert!(read > 0, "it ended without `{wanted}`: {seen:?}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
}

/// Runs it with stdout and stderr on a terminal, and gives back what the terminal saw.
fn on_terminal(command: Command) -> String {
    on_sized_terminal(command, 100)
}

/// The same on a terminal with so many columns.
pub(crate) fn on_sized_terminal(mut command: Command, columns: u16) -> String {
    let (mut ours, theirs) = open_sized(columns);
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(child.stdin.take());
    drop((command, theirs));
    let mut seen = Vec::new();
    // A terminal whose other side is gone ends with an error, not with nothing.
    let _ = ours.read_to_end(&mut seen);
    child.wait().unwrap();
    String::from_utf8(seen).unwrap()
}

#[test]
fn a_terminal_gets_colour_and_a_pipe_does_not() {
    let lab = Lab::with("hooks: {Stop: [{name: a, command: 'true', timeout: 5000}]}");
    lab.write("a.test.yaml", CASES);
    for args in [&["check"][..], &["list"], &["explain", "Stop"], &["test", "a.test.yaml"], &["doctor"]] {
        assert!(on_terminal(lab.command(args)).contains("\u{1b}["), "{args:?}");
        let piped = lab.run(args);
        assert!(!piped.stdout.contains('\u{1b}') && !piped.stderr.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn no_color_is_respected() {
    let lab = Lab::with("hooks: {Stop: [{name: a, command: 'true', timeout: 5000}]}");
    for args in [&["check"][..], &["list"], &["explain", "Stop"], &["doctor"], &["fier"]] {
        let mut command = lab.command(args);
        command.env("NO_COLOR", "1");
        let seen = on_terminal(command);
        assert!(!seen.contains('\u{1b}'), "{args:?}: {seen:?}");
    }
}

#[test]
fn progress_is_shown_on_a_terminal_and_cleared() {
    let lab = Lab::new();
    let case = |n: usize| {
        format!(
            "- {{name: case {n}, config: {{hooks: {{Stop: [{{command: sleep 0.1}}]}}}}, event: Stop, expect: {{decision: null}}}}\n"
        )
    };
    lab.write("a.test.yaml", &(0..4).map(case).collect::<String>());
    let seen = on_terminal(lab.command(&["test", "a.test.yaml", "--jobs", "1"]));
    assert!(seen.contains("/4 case "), "{seen:?}");
    assert!(seen.contains("\r\u{1b}[K"), "{seen:?}");
    assert!(seen.trim_end().ends_with("4 passed, 0 failed\u{1b}[0m"), "{seen:?}");
}

#[test]
fn text_of_others_cannot_steer_the_terminal() {
    let lab = Lab::with(
        "hooks: {Stop: [{name: \"a\\e[31mb\", reply: {continue: false, stopReason: \"x\\e]0;y\\a\"}}]}",
    );
    for args in
        [&["list"][..], &["explain", "Stop"], &["fire", "Stop", "--exit-code"], &["fire", "Stop", "--trace"]]
    {
        let ran = lab.run(args);
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains(['\u{1b}', '\u{7}']),
            "{args:?}: {ran:?}"
        );
    }
}
