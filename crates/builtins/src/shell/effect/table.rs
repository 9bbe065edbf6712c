//! The table of programs: its rows, read once.

use std::sync::{LazyLock, OnceLock};

use crate::names::NameMap;
use crate::shell::model::Command;
use crate::shell::word::Word;

const TABLE: &str = include_str!("programs.txt");

/// What a word is to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Text,
    Stat,
    Read,
    Write,
    Delete,
    /// A file that is moved away.
    Move,
    Any,
    /// A path unless it is `host:path`.
    LocalRead,
    LocalWrite,
    /// A pattern or program text, unless an option provides that.
    Code,
    /// In `git checkout a -- b`, what is after the dashes is written.
    Checkout,
}

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionRole {
    /// Its value is this.
    Value(Role),
    /// Two values that are not files.
    TwoTexts,
    /// A name and a file that is read.
    TextAndFile,
    /// Its value takes the role of the first operand.
    Pattern,
    PatternFile,
    /// In its value `@file` is read.
    AtFile,
    /// `-i inplace` of awk.
    InPlace,
    /// The rest of the line belongs to something else.
    Rest,
    /// Its value is code, and the rest are its arguments.
    CodeRest,
    /// A flag that changes what happens to all operands.
    All(Role),
    /// A flag that changes what happens to the last operand.
    Last(Role),
    /// A flag that changes nothing.
    Flag,
}

/// One row.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Roles by position; with `repeats`, the last one applies to all that follow.
    pub(super) operands: Vec<Role>,
    pub(super) repeats: bool,
    pub(super) last: Option<Role>,
    pub(super) options: NameMap<&'static str, OptionRole>,
    /// `if=` and `of=` of dd.
    pub(super) prefixes: Vec<(&'static str, Role)>,
    /// Whether its first operand is a subcommand with a row of its own.
    pub(super) has_subcommands: bool,
}

/// A row as it is written, and as it is read: when it is asked for, because one line of shell needs few of them.
#[derive(Debug)]
struct Line {
    operands: &'static str,
    options: &'static str,
    row: OnceLock<Option<Row>>,
}

impl Line {
    fn row(&self) -> Option<&Row> {
        self.row.get_or_init(|| row(self.operands, self.options).ok()).as_ref()
    }
}

static LINES: LazyLock<NameMap<&'static str, Line>> = LazyLock::new(|| lines().unwrap_or_default());

/// The row of a command, and where its own words begin.
pub(super) fn find(command: &Command) -> Option<(&'static Row, usize)> {
    let name = command.name()?;
    let row = LINES.get(name)?.row()?;
    if !row.has_subcommands {
        return Some((row, 1));
    }
    let words = command.arguments();
    let place = subcommand(row, words)?;
    let second = words.get(place)?.known()?;
    Some((LINES.get(format!("{name} {second}").as_str())?.row()?, place + 2))
}

/// The index of the subcommand after options.
fn subcommand(row: &Row, words: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.known()?;
        if !text.starts_with('-') {
            return Some(at);
        }
        let takes = matches!(row.options.get(text), Some(OptionRole::Value(_)));
        at += 1 + usize::from(takes);
    }
    None
}

/// Takes the table apart; the error says which row is wrong.
fn lines() -> Result<NameMap<&'static str, Line>, String> {
    let mut lines = NameMap::default();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split(" |");
        let (Some(names), Some(operands), Some(options), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(format!("three fields are wanted: {line}"));
        };
        for name in names.split(',') {
            lines.insert(name, Line { operands, options, row: OnceLock::new() });
        }
    }
    Ok(lines)
}

fn row(operands: &'static str, options: &'static str) -> Result<Row, String> {
    let mut row = Row::default();
    for word in operands.split_whitespace() {
        if word == "sub" {
            row.has_subcommands = true;
        } else if let Some((name, role_name)) = word.split_once("==") {
            row.prefixes.push((name, role(role_name)?));
        } else if let Some(last) = word.strip_suffix('!') {
            row.last = Some(role(last)?);
        } else {
            row.repeats = word.ends_with('*');
            row.operands.push(role(word.trim_end_matches('*'))?);
        }
    }
    for word in options.split_whitespace() {
        // The name of an option can have a colon in it: -c:v=text
        let (name, meaning) = match word.split_once('=') {
            Some((name, value)) => (name, value_role(value)?),
            None => {
                let (name, flag) = word.rsplit_once(':').ok_or_else(|| format!("`{word}` has no role"))?;
                (name, flag_role(flag)?)
            }
        };
        row.options.insert(name, meaning);
    }
    Ok(row)
}

fn role(text: &str) -> Result<Role, String> {
    Ok(match text {
        "text" => Role::Text,
        "stat" => Role::Stat,
        "read" => Role::Read,
        "write" => Role::Write,
        "delete" => Role::Delete,
        "move" => Role::Move,
        "any" => Role::Any,
        "local-read" => Role::LocalRead,
        "local-write" => Role::LocalWrite,
        "code" => Role::Code,
        "checkout" => Role::Checkout,
        other => return Err(format!("there is no role `{other}`")),
    })
}

fn value_role(text: &str) -> Result<OptionRole, String> {
    Ok(match text {
        "text2" => OptionRole::TwoTexts,
        "text-read" => OptionRole::TextAndFile,
        "pattern" => OptionRole::Pattern,
        "pattern-file" => OptionRole::PatternFile,
        "@" => OptionRole::AtFile,
        "inplace" => OptionRole::InPlace,
        "rest" | "text-rest" => OptionRole::Rest,
        "code-rest" | "shell-code" => OptionRole::CodeRest,
        "none" => OptionRole::Flag,
        other => OptionRole::Value(role(other)?),
    })
}

fn flag_role(text: &str) -> Result<OptionRole, String> {
    Ok(match text {
        "none" => OptionRole::Flag,
        "delete-last" => OptionRole::Last(Role::Delete),
        other => OptionRole::All(role(other)?),
    })
}

/// The number of programs in the table, when all of it can be read.
#[cfg(test)]
pub(super) fn check() -> Result<usize, String> {
    let lines = lines()?;
    for (name, line) in &lines {
        row(line.operands, line.options).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(lines.len())
}
