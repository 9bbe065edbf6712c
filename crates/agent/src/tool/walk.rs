//! Walks every file below a folder, in the order of names.
//!
//! Symlinks are not followed, `.git` is skipped, and so is everything that a `.gitignore` excludes (the files
//! of that name inside the walked part and above it; neither `.git/info/exclude` nor a person's own list).

use std::rc::Rc;

use super::ToolError;
use super::blocking::Stop;
use super::pattern::{Ignores, Verdict};
use super::workspace::{EntryKind, Workspace};

/// The maximum number of files and folders that are visited.
const MAX_ENTRIES: usize = 200_000;

/// The `.gitignore` files that apply to a folder: its own and those above it.
#[derive(Debug)]
struct Rules {
    above: Option<Rc<Self>>,
    /// The folder they are in.
    folder: String,
    ignores: Ignores,
}

/// Whether the whole folder was visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    All,
    /// There were too many files.
    Partly,
}

/// What to do after a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Enough,
}

/// Calls `visit` for every file below `start`, with its path relative to the workspace.
pub(super) fn walk(
    workspace: &Workspace,
    start: &str,
    stop: &Stop,
    mut visit: impl FnMut(&str) -> Next,
) -> Result<Walked, ToolError> {
    // It is an error if the start folder cannot be opened; other such folders are skipped.
    workspace.list(start)?;
    let mut rules = None;
    if start != "." {
        let above = start.match_indices('/').map(|(at, _)| &start[..at]);
        for folder in std::iter::once(".").chain(above) {
            rules = with_rules_of(workspace, folder, rules);
        }
    }
    let mut pending = vec![(start.to_owned(), rules)];
    let mut seen = 0usize;
    while let Some((folder, rules)) = pending.pop() {
        if stop.is_asked() {
            return Ok(Walked::Partly);
        }
        let Ok(entries) = workspace.list(&folder) else { continue };
        let rules = with_rules_of(workspace, &folder, rules);
        let mut folders = Vec::new();
        for entry in entries {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Ok(Walked::Partly);
            }
            let path = join(&folder, &entry.name);
            let is_folder = entry.kind == EntryKind::Folder;
            if entry.name == ".git" || is_ignored(rules.as_deref(), &path, is_folder) {
                continue;
            }
            if is_folder {
                folders.push((path, rules.clone()));
            } else if visit(&path) == Next::Enough {
                return Ok(Walked::All);
            }
        }
        pending.extend(folders.into_iter().rev());
    }
    Ok(Walked::All)
}

fn with_rules_of(workspace: &Workspace, folder: &str, above: Option<Rc<Rules>>) -> Option<Rc<Rules>> {
    let read = workspace.read_real(&join(folder, ".gitignore")).ok();
    let ignores = read.and_then(|content| Ignores::read(&String::from_utf8_lossy(&content.bytes)));
    match ignores {
        Some(ignores) => Some(Rc::new(Rules { above, folder: folder.to_owned(), ignores })),
        None => above,
    }
}

/// Whether a path is ignored, by the nearest `.gitignore` that has a rule for it.
fn is_ignored(rules: Option<&Rules>, path: &str, is_folder: bool) -> bool {
    let mut next = rules;
    while let Some(rules) = next {
        match below(path, &rules.folder).and_then(|inside| rules.ignores.consult(inside, is_folder)) {
            Some(verdict) => return verdict == Verdict::Ignored,
            None => next = rules.above.as_deref(),
        }
    }
    false
}

/// The path relative to a folder above it.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder == "." { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

fn join(folder: &str, name: &str) -> String {
    if folder == "." { name.to_owned() } else { format!("{folder}/{name}") }
}
