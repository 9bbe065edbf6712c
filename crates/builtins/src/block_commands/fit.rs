//! Compares the entries of the list with the commands of a line.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crosier::Decision;

use super::entry::Entry;
use super::list::{List, Row};
use super::target::PathWord;
use crate::path::Places;
use crate::rules::spells;
use crate::shell::{Command, DoubtKind, Effect, FileUse, Script, Word, git_subcommand};
use crate::token::{Fit, WildcardSet, Wildcards, base_name, lowered, meets, of_word};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) decision: Decision,
    /// The entry; none when the line cannot be read.
    pub(crate) id: Option<String>,
    pub(crate) reason: String,
}

impl List {
    /// The strictest entry that fits a command of this line.
    pub(crate) fn judge(&self, script: &Script, places: Places<'_>) -> Option<Finding> {
        let folders = OnceCell::new();
        let mut best: Option<Finding> = None;
        for (at, command) in script.commands.iter().enumerate() {
            if is_dry_run(command) {
                continue;
            }
            let scene = CommandContext {
                list: self,
                script,
                at,
                command,
                places,
                files: OnceCell::new(),
                spellings: RefCell::default(),
                operands: RefCell::default(),
                lower: OnceCell::new(),
                options: OnceCell::new(),
                plain_files: OnceCell::new(),
                texts: OnceCell::new(),
                subcommands: OnceCell::new(),
            };
            let mut here = None;
            for row in self.candidates(command) {
                let Some(decision) = row.decision else { continue };
                if best.as_ref().is_some_and(|best| best.decision >= decision) {
                    continue;
                }
                // Cheap checks that are rarely true come first.
                let first = row.special().filter(|special| special.is_quick());
                if first.is_some_and(|special| !scene.special(special)) {
                    continue;
                }
                let files = row.names_files();
                if (files.writes && !scene.changes_files()) || (files.reads && !scene.reads_files()) {
                    continue;
                }
                let entry = row.entry();
                let fits = match scene.quick(entry) {
                    Fit::No => continue,
                    fit if entry.targets.is_empty() && entry.writes.is_empty() && entry.reads.is_empty() => {
                        fit
                    }
                    fit => {
                        let here = here.get_or_insert_with(|| {
                            folders.get_or_init(|| script.folders(places)).of(script, at)
                        });
                        let folders = here.iter().map(|folder| folder.unwrap_or(places.cwd));
                        fit.min(folders.map(|folder| scene.in_folder(entry, folder)).max().unwrap_or(Fit::No))
                    }
                };
                match fits {
                    Fit::No => {}
                    Fit::Yes => best = Some(finding(row, decision, command)),
                    Fit::Perhaps if command.certain && best.is_none() => {
                        best = Some(possible_finding(row, command))
                    }
                    Fit::Perhaps => {}
                }
            }
        }
        let hidden = script.doubts.iter().find(|doubt| doubt.kind == DoubtKind::Form);
        best.or_else(|| {
            hidden.map(|doubt| Finding {
                decision: Decision::Ask,
                id: None,
                reason: format!("the command line cannot be read: {doubt}"),
            })
        })
    }
}

/// Whether the command only prints what it would do (a dry run).
fn is_dry_run(command: &Command) -> bool {
    if asks_for_help(command) {
        return true;
    }
    if command.name() == Some("git") && shows_setting(command) {
        return true;
    }
    let words = command.arguments().iter().take_while(|word| word.known() != Some("--"));
    words.into_iter().any(|word| {
        matches!(
            word.known(),
            Some(
                "--help"
                    | "--dry-run"
                    | "--dryrun"
                    | "--dry-run=client"
                    | "--dry-run=server"
                    | "--whatif"
                    | "-WhatIf"
            )
        )
    }) && !command.name().is_some_and(runs_others)
}

/// `dropdb --version`, `dropdb -?`, `shutdown /?`, `cargo help publish`
fn asks_for_help(command: &Command) -> bool {
    /// Programs of Windows; for a shell of another system `/?` is a pattern.
    const OF_WINDOWS: [&str; 9] =
        ["shutdown", "format", "diskpart", "bcdedit", "vssadmin", "taskkill", "wmic", "cipher", "schtasks"];
    const HAVE_HELP: [&str; 16] = [
        "cargo", "npm", "pnpm", "yarn", "gem", "git", "docker", "podman", "helm", "go", "poetry", "rustup",
        "brew", "dart", "flutter", "conda",
    ];
    let [program, first, rest @ ..] = command.words.as_slice() else { return false };
    let name = program.known().map(crate::shell::base_name).unwrap_or_default();
    match &*first.show() {
        "--version" | "-?" => rest.is_empty(),
        "/?" => rest.is_empty() && OF_WINDOWS.contains(&name.trim_end_matches(".exe")),
        "help" => HAVE_HELP.contains(&name),
        _ => false,
    }
}

