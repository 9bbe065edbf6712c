//! One document, played from its first block to its last in a folder of its own.
//!
//! Files are written, configurations checked, cases run, commands run and their output compared. What a reader can
//! copy works; CONTRIBUTING.md has the conventions.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crosier::config::{Node, Source, parse_document};
use crosier::{Catalog, Reply};
use regex::Regex;

use super::markdown::{self, Block};
use crate::lab::CROSIER;

/// Stands in for cargo: what is built already is not built again.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  "run --release -- "*) shift 3; exec crosier "$@" ;;
  "run -- "*) shift 2; exec crosier "$@" ;;
  "run --example "*)
    [ -x "$EXAMPLES/$3" ] || { echo "$3 is not built: run the tests without --test"; exit 1; }
    exec "$EXAMPLES/$3" ;;
  "test --workspace" | "install --path crates/cli") exit 0 ;;
esac
echo "the stand-in does not know: cargo $*" >&2
exit 1
"#;

/// A document that is being played.
#[derive(Debug)]
pub(super) struct Play<'a> {
    name: &'a str,
    folder: &'a Path,
    bin: tempfile::TempDir,
}

impl<'a> Play<'a> {
    pub(super) fn new(name: &'a str, folder: &'a Path) -> Self {
        let bin = tempfile::tempdir().unwrap();
        let cargo = bin.path().join("cargo");
        fs::write(&cargo, CARGO).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        Self { name, folder, bin }
    }

    /// Plays every block; says how many commands were run.
    pub(super) fn all(&self, text: &str) -> usize {
        markdown::blocks(text).iter().map(|block| self.block(block)).sum()
    }

