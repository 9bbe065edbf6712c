//! `crosier demo --tui` on a real terminal: it is drawn, a key leaves, and the terminal is given back.

use std::io::Write;
use std::os::fd::AsFd;

use rustix::termios::tcgetattr;

use crate::lab::Lab;
use crate::terminal::{open, read_until};

#[test]
fn it_is_drawn_and_a_key_gives_the_terminal_back() {
    let lab = Lab::new();
    let (mut ours, theirs) = open();
    let before = tcgetattr(&theirs).unwrap().local_modes;
    let mut command = lab.command(&["demo", "--tui"]);
    let clone = || theirs.as_fd().try_clone_to_owned().unwrap();
    command.env("TERM", "xterm").stdin(clone()).stdout(clone()).stderr(clone());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut seen = String::new();
    read_until(&mut ours, &mut seen, "decisions");
    read_until(&mut ours, &mut seen, "hooks");
    assert!(seen.contains("\u{1b}[?1049h"), "another screen: {seen:?}");
    ours.write_all(b"q").unwrap();
    read_until(&mut ours, &mut seen, "\u{1b}[?1049l");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(tcgetattr(&theirs).unwrap().local_modes, before, "as it was");
}

#[test]
fn without_a_terminal_it_says_so() {
    let lab = Lab::new();
    lab.run(&["demo", "--tui"]).exits(64).complains("--tui needs a terminal").complains("plain lines");
    lab.run(&["demo", "--tui", "--json"]).exits(64);
}
