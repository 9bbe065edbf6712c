//! Commands that `git` runs: aliases, pagers, `submodule foreach`, `bisect run`, `rebase --exec`.

use super::option::{first_operand, values};
use crate::shell::parser::Parser;
use crate::shell::word::Word;

const LONG: [&str; 6] =
    ["--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path"];

/// Options of subcommands whose value is code.
const CODE: [&str; 13] = [
    "--exec",
    "--extcmd",
    "--upload-pack",
    "--receive-pack",
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--env-filter",
    "--commit-filter",
    "--parent-filter",
    "--tag-name-filter",
    "--open-files-in-pager",
    "--setup",
];

/// Suffixes of settings whose value git runs.
const RUNS: [&str; 17] = [
    ".sshcommand",
    ".editor",
    ".pager",
    ".fsmonitor",
    ".external",
    ".command",
    ".textconv",
    ".helper",
    ".program",
    ".cmd",
    ".driver",
    ".clean",
    ".smudge",
    ".process",
    ".askpass",
    ".gitproxy",
    ".packobjectshook",
];

/// The index of git's subcommand among its arguments.
pub(crate) fn subcommand(words: &[Word]) -> usize {
    first_operand(words, "Cc", &LONG)
}

impl Parser {
    pub(super) fn git(&mut self, at: usize, words: &[Word]) {
        let place = subcommand(words);
        let (global, rest) = words.split_at(place.min(words.len()));
        for value in values(global, &["-c"], "C") {
            self.setting(at, &value);
        }
        let Some((name, rest)) = rest.split_first() else { return };
        for word in rest.iter().filter(|word| word.head().starts_with("ext::")) {
            self.unknown("git runs a program for an ext:: address");
            self.code(at, &[word.after("ext::".len())]);
        }
        for value in values(rest, &CODE, "") {
            self.code(at, &[value]);
        }
        let second = rest.first().and_then(Word::known);
        match (name.known(), second) {
            (Some("submodule"), _) => {
                if let Some(each) = rest.iter().position(|word| word.known() == Some("foreach")) {
                    let code = &rest[each + 1..];
                    let from = first_operand(code, "", &[]);
                    self.code(at, code.get(from..).unwrap_or_default());
                }
            }
            (Some("bisect"), Some("run")) => self.add_wrapped(at, rest[1..].to_vec(), Vec::new()),
            (Some("rebase" | "difftool"), _) => {
                for value in values(rest, &["-x"], "sX") {
                    self.code(at, &[value]);
                }
            }
            (Some("grep"), _) => {
                for word in rest.iter().filter(|word| word.head().starts_with("-O")) {
                    self.code(at, &[word.after(2)]);
                }
            }
            (Some("config"), _) => self.config(at, rest),
            (None, _) => self.unknown("what git does cannot be known"),
            _ => {}
        }
    }

    /// `git config alias.x '!rm'`: run when the alias is used, which may be the next command.
    fn config(&mut self, at: usize, words: &[Word]) {
        let from = first_operand(words, "ft", &["--file", "--type", "--blob"]);
        let rest = words.get(from..).unwrap_or_default();
        let rest = match rest.first().and_then(Word::known) {
            Some("set" | "--add" | "--replace-all") => {
                let from = first_operand(&rest[1..], "ft", &["--file", "--type"]);
                rest.get(1 + from..).unwrap_or_default()
            }
            _ => rest,
        };
        if let [key, value, ..] = rest {
            let setting = format!("{}={}", key.show(), value.show());
            self.setting(at, &Word::literal(setting));
        }
    }

    /// `key=value`, where git runs the value of some keys.
    pub(super) fn setting(&mut self, at: usize, word: &Word) {
        let head = word.head();
        let Some(equals) = head.find('=') else {
            if word.known().is_none() {
                self.unknown("a setting of git cannot be known");
            }
            return;
        };
        let key = head[..equals].to_ascii_lowercase();
        let value = word.after(equals + 1);
        if key.ends_with(".hookspath") || key.ends_with(".templatedir") || key.starts_with("include") {
            return self.unknown("it changes where git finds what it runs");
        }
        let is_alias = key.starts_with("alias.");
        if !is_alias && !key.starts_with("pager.") && !RUNS.iter().any(|end| key.ends_with(end)) {
            return;
        }
        match value.head().strip_prefix('!') {
            Some(_) => self.code(at, &[value.after(1)]),
            None if is_alias => self.code(at, &[Word::literal("git"), value]),
            None => self.code(at, &[value]),
        }
    }
}