    fn block(&self, block: &Block) -> usize {
        let place = format!("{}:{}", self.name, block.line);
        match block.language.as_str() {
            "console" => return self.console(&block.text, &place),
            "sh" if block.file.is_none() => return self.commands(&block.text, &place),
            // Rust is compiled and run by rustdoc; see `every_rust_block_is_a_doctest`.
            "text" | "rust" => return 0,
            _ => {}
        }
        let name = block.file.clone().unwrap_or_else(|| format!("unnamed.{}", block.language));
        let path = self.folder.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &block.text).unwrap();
        if block.text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        match block.language.as_str() {
            "yaml" | "json" => self.data(block, &name, &place),
            "arma" => {
                fs::write(self.folder.join("unnamed.yaml"), format!("scripts: [{name}]\n")).unwrap();
                self.succeeds("crosier check -c unnamed.yaml", &place);
            }
            "python" => {
                self.succeeds(
                    &format!("python3 -c 'compile(open(\"{name}\").read(), \"x\", \"exec\")'"),
                    &place,
                );
            }
            "sh" => self.succeeds(&format!("sh -n {name}"), &place),
            other => panic!("{place}: a block of `{other}`: nobody knows how to check it; write `text`"),
        }
        0
    }

    /// Replies are read as replies, configurations as configurations, cases are run.
    fn data(&self, block: &Block, name: &str, place: &str) {
        if let Some(event) = block.mark.strip_prefix("reply=") {
            let kind = Catalog::default().find(event).unwrap_or_else(|| panic!("{place}: no event {event}"));
            for line in block.text.lines().filter(|_| block.language == "json") {
                let reply = Reply::decode(line.as_bytes(), &kind)
                    .unwrap_or_else(|failure| panic!("{place}: {line}: {}", failure.detail));
                let unknown = reply.effects().map(|effects| effects.unknown.clone()).unwrap_or_default();
                assert!(unknown.is_empty(), "{place}: {line}: unknown keys {unknown:?}");
            }
            return;
        }
        let source = Source::new(place.to_owned(), block.text.clone());
        let node = parse_document(&source).unwrap_or_else(|problems| panic!("{problems}"));
        let is_case = |node: &Node| {
            node.as_list().is_some_and(|list| list.iter().any(|item| item.get("expect").is_some()))
        };
        if ["hooks", "agents", "scripts"].iter().any(|key| node.get(key).is_some()) {
            self.succeeds(&format!("crosier check -c {name}"), place);
        } else if is_case(&node) {
            self.succeeds(&format!("crosier test {name}"), place);
        }
    }

    fn succeeds(&self, command: &str, place: &str) {
        let (code, output) = self.run(command, 0);
        assert_eq!(code, 0, "{place}: {command}\n{output}");
    }

    /// One command a line; each succeeds, and nobody says what it prints.
    fn commands(&self, text: &str, place: &str) -> usize {
        let commands: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        commands.iter().for_each(|command| self.succeeds(command, place));
        commands.len()
    }

    /// `$ command`, and what it prints. A command that fails is followed by `$ echo $?`.
    fn console(&self, text: &str, place: &str) -> usize {
        let mut steps: Vec<(String, String)> = Vec::new();
        let mut goes_on = false;
        for line in text.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), String::new())),
                (None, Some((command, _))) if goes_on => *command = format!("{command}\n{line}"),
                (None, Some((_, output))) => *output = format!("{output}{line}\n"),
                (None, None) => panic!("{place}: a console block begins with `$ `"),
            }
            goes_on =
                steps.last().is_some_and(|(command, output)| command.ends_with('\\') && output.is_empty());
        }
        let mut last = 0;
        for (at, (command, wanted)) in steps.iter().enumerate() {
            let (code, output) = self.run(command, last);
            assert!(
                pattern(wanted).is_match(&output),
                "{place}: $ {command}\n--- it should print\n{wanted}--- it prints\n{output}"
            );
            let is_asked = steps.get(at + 1).is_some_and(|(next, _)| next == "echo $?");
            assert!(code == 0 || is_asked, "{place}: $ {command}\nexit status {code}:\n{output}");
            last = code;
        }
        steps.len()
    }

    /// Runs a line as a shell would after a command with this exit status; both streams, as a terminal shows them.
    fn run(&self, line: &str, last: i32) -> (i32, String) {
        let programs = Path::new(CROSIER).parent().unwrap();
        let shown = self.bin.path().join("shown");
        let out = File::create(&shown).unwrap();
        let path =
            format!("{}:{}:/usr/local/bin:/usr/bin:/bin", self.bin.path().display(), programs.display());
        let status = Command::new("sh")
            .args(["-c", &format!("(exit {last}); {line}")])
            .current_dir(self.folder)
            .env_clear()
            .envs([("PATH", path.as_str()), ("LANG", "C.UTF-8")])
            .env("HOME", self.bin.path())
            .env("EXAMPLES", programs.join("examples"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .status()
            .unwrap();
        let text = fs::read(&shown).unwrap();
        (status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }
}

/// What a reader is shown, as a pattern: a line `...` is any lines, `...` in a line any text.
fn pattern(shown: &str) -> Regex {
    let mut pattern = String::from(r"\A");
    for line in shown.lines() {
        if line.trim() == "..." {
            pattern.push_str("(?s:.*?)");
            continue;
        }
        let parts: Vec<String> = line.trim_end().split("...").map(regex::escape).collect();
        pattern.push_str(&parts.join(".*"));
        pattern.push_str("[ ]*\n");
    }
    Regex::new(&format!(r"{pattern}\z")).unwrap()
}

#[test]
fn dots_stand_for_anything_and_nothing_else_does() {
    let fits = |shown: &str, printed: &str| pattern(shown).is_match(printed);
    assert!(
        fits("a ... c\n", "a b c\n")
            && fits("a\n...\nd\n", "a\nb\nc\nd\n")
            && fits("...\n", "")
            && fits("", "")
    );
    assert!(
        !fits("a ... c\n", "a b\nc\n")
            && !fits("a\n", "a\nb\n")
            && !fits("a.c\n", "abc\n")
            && !fits("", "a\n")
    );
}