/// `git config NAME` shows what is set.
fn shows_setting(command: &Command) -> bool {
    let is_place =
        |word: &&Word| !matches!(word.known(), Some("--global" | "--local" | "--system" | "--worktree"));
    let words: Vec<&Word> = command.arguments().iter().filter(is_place).collect();
    matches!(words.as_slice(), [verb, name] if verb.known() == Some("config") && !name.head().starts_with('-'))
}

/// Programs for which such an option may be one of the command that they run.
fn runs_others(name: &str) -> bool {
    crate::shell::is_wrapper(name)
}

fn finding(row: &Row, decision: Decision, command: &Command) -> Finding {
    let entry = row.entry();
    let instead =
        if entry.instead.is_empty() { String::new() } else { format!(" Instead: {}.", entry.instead) };
    let shown = command.show();
    let shown = if shown.is_empty() { "this".to_owned() } else { format!("`{shown}`") };
    let what = if decision == Decision::Ask { "needs approval" } else { "is blocked" };
    let reason = format!("{shown} {what} ({}): {}.{instead}", row.id, entry.reason);
    Finding { decision, id: Some(row.id.to_string()), reason }
}

fn possible_finding(row: &Row, command: &Command) -> Finding {
    let reason = format!(
        "`{}` may match {} ({}): part of it is known only at run time",
        command.show(),
        row.id,
        row.entry().reason
    );
    Finding { decision: Decision::Ask, id: Some(row.id.to_string()), reason }
}

pub(super) fn fit_if(good: bool) -> Fit {
    if good { Fit::Yes } else { Fit::No }
}

pub(super) fn is_change(effect: Effect) -> bool {
    matches!(effect, Effect::Write | Effect::Delete)
}

pub(super) fn is_read(effect: Effect) -> bool {
    matches!(effect, Effect::Read | Effect::Unknown)
}

/// The number of a file of a command, the folder where the command runs, and the ways to write the path.
type FileSpellings = (usize, PathBuf, Rc<[String]>);

