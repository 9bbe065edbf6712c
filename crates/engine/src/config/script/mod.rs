//! `.arma` scripts and `run:` lines: each line is one hook.
//!
//! Input: the text of a line, its event and the known commands. Output: a callback that was compiled once, or
//! *all* errors in the line, each with its position and a remedy. Nothing is parsed when an event is fired,
//! and the event's JSON is only made for a line that uses a field. What is ambiguous is an error when the
//! file is loaded, and text of an event is never interpreted as a word, a quote or a variable of the line.
//!
//! # Grammar
//! ```text
//! line     = blank | comment | "hook" event { option } command { argument } [ comment ]
//! event    = a point or an event's name, with ":" and a matcher if one is wanted: pre:tool:shell, PreToolUse:Bash
//! option   = "--name" word | "--priority" number
//! command  = "/" name
//! argument = a word in which variables are replaced by values of the event
//! comment  = "#" at the beginning of a word, up to the end of the line
//! ```
//! A `run:` line of a YAML hook is `command { argument } [ comment ]`; the rest is in the hook's keys.
//!
//! - **Words** end at white space. `'…'` is taken literally and may contain anything but `'`. `"…"` has the
//!   escapes `\"`, `\\`, `\n`, `\t` and `\$`; any other backslash in it is an error. Outside quotes a
//!   backslash is an ordinary character, but an error where it looks like an escape: before white space, a
//!   quote or a `$`. Pieces without white space between them are one word: `a"b c"'d'`.
//! - **Variables** are replaced in arguments, bare and in `"…"`, not in `'…'`; a value never becomes more
//!   than one argument. `$prompt`, `$output`, `$tool`, `$args`, `$agent`, `$path`, `$phase` are short names;
//!   `${tool_input.command}` is any field of the event by its path (`.0` or `[0]` in a list; a short name may
//!   begin it); `$$` is a `$`. Text is inserted without quotes, anything else as JSON, and a missing value is
//!   empty. In the event, in options and in the command's name a `$` is an ordinary character.
//! - **A missing value is empty when the event is fired; an unknown name is an error when the file is
//!   loaded.**

mod command;
mod file;
mod head;
mod lexer;
mod line;
mod permission;
mod position;
mod standard;
mod variable;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod script_tests;

pub use command::{ArgumentProblem, SlashCommand, expect_arguments};
pub use variable::Argument;

pub(super) use command::Commands;
pub(super) use file::scripts;
pub(super) use line::run_line;
pub use permission::LayeredPermissions;
pub(super) use permission::Permissions;

/// The priority of script lines that do not set one.
pub(super) const SCRIPT_PRIORITY: i32 = 50;
