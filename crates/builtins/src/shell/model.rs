//! The result of parsing a line of shell: its simple commands, in order, and what is unclear about it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::variables::Variables;
use super::word::Word;

/// A parsed line of shell.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Every simple command that the line can run, wherever it is: in substitutions, in functions, after
    /// `sudo`, in the text that `sh -c` gets.
    pub commands: Vec<Command>,
    /// Why some of it cannot be known. When this is empty, `commands` is complete.
    pub doubts: Vec<Doubt>,
    /// The texts of here-documents.
    pub here_documents: Vec<HereDocument>,
}

/// Why a line, or a part of it, cannot be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What kind of doubt it is.
    pub kind: DoubtKind,
    /// Why, for people.
    pub why: Cow<'static, str>,
}

/// What kind of doubt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoubtKind {
    /// The line is malformed, or written in a way that hides something.
    Form,
    /// What it runs is known only when it runs.
    Value,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// One program with its words.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program and its arguments, quotes gone and braces expanded. Empty when there are only assignments
    /// or redirections.
    pub words: Vec<Word>,
    /// `NAME=value` in front of it.
    pub assignments: Vec<Assignment>,
    /// What it reads from and writes to.
    pub redirections: Vec<Redirection>,
    /// Where its standard input comes from.
    pub input: Input,
    /// The command that runs it: `sudo`, `xargs`, `sh -c`.
    pub wrapper: Option<usize>,
    /// The command that wrote the file which this one runs.
    pub(crate) runs_file_of: Option<usize>,
    /// The text on its standard input, when it is known.
    pub(crate) stdin_text: Option<String>,
    /// The text that it writes to files, as far as it is known.
    pub(crate) written: Option<String>,
    /// Code in another language that it runs: `python -c`, `awk`, a script that the line wrote.
    pub(crate) code: Vec<String>,
    /// Whether it is a wrapper without an effect of its own (`time`, `nice`): only the command that it runs matters.
    pub transparent: bool,
    /// False when only some shells would run it.
    pub certain: bool,
    /// How often it runs, and whether the line waits for it.
    pub(crate) execution: Execution,
    /// Whether it runs only when the command before it succeeded: it comes after `&&`.
    pub(super) needs_success: bool,
    pub(super) level: u8,
    /// How many substitutions it is in: `$(…)`, `<(…)`.
    pub(super) inside: u8,
    /// The variables that it and what it runs can use.
    pub(super) variables: Variables,
}

/// How often a command runs, and whether the line waits for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Execution {
    /// The line does not wait for it: `a &`.
    pub(crate) in_background: bool,
    /// It is in a loop that does not end, or not for a long time, and that neither waits nor stops.
    pub(crate) is_endless: bool,
    /// It calls the function that it is a part of.
    pub(crate) is_recursive: bool,
    /// Its redirections get what the commands of a compound command before it print.
    pub(crate) has_body: bool,
}

/// `NAME=value` in front of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `>&file`
    Write,
    /// `<>`
    Both,
    /// `<<`, with the place of its text in [`Script::here_documents`].
    Here(usize),
    /// `<<<`
    HereString,
    /// `2>&1`, `>&-`
    Duplicate,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub direction: Direction,
    /// The descriptor that it is about: 0 is the standard input.
    pub descriptor: u32,
    /// The file, the text, or the descriptor.
    pub target: Word,
}

/// Where the standard input of a command comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// The input of the line itself.
    #[default]
    Inherited,
    /// From these commands, through a pipe.
    Pipe(Range<usize>),
    /// From a file.
    File,
    /// From a here-document in [`Script::here_documents`].
    Here(usize),
    /// From a here-string.
    Text(Word),
}

/// The text of a here-document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HereDocument {
    /// The text as it was written.
    pub text: String,
    /// Whether it is used as it was written: its delimiter was quoted.
    pub literal: bool,
    /// The expanded text when it is not literal and its values are known.
    pub expanded: Option<String>,
}

impl Script {
    pub(super) fn doubt(&mut self, kind: DoubtKind, why: impl Into<Cow<'static, str>>) {
        // Each doubt is kept once, so that a line with a million mistakes does not produce a million doubts.
        let doubt = Doubt { kind, why: why.into() };
        if self.doubts.len() < 16 && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }
}

impl Command {
    /// The program, when it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.known()
    }

    /// The program without its folder: `rm` for `/bin/rm`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.program().map(base_name)
    }

    /// The words after the program.
    #[must_use]
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The command for display: on one line, shortened.
    #[must_use]
    pub fn show(&self) -> String {
        const LONGEST: usize = 80;
        let mut shown = String::new();
        for word in &self.words {
            if !shown.is_empty() {
                shown.push(' ');
            }
            shown.extend(word.show().chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST + 1));
            if shown.chars().count() > LONGEST {
                shown = shown.chars().take(LONGEST).collect();
                shown.push('…');
                break;
            }
        }
        shown
    }
}

/// The last part of a path.
#[must_use]
pub fn base_name(path: &str) -> &str {
    let slash = path.bytes().rposition(|byte| byte == b'/');
    slash.map_or(path, |slash| &path[slash + 1..])
}