/// One command in its line.
pub(super) struct CommandContext<'a> {
    pub(super) list: &'a List,
    pub(super) script: &'a Script,
    /// The place of the command in the script.
    pub(super) at: usize,
    pub(super) command: &'a Command,
    pub(super) places: Places<'a>,
    files: OnceCell<Vec<FileUse<'a>>>,
    /// The ways to write its files, by their numbers and the folders that it may run in.
    pub(super) spellings: RefCell<Vec<FileSpellings>>,
    /// Its words that can be paths, for each folder that it may run in.
    pub(super) operands: RefCell<Vec<(PathBuf, Rc<[PathWord<'a>]>)>>,
    /// Its words in lowercase.
    lower: OnceCell<Vec<Cow<'a, str>>>,
    /// The options among its words, as they begin.
    options: OnceCell<Vec<&'a str>>,
    /// Its files: whether each is a plain path from its folder, and the path in lowercase.
    pub(super) plain_files: OnceCell<Vec<(bool, String)>>,
    /// Its words, what it reads and all words together, squeezed.
    texts: OnceCell<Vec<String>>,
    /// Its first operands in lowercase: all of them and, if that differs, those that are not the value of an
    /// option.
    subcommands: OnceCell<(Operands<'a>, Option<Operands<'a>>)>,
}

/// Operands that are known.
type Operands<'a> = Vec<Option<Cow<'a, str>>>;

/// A subcommand is one of this many operands.
const MAX_WORDS: usize = 8;

impl<'a> CommandContext<'a> {
    /// The files that the command names.
    pub(super) fn files(&self) -> &[FileUse<'a>] {
        self.files.get_or_init(|| self.command.files())
    }

    fn changes_files(&self) -> bool {
        self.files().iter().any(|file| is_change(file.effect))
    }

    fn reads_files(&self) -> bool {
        self.files().iter().any(|file| is_read(file.effect))
    }

    /// The checks that do not depend on the folder.
    fn quick(&self, entry: &Entry) -> Fit {
        let words = self.command.arguments();
        let good = self.subcommand(entry, words)
            && entry.flags.iter().all(|group| self.has_one(words, group))
            && (entry.unless.is_empty() || !entry.unless.iter().all(|group| self.has_one(words, group)))
            && self.operands(&entry.operands, words)
            && self.text(entry, words)
            && (entry.except.is_empty() || !self.operands(&entry.except, words))
            && entry.special.is_none_or(|special| special.is_quick() || self.special(special))
            && (entry.from.is_empty() || self.sources().any(|program| is_one_of(program, &entry.from)))
            && !entry.spare.is_some_and(|spare| self.spares(spare));
        match self.command.words.first() {
            _ if !good => Fit::No,
            Some(program) if program.known().is_none() && !entry.programs.is_empty() => {
                let name = of_word(program);
                let could = entry.programs.iter().any(|wanted| meets(wanted.tokens(), base_name(&name)));
                if could { Fit::Perhaps } else { Fit::No }
            }
            _ => Fit::Yes,
        }
    }

    /// The checks that depend on the folder in which the command runs.
    fn in_folder(&self, entry: &Entry, folder: &Path) -> Fit {
        let good = self.targets(entry, folder)
            && (entry.writes.is_empty() || (self.writes(entry, folder) && !self.only_lets_run()))
            && (entry.reads.is_empty() || self.reads(&entry.reads, folder));
        fit_if(good)
    }

    /// `chmod +x file`, `mkdir -p folder`: what is in the file or folder stays as it is.
    fn only_lets_run(&self) -> bool {
        if self.command.name() == Some("mkdir") {
            return true;
        }
        let mode = || self.command.arguments().first().and_then(Word::known);
        self.command.name() == Some("chmod") && matches!(mode(), Some("+x" | "u+x" | "a+x" | "ug+x"))
    }

    fn subcommand(&self, entry: &Entry, words: &'a [Word]) -> bool {
        if entry.words.is_empty() {
            return true;
        }
        let lists = self.subcommands.get_or_init(|| {
            let from = if self.command.name() == Some("git") { git_subcommand(words) } else { 0 };
            let words = words.get(from..).unwrap_or_default();
            let is_option = |word: &Word| word.head().len() > 1 && word.head().starts_with('-');
            // A word after an option may be its value: `kubectl -n prod delete`.
            let may_be_value =
                |at: usize| at > 0 && is_option(&words[at - 1]) && !words[at - 1].head().contains('=');
            let lower = |word: &'a Word| word.known().map(|word| lowered(Cow::Borrowed(word)));
            let operands = || words.iter().enumerate().filter(|(_, word)| !is_option(word));
            let all: Operands<'a> = operands().take(MAX_WORDS).map(|(_, word)| lower(word)).collect();
            let is_sure = operands().take(MAX_WORDS).all(|(at, _)| !may_be_value(at));
            if is_sure {
                return (all, None);
            }
            let sure = operands().filter(|(at, _)| !may_be_value(*at));
            (all, Some(sure.take(MAX_WORDS).map(|(_, word)| lower(word)).collect()))
        });
        std::iter::once(&lists.0).chain(&lists.1).any(|operands| {
            let fits = |(choices, word): (&Vec<Wildcards>, &Option<Cow<'_, str>>)| {
                word.as_ref().is_some_and(|word| choices.iter().any(|choice| choice.matches(word)))
            };
            operands.len() >= entry.words.len() && entry.words.iter().zip(operands).all(fits)
        })
    }

    /// Whether one of these flags is among its words.
    fn has_one(&self, words: &'a [Word], group: &[String]) -> bool {
        let options = self.options.get_or_init(|| {
            let words = words.iter().take_while(|word| word.known() != Some("--"));
            words.map(Word::head).filter(|head| head.starts_with('-')).collect()
        });
        options.iter().any(|head| group.iter().any(|name| spells(head, name)))
    }

    fn operands(&self, wanted: &WildcardSet, words: &'a [Word]) -> bool {
        let lower = |word: &'a Word| lowered(word.show());
        wanted.is_empty()
            || self
                .lower
                .get_or_init(|| words.iter().map(lower).collect())
                .iter()
                .any(|text| wanted.matches(text))
    }

    /// Texts in its words, or in what it reads from its standard input.
    fn text(&self, entry: &Entry, words: &[Word]) -> bool {
        if entry.text.is_empty() {
            return true;
        }
        let texts = self.texts.get_or_init(|| {
            let mut texts: Vec<String> = words.iter().map(|word| squeezed(&word.show())).collect();
            let all = squeezed(&words.iter().map(Word::show).collect::<Vec<_>>().join(" "));
            texts.extend(self.command.stdin_text.as_deref().map(squeezed));
            texts.push(all);
            texts
        });
        texts.iter().any(|text| entry.text.iter().any(|wanted| wanted.matches(text)))
    }
}

/// In lowercase, with one space between words.
pub(super) fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if out.ends_with(' ') => {}
            true => out.push(' '),
            false => out.extend(c.to_lowercase()),
        }
    }
    out
}

pub(super) fn is_one_of(program: &str, wanted: &[Wildcards]) -> bool {
    let name = lowered(Cow::Borrowed(program));
    wanted.iter().any(|wanted| wanted.matches(&name))
}
