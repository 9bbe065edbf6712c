//! Entries against the commands of a line.

use std::path::Path;

use crosier::Decision;

use super::entry::{Entry, List, Operand, Special, Target};
use super::shape::is_fork_bomb;
use crate::path::Places;
use crate::rules::spells;
use crate::shell::{Command, Direction, DoubtKind, Origin, Script, Word, git_subcommand, normal};
use crate::token::{Fit, Token, base_name, covers, meets, of_text, of_word};

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
        let folders = script.folders(places);
        let mut best: Option<Finding> = None;
        for (at, command) in script.commands.iter().enumerate() {
            let scene = Scene { list: self, script, command, places };
            for entry in self.candidates(command) {
                if best.as_ref().is_some_and(|best| best.decision >= entry.decision) {
                    continue;
                }
                let fits = match scene.quick(entry) {
                    Fit::No => continue,
                    fit => {
                        let here = folders.of(script, at);
                        let folders = here.iter().map(|folder| folder.as_deref().unwrap_or(places.cwd));
                        fit.min(folders.map(|folder| scene.targets(entry, folder)).max().unwrap_or(Fit::No))
                    }
                };
                match fits {
                    Fit::No => {}
                    Fit::Yes => best = Some(found(entry, command)),
                    Fit::Perhaps if command.certain && best.is_none() => best = Some(perhaps(entry, command)),
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

impl List {
    /// The entries that can be about this command, by its program.
    fn candidates<'a>(&'a self, command: &'a Command) -> impl Iterator<Item = &'a Entry> {
        let name = command.name().map(str::to_lowercase);
        let mut places: Vec<usize> = match (&name, command.words.is_empty()) {
            (Some(name), _) => {
                let text = of_text(name);
                let by_glob =
                    self.index.globs.iter().filter(|(glob, _)| covers(glob, &text)).map(|(_, place)| *place);
                self.index.names.get(name).into_iter().flatten().copied().chain(by_glob).collect()
            }
            (None, true) => Vec::new(),
            // Any program can be one of these; that is worth a word only when the rest speaks for it.
            (None, false) => self.index.telling.clone(),
        };
        places.extend(&self.index.others);
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| self.entries.get(place))
    }
}

fn found(entry: &Entry, command: &Command) -> Finding {
    let instead =
        if entry.instead.is_empty() { String::new() } else { format!(" Instead: {}.", entry.instead) };
    let shown = command.show();
    let shown = if shown.is_empty() { "this".to_owned() } else { format!("`{shown}`") };
    let reason = format!("{shown} is blocked ({}): {}.{instead}", entry.id, entry.reason);
    Finding { decision: entry.decision, id: Some(entry.id.clone()), reason }
}

fn perhaps(entry: &Entry, command: &Command) -> Finding {
    let reason = format!(
        "`{}` could be what {} stops ({}); part of it is known only when it runs",
        command.show(),
        entry.id,
        entry.reason
    );
    Finding { decision: Decision::Ask, id: Some(entry.id.clone()), reason }
}

fn when(good: bool) -> Fit {
    if good { Fit::Yes } else { Fit::No }
}

/// One command in its line.
pub(super) struct Scene<'a> {
    list: &'a List,
    pub(super) script: &'a Script,
    pub(super) command: &'a Command,
    places: Places<'a>,
}

impl Scene<'_> {
    /// What can be said without looking at folders.
    fn quick(&self, entry: &Entry) -> Fit {
        if entry.special == Some(Special::ForkBomb) {
            return when(is_fork_bomb(self.script, self.command));
        }
        let words = self.command.arguments();
        let good = entry.flags.iter().all(|group| has_one(words, group))
            && self.subcommand(entry, words)
            && self.operands(entry, words)
            && self.writes(entry)
            && (entry.from.is_empty() || self.sources().any(|program| is_one_of(program, &entry.from)))
            && self.special(entry, words);
        match self.command.words.first() {
            _ if !good => Fit::No,
            Some(program) if program.known().is_none() && !entry.programs.is_empty() => {
                let name = of_word(program);
                let could = entry.programs.iter().any(|wanted| meets(wanted, base_name(&name)));
                if could { Fit::Perhaps } else { Fit::No }
            }
            _ => Fit::Yes,
        }
    }

    fn subcommand(&self, entry: &Entry, words: &[Word]) -> bool {
        if entry.words.is_empty() {
            return true;
        }
        let from = if self.command.name() == Some("git") { git_subcommand(words) } else { 0 };
        let words = words.get(from..).unwrap_or_default();
        let is_option = |word: &Word| word.head().len() > 1 && word.head().starts_with('-');
        // A word behind an option may be its value: `kubectl -n prod delete`.
        let may_be_value =
            |at: usize| at > 0 && is_option(&words[at - 1]) && !words[at - 1].head().contains('=');
        let operands = || words.iter().enumerate().filter(|(_, word)| !is_option(word));
        let all: Vec<&Word> = operands().map(|(_, word)| word).collect();
        let sure: Vec<&Word> =
            operands().filter(|(at, _)| !may_be_value(*at)).map(|(_, word)| word).collect();
        [all, sure].iter().any(|operands| {
            let fits = |(choices, word): (&Vec<Vec<Token>>, &&Word)| {
                let word = word.known().map(str::to_lowercase);
                word.is_some_and(|word| choices.iter().any(|choice| covers(choice, &of_text(&word))))
            };
            operands.len() >= entry.words.len() && entry.words.iter().zip(operands).all(fits)
        })
    }

    fn targets(&self, entry: &Entry, folder: &Path) -> Fit {
        if entry.targets.is_empty() {
            return Fit::Yes;
        }
        let words = self.command.arguments();
        let operands: Vec<&Word> = words.iter().filter(|word| !word.head().starts_with('-')).collect();
        let fits = |at: usize, word: &Word| {
            let shown = word.show();
            let unknown = word.unknowns().any(|unknown| !is_home(&unknown.from));
            let last = at + 1 == operands.len();
            entry.targets.iter().any(|target| match target {
                Target::Unknown => unknown,
                _ if unknown => false,
                Target::Top(Operand::Last) if !last => false,
                Target::Top(Operand::NotLast) if last => false,
                Target::Top(_) => self.is_top(&normal(&shown, folder)),
                Target::Here => matches!(shown.trim_start_matches("./"), "" | "." | "*" | ".*"),
                Target::Path(path) => covers(path, &of_text(shown.trim_end_matches('/'))),
            })
        };
        when(operands.iter().enumerate().any(|(at, word)| fits(at, word)))
    }

    /// One of the places, or everything in it.
    fn is_top(&self, path: &str) -> bool {
        let home = self.places.home.map(|home| home.to_string_lossy());
        let is = |path: &str| {
            let path = if path.is_empty() { "/" } else { path };
            home.as_deref() == Some(path) || self.list.places.iter().any(|place| place == path)
        };
        let all = ["/*", "/.*", "/**", "/?*", "/.[!.]*"].into_iter().find_map(|end| path.strip_suffix(end));
        is(path) || all.is_some_and(is)
    }

    fn operands(&self, entry: &Entry, words: &[Word]) -> bool {
        let fits = |word: &Word| {
            let text = of_text(&word.show().to_lowercase());
            entry.operands.iter().any(|operand| covers(operand, &text))
        };
        entry.operands.is_empty() || words.iter().any(fits)
    }

    fn writes(&self, entry: &Entry) -> bool {
        if entry.writes.is_empty() {
            return true;
        }
        let writes = |direction: Direction| matches!(direction, Direction::Write | Direction::Both);
        let files = self.command.redirections.iter().filter(|redirection| writes(redirection.direction));
        files
            .map(|redirection| of_word(&redirection.target))
            .any(|file| entry.writes.iter().any(|wanted| covers(wanted, &file)))
    }
}

fn is_home(from: &Origin) -> bool {
    matches!(from, Origin::Variable(name) if &**name == "HOME")
}

fn is_one_of(program: &str, wanted: &[Vec<Token>]) -> bool {
    let name = of_text(&program.to_lowercase());
    wanted.iter().any(|wanted| covers(wanted, &name))
}

fn has_one(words: &[Word], group: &[String]) -> bool {
    let options = words.iter().take_while(|word| word.known() != Some("--"));
    options.map(Word::head).any(|head| group.iter().any(|name| spells(head, name)))
}
