//! Permission rules: what a tool may do without asking, what a person decides, what is never done.
//!
//! # Syntax
//! `Tool` is every call of a tool; its name is a glob, so `mcp__server__*` is every tool of a server (and so is
//! `mcp__server`). `Tool(pattern)` is some calls of it:
//!
//! - `Bash(git *)`: commands, word by word. `*` alone is any number of words; within a word any characters. A
//!   `*` at the end also takes all words that follow (`Bash(rm*)`). `Bash(git:*)` is `Bash(git *)`. Quotes are
//!   as in a shell. A rule is about *one* simple command; it cannot have `;`, `|`, `$` or `>` in it.
//! - `Read(./src/**)`, `Edit(~/notes/*)`: files. `Read(…)` stands for all tools that read files, `Edit(…)` and
//!   `Write(…)` for all that write, also for `>` in a command line. Patterns are those of `protect-paths`;
//!   relative ones are relative to the event's `cwd`.
//! - `WebFetch(domain:example.com)`: the host of `url`, or one below it.
//! - `Anything(field=glob)`: a field of the input; without `field=`, any text in it.
//!
//! # Decision
//! Deny first, then ask, then allow; when no rule says anything there is no decision, and the reason tells which
//! part no rule covers. A line of shell is taken apart ([`crate::shell`]):
//!
//! - A *deny* or *ask* rule holds when it matches any command in the line, under any name or folder
//!   (`/bin/rm`), with its flags in any order and spelling (`-fr`, `-r -f`, `--recursive --force`). When it
//!   *could* match, because a part is known only at run time, the decision is ask.
//! - An *allow* must cover every command in the line, with all that it runs (`sudo`, `xargs`, `sh -c`), every
//!   file that it writes to with `>` (by a `Write` or `Edit` rule), and no variables in front of it but harmless
//!   ones (`LANG=C`).
//! - A line that cannot be parsed is *ask*.

mod command;
mod decide;
mod effect;
mod field;
mod file;
mod flag;
mod line;
mod rule;
mod sequence;
mod verdict;

pub use decide::{RuleLists, Rules};
pub(crate) use flag::spells;
pub use rule::{Rule, RuleError};
pub use verdict::Verdict;

#[cfg(test)]
#[path = "table_tests.rs"]
mod table_tests;

#[cfg(test)]
#[path = "property_tests.rs"]
mod property_tests;
