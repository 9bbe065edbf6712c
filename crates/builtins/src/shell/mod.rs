//! Parses a shell command line into the simple commands that it can run.
//!
//! Input: the line that a tool like `Bash` was asked to run. Output: a [`Script`]: every simple command with its
//! words, assignments and redirections, wherever it is (after `;`, `&&`, `|`, in `$(…)`, in a function, in
//! the text of a here-document, after `sudo` or `xargs`, in the code that `sh -c` gets), and a list of doubts:
//! why some of it cannot be known. A hook that decides by the commands must not allow a script with doubts.
//!
//! Values that the line itself assigns are known where they are used: `d=build; rm -rf "$d"` deletes `build`.
//! What a branch or a loop may assign is an [`Origin::Choice`], and the command is listed again for each value,
//! with `certain: false`: used to forbid, never to allow. Known output of commands, and files that
//! the line writes and then runs, are followed too.
//!
//! What a command does to files is `Command::files`, from one table of programs (`effect`).
//!
//! The grammar is that of POSIX and bash, read leniently: what a shell would refuse is a doubt, and parsing
//! continues. Nothing is ever run or looked up. The time grows with the length of the line, and nesting is
//! bounded: no line can make it hang or overflow.

mod assign;
mod brace;
mod compound;
mod decode;
mod dollar;
mod effect;
mod escape;
mod execution;
mod folders;
mod lex;
mod list;
mod model;
mod parameter;
mod parser;
mod printed;
mod simple;
mod variables;
mod windows;
mod word;
mod wrapper;

pub(crate) use effect::{Effect, FileUse};
pub(crate) use folders::normal;
pub use model::{
    Assignment, Command, Direction, Doubt, DoubtKind, HereDocument, Input, Redirection, Script, base_name,
};
pub use word::{Origin, Piece, Unknown, Word};
pub(crate) use wrapper::{git_subcommand, is_interpreter, is_wrapper, names_of_output, only_checks};

use parser::Parser;

impl Script {
    /// Parses a line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut parser = Parser::new(Self::default());
        parser.nested(unix_lines(line), Parser::program);
        parser.look_inside();
        parser.script
    }

    /// The commands as they are written, without those that they run in turn.
    pub(crate) fn parse_flat(line: &str) -> Self {
        let mut parser = Parser::new(Self::default());
        parser.nested(unix_lines(line), Parser::program);
        parser.script
    }

    /// A command that is started without a shell, from its words.
    pub fn from_words<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        let words: Vec<Word> = words.into_iter().map(|word| Word::literal(word)).collect();
        let mut parser = Parser::new(Self::default());
        if !words.is_empty() {
            parser.script.commands.push(Command { words, certain: true, ..Command::default() });
        }
        parser.look_inside();
        parser.script
    }
}

/// A text whose lines all end as on Windows, with the ends that a shell knows.
///
/// Where only some do, or one goes on in the next, a shell reads it otherwise than a person: it stays as it is.
fn unix_lines(text: &str) -> String {
    if !text.contains("\r\n") || text.contains("\\\r\n") {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let ends_alike = bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'\r' => matches!(bytes.get(at + 1), None | Some(b'\n')),
        b'\n' => at > 0 && bytes[at - 1] == b'\r',
        _ => true,
    });
    if ends_alike { text.replace('\r', "") } else { text.to_owned() }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "differential_tests.rs"]
mod differential_tests;
