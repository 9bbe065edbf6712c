//! Files that a search selects: `grep -rl crosier ~ | xargs sed -i …`, `find ~ -name settings.json -delete`. When a search
//! can find files of Crosier, or those of agents that call it, and something writes or deletes what it found, a person is
//! asked.

use std::collections::HashMap;
use std::path::Path;

use super::holder::{can_be_wiring, is_part_of_wiring};
use super::protected::Protected;
use crate::guard::Ruling;
use crate::path::Places;
use crate::shell::{Command, Effect, Origin, Script, Word};
use crate::token::{base_name, of_wildcards};

impl Protected {
    /// The ruling about what the commands of a line do with the files that another one found.
    pub(super) fn judge_selected(
        &self,
        script: &Script,
        folders_of: impl Fn(usize) -> Vec<std::path::PathBuf>,
    ) -> Option<Ruling> {
        let Some(readers) = readers(script) else {
            return Some(Ruling::Ask("too many of its commands use what others print".to_owned()));
        };
        for (at, search) in script.commands.iter().enumerate() {
            let Some(found) = found_by(search) else { continue };
            let selects = |number: &usize| {
                let command = &script.commands[*number];
                *number > at && changes(command, |word| comes_from(word, at, command))
            };
            let is_used =
                found.deletes || readers.get(&at).is_some_and(|numbers| numbers.iter().any(selects));
            if !is_used || !found.can_be_wiring {
                continue;
            }
            let here = folders_of(at);
            let reaches = |root: &&Word| {
                let Some(text) = super::shell::known_path(root) else { return false };
                let folders: Vec<&Path> = here.iter().map(std::path::PathBuf::as_path).collect();
                let base_folders = self.base_folders(&folders);
                base_folders
                    .places(&text)
                    .any(|places: Places<'_>| self.reaches_wiring(&places.lexical(&text)))
            };
            let dot = Word::literal(".");
            let mut roots: Vec<&Word> = found.roots;
            if roots.is_empty() {
                roots.push(&dot);
            }
            if let Some(root) = roots.iter().find(|root| reaches(root)) {
                return Some(Ruling::Ask(format!(
                    "`{}` can find files that call Crosier in `{}`, and what it finds is changed; should it be?",
                    search.show(),
                    root.show()
                )));
            }
        }
        None
    }
}

/// What a search looks through, and for what.
struct Found<'a> {
    roots: Vec<&'a Word>,
    can_be_wiring: bool,
    /// Whether it deletes what it finds by itself.
    deletes: bool,
}

fn found_by(command: &Command) -> Option<Found<'_>> {
    let words = command.arguments();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.head()));
    let letters = || words.iter().filter(|word| !word.head().starts_with("--")).map(Word::head);
    let has_letter = |wanted: &[char]| letters().any(|head| head.starts_with('-') && head.contains(wanted));
    Some(match command.name()? {
        "find" | "gfind" | "bfs" => {
            let is_expression = |word: &&Word| word.head().starts_with(['-', '(', '!']);
            let globals =
                words.iter().take_while(|word| matches!(word.known(), Some("-H" | "-L" | "-P"))).count();
            let roots = words[globals..].iter().take_while(|word| !is_expression(word)).collect();
            Found { roots, can_be_wiring: find_can_be(words), deletes: has(&["-delete"]) }
        }
        "grep" | "egrep" | "fgrep" | "ggrep" | "zgrep"
            if has_letter(&['l', 'L'])
                || has(&["--files-with-matches", "--files-without-match", "--null"]) =>
        {
            let globs = values(words, &["--include"]);
            Found { roots: operands(command, 1), can_be_wiring: any_can_be(&globs), deletes: false }
        }
        "rg" | "ag" | "ack" | "ugrep"
            if has_letter(&['l', 'L'])
                || has(&["--files-with-matches", "--files-without-match", "--files"]) =>
        {
            let globs: Vec<String> = values(words, &["-g", "--glob", "--iglob"])
                .into_iter()
                .filter(|glob| !glob.starts_with('!'))
                .collect();
            let kinds = values(words, &["-t", "--type"]);
            let is_other = |kind: &String| !matches!(kind.as_str(), "json" | "yaml" | "toml" | "all");
            let of_kind = kinds.is_empty() || !kinds.iter().all(is_other);
            let skipped = usize::from(!has(&["--files"]));
            Found {
                roots: operands(command, skipped),
                can_be_wiring: of_kind && any_can_be(&globs),
                deletes: false,
            }
        }
        "fd" | "fdfind" => {
            let plain: Vec<&Word> = words.iter().filter(|word| !word.head().starts_with('-')).collect();
            let ends = values(words, &["-e", "--extension"]);
            let end = |end: &String| is_part_of_wiring(&format!(".{}", end.trim_start_matches('.')));
            let is_name = |text: &str| {
                let text = text.trim_matches(|c: char| !c.is_alphanumeric());
                text.contains(['*', '[', '(', '\\', '|', '+']) || is_part_of_wiring(text)
            };
            let pattern = plain.first().and_then(|word| word.known()).is_none_or(is_name);
            Found {
                roots: plain.into_iter().skip(1).collect(),
                can_be_wiring: pattern && (ends.is_empty() || ends.iter().any(end)),
                deletes: false,
            }
        }
        "ls" => {
            let roots = operands(command, 0);
            Found { roots, can_be_wiring: true, deletes: false }
        }
        _ => return None,
    })
}

