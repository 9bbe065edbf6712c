//! `block-commands`: destructive shell commands do not run; the model is told why, and what to do instead.
//!
//! The list is one data file, `commands.yaml`, whose first lines explain how entries are written. Lines are taken apart
//! before they are compared ([`crate::shell`]), so that quoting, other spellings of flags, `sudo`, `xargs` or
//! `sh -c` do not get around it. A line that is malformed or obfuscated is `ask`; one with parts that are
//! known only at run time is not, unless the rest of it matches an entry.
//!
//! # Options
//! - `also`: files with further lists (relative to the configuration).
//! - `commands`: further entries.
//! - `except`: ids of entries to leave out.
//! - `ask`: ids of entries that ask instead of denying.
//!
//! On `PreToolUse` and `PermissionRequest`.

mod code;
mod code_machine;
mod code_words;
mod connection;
mod desktop;
mod disposable;
mod elsewhere;
mod entry;
mod environment;
mod exhaust;
mod feeding;
mod fit;
mod forge;
mod found;
mod installer;
mod list;
mod package_source;
mod read;
mod root;
mod runs_input;
mod secret;
mod shape;
mod spare;
mod sql;
mod target;
mod verb;
mod written;

use std::path::Path;
use std::sync::Arc;

use crosier::config::Source;
use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Callback, Decision, Json};

pub(crate) use list::List;

use crate::guard::{self, Ruling};
use crate::path::Places;
use crate::shell::Script;
use crate::tool::{self, Subject};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockCommands;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("also", "files with further lists of commands"),
    BuiltinOption::new("commands", "further entries"),
    BuiltinOption::new("except", "ids of entries to leave out"),
    BuiltinOption::new("ask", "ids of entries that ask instead of denying"),
];

impl Builtin for BlockCommands {
    fn name(&self) -> &'static str {
        "block-commands"
    }

    fn about(&self) -> &'static str {
        "denies destructive shell commands, with the reason and the safer way"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn is_guard(&self) -> bool {
        true
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        guard::check(request, self.name())?;
        let list = list(request)?;
        Some(guard::callback(request, move |call| judge(&list, call.tool, call.input, call.cwd)))
    }
}

/// The list that the options ask for.
fn list(request: &mut BuiltinRequest<'_>) -> Option<Arc<List>> {
    if OPTIONS.iter().all(|option| request.node(option.name).is_none()) {
        return Some(Arc::clone(list::standard()));
    }
    let mut list = List::clone(list::standard());
    let mut fine = Some(());
    for file in request.texts("also").unwrap_or_default() {
        let path = request.folder().join(&file);
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let parsed = read.and_then(|text| {
            read::read(&Source::new(path.display().to_string(), text))
                .map_err(|problems| problems.to_string())
        });
        match parsed {
            Ok(more) => {
                list.places.extend(more.places);
                more.rows.into_iter().for_each(|row| list.push(row));
            }
            Err(why) => {
                request.error(
                    "also",
                    format!("the list `{file}` cannot be used: {why}"),
                    "see the head of commands.yaml",
                );
                fine = None;
            }
        }
    }
    if let Some(node) = request.node("commands").cloned() {
        match read::rows_of(&node) {
            Ok(rows) => rows.into_iter().for_each(|row| list.push(row)),
            Err(sentences) => {
                for sentence in sentences {
                    request.error("commands", sentence, "see the head of commands.yaml");
                }
                fine = None;
            }
        }
    }
    for key in ["except", "ask"] {
        for id in request.texts(key).unwrap_or_default() {
            let known = list.rows.iter().map(|row| row.id.as_ref());
            if !list.rows.iter().any(|row| row.id == id) {
                let help = match crosier::protocol::nearest::nearest(&id, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "commands.yaml has the ids".to_owned(),
                };
                request.error(key, format!("no entry has the id `{id}`"), help);
                fine = None;
            }
            let softer = (key == "ask").then_some(Decision::Ask);
            list.rows.iter_mut().filter(|row| row.id == id).for_each(|row| row.decision = softer);
        }
    }
    fine.map(|()| Arc::new(list))
}

/// What the list says about one call.
pub(crate) fn judge(list: &List, tool: &str, input: &Json, cwd: &Path) -> Ruling {
    let (scripts, folder) = match tool::scripts_in(tool, input, cwd) {
        Some(found) => found,
        None if tool::is_shell(tool) => {
            let why = match tool::subject(tool, input) {
                Subject::Unreadable(why) => why,
                _ => "it has no command",
            };
            return Ruling::Ask(format!("block-commands cannot tell what it runs: {why}"));
        }
        None => return Ruling::Nothing,
    };
    let found = |script: &Script| list.judge(script, Places { cwd: &folder, home: None });
    let worst = scripts.iter().filter_map(found).max_by_key(|found| found.decision);
    match worst {
        None => Ruling::Nothing,
        Some(found) if found.decision == Decision::Deny => Ruling::Deny(found.reason),
        Some(found) => Ruling::Ask(found.reason),
    }
}

/// One entry of the list that comes with Crosier, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedCommand {
    /// Its name, for the options `except` and `ask`.
    pub id: &'static str,
    /// Deny or ask.
    pub decision: Decision,
    /// Why.
    pub reason: &'static str,
    /// The safer way.
    pub instead: &'static str,
    /// A line that it stops.
    pub stops: &'static str,
    /// A line like it that it lets through.
    pub passes: &'static str,
}

/// The entries of the list that comes with Crosier.
pub fn entries() -> impl Iterator<Item = ListedCommand> {
    list::sources().iter().map(|entry| ListedCommand {
        id: entry.id,
        decision: entry.decision,
        reason: entry.reason,
        instead: entry.instead,
        stops: entry.stops,
        passes: entry.passes,
    })
}

#[cfg(test)]
pub(crate) fn standard_list() -> Arc<List> {
    Arc::clone(list::standard())
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod corpus_tests;
