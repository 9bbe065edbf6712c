//! `crosier demo --tui` on a real terminal: it is drawn, a key leaves, and the terminal is given back.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use crate::lab::Lab;

/// Reads until this has been seen.
fn read_until(ours: &mut File, seen: &mut String, wanted: &str) {
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

#[test]
fn it_is_drawn_and_a_key_gives_the_terminal_back() {
    let lab = Lab::new();
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs: OwnedFd =
        OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
    tcsetwinsize(&theirs, Winsize { ws_col: 100, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let before = tcgetattr(&theirs).unwrap().local_modes;
    let mut command = lab.command(&["demo", "--tui"]);
    let clone = || theirs.as_fd().try_clone_to_owned().unwrap();
    command.env("TERM", "xterm").stdin(clone()).stdout(clone()).stderr(clone());
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut ours, mut seen) = (File::from(ours), String::new());
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