/// The files that a search is given, after its pattern.
fn operands(command: &Command, pattern: usize) -> Vec<&Word> {
    let words = command.arguments();
    let has_pattern = words
        .iter()
        .any(|word| matches!(word.head().split('=').next(), Some("-e" | "--regexp" | "-f" | "--file")));
    let skipped = if has_pattern { 0 } else { pattern };
    words.iter().filter(|word| !word.head().starts_with('-')).skip(skipped).collect()
}

/// The values of these options: `--include=*.rs`, `-g '*.rs'`.
fn values(words: &[Word], options: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let shown = word.show();
        if options.contains(&&*shown) {
            found.extend(words.get(at + 1).map(|word| word.show().into_owned()));
        } else if let Some((name, value)) = shown.split_once('=')
            && options.contains(&name)
        {
            found.push(value.to_owned());
        } else if let Some(option) =
            options.iter().find(|option| !option.starts_with("--") && shown.starts_with(**option))
            && !shown.starts_with("--")
        {
            found.push(shown[option.len()..].to_owned());
        }
    }
    found
}

fn any_can_be(globs: &[String]) -> bool {
    globs.is_empty() || globs.iter().any(|glob| glob_can_be(glob))
}

fn glob_can_be(glob: &str) -> bool {
    let glob = glob.to_lowercase();
    if glob.contains(['{', '[']) {
        return true;
    }
    // In `*/name/*` the folder says more.
    let names: Vec<&str> = glob.split('/').filter(|name| !name.is_empty()).collect();
    let says = |name: &&&str| name.chars().any(|c| !matches!(c, '*' | '?'));
    let Some(name) = names.iter().rev().find(says) else { return true };
    can_be_wiring(base_name(&of_wildcards(name)))
}

/// Whether the names that `find` looks for can be those of protected files.
fn find_can_be(words: &[Word]) -> bool {
    let is_name = |word: &Word| {
        matches!(word.known(), Some("-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename"))
    };
    let is_not = |word: Option<&Word>| matches!(word.and_then(Word::known), Some("-not" | "!"));
    let mut wanted = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        if is_name(&pair[0]) && !is_not(at.checked_sub(1).and_then(|before| words.get(before))) {
            wanted.push(pair[1].show().into_owned());
        }
    }
    let is_alternative = |word: &Word| matches!(word.known(), Some("-o" | "-or" | ","));
    if words.iter().any(is_alternative) {
        return any_can_be(&wanted);
    }
    // Folders in which nothing is have no file.
    wanted.iter().all(|glob| glob_can_be(glob)) && !words.iter().any(|word| word.known() == Some("-empty"))
}

/// The places of the commands that have in their words what others print, by the places of those; none when there are
/// too many.
fn readers(script: &Script) -> Option<HashMap<usize, Vec<usize>>> {
    /// No line that a person writes has more.
    const MOST: usize = 1 << 16;
    fn note(
        origin: &Origin,
        reader: usize,
        wrapper: Option<usize>,
        readers: &mut HashMap<usize, Vec<usize>>,
    ) -> usize {
        let places = match origin {
            Origin::Output(range) | Origin::Process(range) => range.clone(),
            Origin::Choice(words) => {
                let unknowns = words.iter().flat_map(Word::unknowns);
                return unknowns.map(|unknown| note(&unknown.from, reader, wrapper, readers)).sum();
            }
            Origin::Other => match wrapper {
                Some(at) => at..at + 1,
                None => return 0,
            },
            _ => return 0,
        };
        let count = places.len();
        for at in places {
            let of_it = readers.entry(at).or_default();
            if of_it.last() != Some(&reader) {
                of_it.push(reader);
            }
        }
        count
    }
    let (mut readers, mut count) = (HashMap::new(), 0);
    for (reader, command) in script.commands.iter().enumerate() {
        let words = command.words.iter().chain(command.redirections.iter().map(|one| &one.target));
        for unknown in words.flat_map(Word::unknowns) {
            count += note(&unknown.from, reader, command.wrapper, &mut readers);
        }
        if count > MOST {
            return None;
        }
    }
    Some(readers)
}

/// Whether a word is, or has in it, what the command at this place printed or found.
fn comes_from(word: &Word, at: usize, command: &Command) -> bool {
    fn is_output(origin: &Origin, at: usize) -> bool {
        match origin {
            Origin::Output(range) | Origin::Process(range) => range.contains(&at),
            Origin::Choice(words) => {
                words.iter().flat_map(Word::unknowns).any(|unknown| is_output(&unknown.from, at))
            }
            _ => false,
        }
    }
    word.unknowns().any(|unknown| {
        is_output(&unknown.from, at) || (unknown.from == Origin::Other && command.wrapper == Some(at))
    })
}

/// Whether a command writes or deletes one of these words.
fn changes(command: &Command, is_one: impl Fn(&Word) -> bool) -> bool {
    let has_one = command.words.iter().chain(command.redirections.iter().map(|one| &one.target)).any(&is_one);
    has_one
        && command
            .files()
            .iter()
            .any(|file| matches!(file.effect, Effect::Write | Effect::Delete) && is_one(&file.path))
}
