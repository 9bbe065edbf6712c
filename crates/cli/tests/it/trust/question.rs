//! The question on a terminal, and `--watch`: with a real terminal that belongs to the process.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};

use super::Machine;
use crate::lab::CROSIER;
use crate::terminal::{open, read_until};

const ASKS: &str = "Trust this? [y/N] ";
const KEYS: &str = "[q]uit ";

/// `crosier trust …` on a terminal of its own, so that Ctrl-C is a signal.
struct Session {
    terminal: File,
    seen: String,
    child: Child,
}

impl Session {
    fn start(machine: &Machine, args: &[&str]) -> Self {
        let (terminal, theirs) = open();
        // Whoever runs the tests in the background ignores SIGINT, and children inherit that.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=INT", "setsid", "--ctty", "--wait", CROSIER, "trust"])
            .args(args)
            .current_dir(machine.path("project"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("home"));
        command.stdin(theirs.try_clone().unwrap());
        command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap();
        Self { terminal, seen: String::new(), child }
    }

    /// Waits for a text and forgets what came up to it.
    fn wait_for(&mut self, text: &str) -> String {
        read_until(&mut self.terminal, &mut self.seen, text);
        let (before, after) = self.seen.split_once(text).unwrap();
        let before = before.to_owned();
        self.seen = after.to_owned();
        before
    }

    fn type_in(&mut self, keys: &[u8]) {
        self.terminal.write_all(keys).unwrap();
    }

    /// The exit status, and what was said to the end.
    fn end(mut self) -> (i32, String) {
        let mut rest = Vec::new();
        let _ = self.terminal.read_to_end(&mut rest);
        let status = self.child.wait().unwrap();
        (status.code().unwrap_or(-1), self.seen + &String::from_utf8_lossy(&rest))
    }
}

#[test]
fn only_a_yes_records_something() {
    let machine = Machine::new();
    for answer in [&b"n\n"[..], b"\n", b"\x04", b"\x1b[Ay\n", b"yessir\n"] {
        let mut session = Session::start(&machine, &[]);
        session.wait_for(ASKS);
        session.type_in(answer);
        let (status, said) = session.end();
        assert!(status == 1 && said.contains("Nothing was recorded"), "{answer:?}: {status} {said}");
        assert!(!machine.path("home/.local/state/crosier/trust").exists(), "{answer:?}");
    }
    let mut session = Session::start(&machine, &[]);
    session.wait_for(ASKS);
    session.type_in(b"\x03");
    assert_ne!(session.end().0, 0, "Ctrl-C");
    machine.is_never_trusted("project");
    let mut session = Session::start(&machine, &[]);
    session.wait_for(ASKS);
    session.type_in(b"y\n");
    let (status, said) = session.end();
    assert!(status == 0 && said.contains("Trusted:"), "{status} {said}");
    machine.is_guarded("project");
}

#[test]
fn what_was_shown_is_what_is_trusted() {
    let machine = Machine::new();
    let mut session = Session::start(&machine, &[]);
    session.wait_for(ASKS);
    machine.write("project/guard.sh", "#!/bin/sh\ntouch swapped\n");
    session.type_in(b"y\n");
    assert_eq!(session.end().0, 0);
    machine.is_closed("project", "guard.sh changed");
    assert!(!machine.path("project/swapped").exists());
}

#[test]
fn hostile_text_does_not_steer_the_terminal() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "trust: ['evil*']\nhooks: {PreToolUse: [{name: \"a\\u202e\\e]0;x\\a\", command: \"./guard.sh \\e[2J\", env: {A: \"\\u200b\\r\\nTrust\"}}]}\n",
    );
    machine.write("project/evil\u{1b}[31m\u{202e}.txt", "\u{1b}]0;y\u{7}\n");
    let mut session = Session::start(&machine, &[]);
    let shown = session.wait_for(ASKS);
    session.type_in(b"y\n");
    session.end();
    // The program's own colours are all that begins with an escape.
    let foreign = shown.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_none_or(|at| rest.as_bytes()[at] != b'm' || rest.starts_with("31m\u{202e}"))
    });
    assert!(!foreign && !shown.contains(['\u{202e}', '\u{7}', '\u{200b}']), "{shown:?}");
    assert!(!shown.contains("\u{1b}]"), "{shown:?}");
    assert!(shown.contains("evil\\u{1b}[31m\\u{202e}.txt"), "{shown}");
    for args in [&["list", "--json"][..], &["config", "--json"], &["trust", "--list"], &["check"], &["list"]]
    {
        let ran = machine.run("project", args);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{args:?}: {said:?}");
    }
}

#[test]
fn a_watched_project_is_trusted_with_one_key() {
    let machine = Machine::trusted();
    let script = |line: &str| {
        let text = format!("#!/bin/sh\necho '{{\"decision\": \"deny\", \"reason\": \"{line}\"}}'\n");
        machine.write("project/guard.sh", &text);
    };
    let mut session = Session::start(&machine, &["--watch"]);
    session.wait_for("Watching");
    script("the second");
    let shown = session.wait_for(KEYS);
    assert!(shown.contains("the second") && shown.contains("Changed since you trusted it"), "{shown}");
    // The second key is not an answer to the next question.
    session.type_in(b"yy");
    session.wait_for("Trusted:");
    assert_eq!(machine.decision("project").1, "the second");
    script("the third");
    session.wait_for(KEYS);
    session.type_in(b"n");
    session.wait_for("Not trusted");
    machine.is_closed("project", "guard.sh changed");
    script("the fourth");
    session.wait_for(KEYS);
    // It changes again while the question stands: the key is for what was shown.
    script("the fifth");
    session.type_in(b"y");
    session.wait_for("Trusted:");
    machine.is_closed("project", "guard.sh changed");
    let shown = session.wait_for(KEYS);
    assert!(shown.contains("the fifth"), "{shown}");
    session.type_in(b"q");
    assert_eq!(session.end().0, 0);
    machine.is_closed("project", "guard.sh changed");
    // Ctrl-C at the question trusts nothing, and leaves the terminal as it was.
    let mut session = Session::start(&machine, &["--watch"]);
    session.wait_for(KEYS);
    session.type_in(b"\x03");
    session.end();
    machine.is_closed("project", "guard.sh changed");
}
