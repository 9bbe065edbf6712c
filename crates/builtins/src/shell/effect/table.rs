//! The table of programs. The build takes `programs.txt` apart; a row is read when a line first needs it.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::shell::model::Command;
use crate::shell::word::Word;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

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
    /// A URL; `file://` is a file that is read.
    Address,
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
    /// The words after it belong to another command.
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
    options: Vec<(&'static str, OptionRole)>,
    /// `if=` and `of=` of dd.
    pub(super) prefixes: Vec<(&'static str, Role)>,
    /// Whether its first operand is a subcommand with a row of its own.
    pub(super) has_subcommands: bool,
}

impl Row {
    /// What an option does. A list is quicker than a map here: it is made for one command and searched a few times.
    pub(super) fn option(&self, name: &str) -> Option<&OptionRole> {
        self.options.iter().rfind(|(other, _)| *other == name).map(|(_, role)| role)
    }
}

static READ: [OnceLock<Option<Row>>; ROWS.len()] = [const { OnceLock::new() }; ROWS.len()];

/// The row of a program, or of a program and its subcommand.
fn named(name: &str) -> Option<&'static Row> {
    let place = PROGRAMS.binary_search_by_key(&name, |(name, _)| name).ok()?;
    let (_, number) = PROGRAMS[place];
    let (operands, options) = ROWS[number];
    READ[number].get_or_init(|| row(operands, options).ok()).as_ref()
}

/// The row of a command, and where its own words begin.
pub(super) fn find(command: &Command) -> Option<(&'static Row, usize)> {
    let name = &*lowered_cmdlet(command.name()?);
    let row = named(name)?;
    if !row.has_subcommands {
        return Some((row, 1));
    }
    let words = command.arguments();
    let place = subcommand(row, words)?;
    let second = words.get(place)?.known()?;
    Some((named(&format!("{name} {second}"))?, place + 2))
}

/// `Set-Content` as `set-content`: the letters of PowerShell have any case.
fn lowered_cmdlet(name: &str) -> Cow<'_, str> {
    match name.contains('-') && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// The index of the subcommand after options.
fn subcommand(row: &Row, words: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.known()?;
        if !text.starts_with('-') {
            return Some(at);
        }
        let takes = matches!(row.option(text), Some(OptionRole::Value(_)));
        at += 1 + usize::from(takes);
    }
    None
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
        row.options.push((name, meaning));
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
        "address" => Role::Address,
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
    for (name, number) in PROGRAMS {
        let (operands, options) = ROWS[*number];
        row(operands, options).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(PROGRAMS.len())
}
