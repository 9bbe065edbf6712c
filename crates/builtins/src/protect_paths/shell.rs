//! The files that a line of shell names.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::intent::Intent;
use super::protected::{Objection, Protected};
use super::{code, created, key, mode};
use crate::guard::Ruling;
use crate::path::{Places, Resolver, UNKNOWN_HOME, expand_glob, in_home};
use crate::shell::{Command, DoubtKind, Effect, FileUse, Origin, Script, Word, names_of_output};
use crate::tool::Access;

/// More words than this are not looked up.
const MAX_WORDS: usize = 5_000;

/// More uses of protected files than this are not told apart: each needs a look at the whole line.
const MAX_OBJECTIONS: usize = 256;

/// A word of a command and how the command uses it.
#[derive(Clone, Copy)]
struct WordUse<'a> {
    effect: Effect,
    folders: &'a [&'a Path],
    /// Whether one of the folders that it can be relative to is unknown.
    is_lost: bool,
    /// Whether the command deletes or moves away everything below the path.
    removes_all: bool,
    home: Option<&'a Path>,
    resolver: &'a Resolver,
}

impl Protected {
    /// The ruling about a line of shell.
    pub(super) fn judge_script(&self, script: &Script, places: Places<'_>) -> Ruling {
        let folders = script.folders(places);
        let resolver = Resolver::default();
        let (mut seen, mut looked_at, mut objections) = (HashSet::new(), 0, 0);
        let mut asked = Ruling::Nothing;
        for (at, command) in script.commands.iter().enumerate() {
            let files = command.files();
            let texts = code::quoted_texts(script, command);
            let has_more = created::has_hidden_target(command) || mode::is_change(command);
            if files.is_empty() && texts.is_empty() && !has_more {
                continue;
            }
            let here = folders.of(script, at);
            let known: Vec<&Path> = here.iter().flatten().copied().collect();
            let removes_all = removes_all(command);
            let is_one_of = |word: &Word| matches!(word.known(), Some("rm" | "clean"));
            let deletes = match command.name() {
                Some("git") => command.arguments().iter().any(is_one_of),
                name => name.is_some_and(is_deleter),
            };
            // Linking to a file is a way to read it, and with a hard link also to write it.
            let links = command.name() == Some("ln");
            let links_hard = makes_hard_links(command);
            // Whether a hook may run is up to block-commands.
            let is_switched = |file: &FileUse<'_>| {
                command.name() == Some("chmod") && file.path.show().contains(".git/hooks/")
            };
            let files_used = files.iter().filter(|file| file.effect != Effect::Stat || links || links_hard);
            for file in files_used.filter(|file| !is_switched(file) && !key::is_used(command, &files, file)) {
                let effect = match file.effect {
                    Effect::Stat | Effect::Read if links_hard => Effect::Delete,
                    Effect::Stat => Effect::Read,
                    effect => effect,
                };
                // What another command may do with a protected file, this one may not.
                let use_key = (file.path.show().into_owned(), effect, here.len());
                if seen.contains(&use_key) {
                    continue;
                }
                looked_at += 1;
                if looked_at > MAX_WORDS {
                    return Ruling::Ask("it names too many files to look at".to_owned());
                }
                let word_use = WordUse {
                    effect,
                    folders: &known,
                    is_lost: here.contains(&None),
                    removes_all,
                    home: places.home,
                    resolver: &resolver,
                };
                // A moved file can be read at its new place.
                let moved = effect == Effect::Delete && !deletes;
                let moved =
                    moved.then(|| self.judge_word(&file.path, WordUse { effect: Effect::Read, ..word_use }));
                let moved = moved.filter(|ruling| *ruling != Ruling::Nothing);
                let ruling = moved.unwrap_or_else(|| self.judge_word(&file.path, word_use));
                if ruling == Ruling::Nothing {
                    seen.insert(use_key);
                    continue;
                }
                objections += 1;
                if objections > MAX_OBJECTIONS {
                    return Ruling::Ask("it names protected files too often to look at each".to_owned());
                }
                match Intent::new(script, at, &files).soften(file, effect, ruling) {
                    Ruling::Nothing => {}
                    Ruling::Ask(reason) => asked = Ruling::Ask(reason),
                    ruling => return ruling,
                }
            }
            if lets_log_in(command) {
                asked = Ruling::Ask(format!(
                    "`{}` changes who may log in to another machine; should it?",
                    command.show()
                ));
            }
            for name in found_names(script, &files) {
                let word_use = WordUse {
                    effect: Effect::Read,
                    folders: &known,
                    is_lost: here.contains(&None),
                    removes_all: false,
                    home: places.home,
                    resolver: &resolver,
                };
                match self.judge_word(&name, word_use) {
                    Ruling::Nothing => {}
                    Ruling::Ask(reason) => asked = Ruling::Ask(reason),
                    ruling => return ruling,
                }
            }
            let judges = [
                self.judge_created_files(command, &files, &known, &resolver),
                self.judge_modes(command, &known),
            ];
            for ruling in judges.into_iter().flatten() {
                match ruling {
                    Ruling::Deny(_) => return ruling,
                    ruling => asked = ruling,
                }
            }
            for text in texts {
                let word = Word::literal(text.text.as_str());
                let word_use = WordUse {
                    effect: text.effect,
                    folders: &known,
                    is_lost: here.contains(&None),
                    removes_all: text.effect == Effect::Delete,
                    home: places.home,
                    resolver: &resolver,
                };
                if let Ruling::Deny(reason) | Ruling::Ask(reason) = self.judge_word(&word, word_use) {
                    asked =
                        Ruling::Ask(format!("code that `{}` runs: {reason}", command.name().unwrap_or("it")));
                }
            }
        }
        let folders_of = |at| folders.of(script, at).into_iter().flatten().map(Path::to_owned).collect();
        if asked == Ruling::Nothing
            && let Some(ruling) = self.judge_selected(script, folders_of)
        {
            return ruling;
        }
        if asked != Ruling::Nothing {
            return asked;
        }
        match script.doubts.iter().find(|doubt| doubt.kind == DoubtKind::Form) {
            Some(doubt) if self.asks_about_form => {
                Ruling::Ask(format!("protect-paths cannot read the command line: {doubt}"))
            }
            _ => Ruling::Nothing,
        }
    }

    fn judge_word(&self, word: &Word, word_use: WordUse<'_>) -> Ruling {
        let shown = word.show();
        let text: &str = &shown;
        let access = if word_use.effect == Effect::Read { Access::Read } else { Access::Write };
        let ruling = |objection: Objection| match objection {
            // An unknown program gets a file that may be read but not written: ask.
            Objection::Fixed(reason) if word_use.effect == Effect::Unknown => Ruling::Ask(reason),
            objection => objection.ruling(),
        };
        // The file that PowerShell runs at its start.
        if word_use.effect == Effect::Write && is_profile(text) {
            return Ruling::Ask(format!("`{text}` runs whenever PowerShell starts; should it be written?"));
        }
        // A partly unknown word still has known parts: `$DIR/.env`.
        if word_use.is_lost || word.unknowns().next().is_some() {
            let names = text.split('/').filter(|name| !name.is_empty() && !name.contains(['$', '*', '?']));
            for name in names {
                if let Some(objection) = self.objection_to_name(text, name, access) {
                    return ruling(objection);
                }
            }
        }
        if word.unknowns().any(|unknown| !is_home(&unknown.from)) {
            return Ruling::Nothing;
        }
        if let Some(path) = in_base_folder(text) {
            return self.judge_word(&Word::literal(path), word_use);
        }
        if text.contains('\\') {
            let path = from_windows(text);
            match self.judge_word(&Word::literal(path.as_str()), word_use) {
                Ruling::Nothing => {}
                ruling => return ruling,
            }
            // What is below the folder of the project is not below `/`: `.\bin`.
            let places = Places { cwd: Path::new("/nowhere/project"), home: None };
            let question = || self.question_about_write(text, &places.resolve(&path));
            if matches!(word_use.effect, Effect::Write | Effect::Delete)
                && let Some(question) = question()
            {
                return question.ruling();
            }
        }
        // Crosier's own files are known by their real paths: what is in the home folder is looked up there too.
        let home = self.own.home().filter(|_| access == Access::Write);
        let below_home = |folder: &&Path| Some(home?.join(folder.strip_prefix(UNKNOWN_HOME).ok()?));
        let below_home: Vec<PathBuf> = word_use.folders.iter().filter_map(below_home).collect();
        let named_home = home.filter(|_| in_home(text).is_some());
        let known = word_use.folders.iter().map(|folder| Places { cwd: folder, home: word_use.home });
        let real = below_home.iter().map(PathBuf::as_path).chain(named_home);
        // What exists at another place is denied, so the question waits.
        let mut question = None;
        for places in known.chain(real.map(|folder| Places { cwd: folder, home })) {
            let file = word_use.resolver.resolve(places, text);
            // An unknown program may show the file's content.
            if word_use.effect == Effect::Unknown
                && let Some(objection @ Objection::Secret(_)) = self.objection(text, Access::Read, &file)
            {
                return ruling(objection);
            }
            if let Some(objection) = self.objection(text, access, &file) {
                return ruling(objection);
            }
            if word_use.effect == Effect::Delete {
                let objection = self.objection_to_removal(text, &file);
                let objection =
                    objection.or_else(|| self.holds_own(text, &file).filter(|_| word_use.removes_all));
                if let Some(objection) = objection {
                    return ruling(objection);
                }
            }
            if !word.has_wildcard() {
                continue;
            }
            let Some(found) = expand_glob(&file.lexical) else {
                return Ruling::Ask(format!("`{text}` matches too many files to check"));
            };
            if found.is_empty() {
                let asks = || self.question_about_pattern(text, &file.lexical, word_use.effect);
                question = question.or_else(asks);
            }
            for path in found {
                let path = path.to_string_lossy();
                let file = word_use.resolver.resolve(places, &path);
                let removes_all = word_use.effect == Effect::Delete && word_use.removes_all;
                let objection = self.objection(&path, access, &file);
                let removal = || self.objection_to_removal(&path, &file);
                let objection = objection.or_else(|| removal().filter(|_| word_use.effect == Effect::Delete));
                let objection = objection.or_else(|| self.holds_own(&path, &file).filter(|_| removes_all));
                if let Some(objection) = objection {
                    return ruling(objection);
                }
            }
        }
        question.map_or(Ruling::Nothing, ruling)
    }
}

fn is_home(origin: &Origin) -> bool {
    let is_one = |name: &str| name == "HOME" || BASE_FOLDERS.iter().any(|(known, _)| *known == name);
    matches!(origin, Origin::Variable(name) if is_one(name))
}

/// The path that a word is, when nothing in it is unknown but the home folder.
pub(super) fn known_path(word: &Word) -> Option<String> {
    let shown = word.show();
    match word.unknowns().any(|unknown| !is_home(&unknown.from)) {
        true => None,
        false => Some(in_base_folder(&shown).unwrap_or_else(|| shown.into_owned())),
    }
}

/// Whether a command gives files another name under which they can be written: `ln a b`, `cp -l a b`.
fn makes_hard_links(command: &Command) -> bool {
    let has = |letter: char, long: &str| {
        command.arguments().iter().any(|word| {
            let head = word.head();
            head == long || (head.starts_with('-') && !head.starts_with("--") && head.contains(letter))
        })
    };
    match command.name() {
        Some("ln" | "gln") => !has('s', "--symbolic"),
        Some("link") => true,
        Some("cp" | "gcp") => has('l', "--link"),
        _ => false,
    }
}

/// Variables that name folders of the home folder, and where those are by default.
const BASE_FOLDERS: [(&str, &str); 2] =
    [("XDG_CONFIG_HOME", "~/.config"), ("XDG_STATE_HOME", "~/.local/state")];

/// A path that begins with one of these variables, as it usually is.
fn in_base_folder(path: &str) -> Option<String> {
    let rest = path.strip_prefix('$')?;
    BASE_FOLDERS.iter().find_map(|(name, folder)| {
        let rest = rest.strip_prefix(&format!("{{{name}}}")).or_else(|| rest.strip_prefix(name))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{folder}{rest}"))
    })
}

/// Whether a command that deletes deletes everything below its folders. `find` usually looks for some of the files.
fn removes_all(command: &Command) -> bool {
    const NARROWS: [&str; 11] = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-empty",
        "-lname",
        "-samefile",
    ];
    let words = || command.arguments().iter().filter_map(Word::known);
    let is_of_folders = || words().zip(words().skip(1)).any(|pair| pair == ("-type", "d"));
    command.name() != Some("find") || !(words().any(|word| NARROWS.contains(&word)) || is_of_folders())
}

/// A path of Windows as others write it: `~/.aws/credentials` for `%USERPROFILE%\.aws\credentials`.
fn from_windows(path: &str) -> String {
    const HOMES: [&str; 4] = ["%userprofile%/", "$env:userprofile/", "$home/", "${home}/"];
    let path = path.replace('\\', "/");
    let lower = path.to_ascii_lowercase();
    if let Some(home) = HOMES.iter().find(|home| lower.starts_with(**home)) {
        return format!("~/{}", &path[home.len()..]);
    }
    // `C:/Users/x` is `/Users/x`.
    match lower.get(1..3) {
        Some(":/") => path[2..].to_owned(),
        _ => path,
    }
}

/// The names that the files of a command have when it reads what a search prints: `cat $(find . -name .env)`.
fn found_names(script: &Script, files: &[FileUse<'_>]) -> Vec<Word> {
    let reads = |file: &&FileUse<'_>| matches!(file.effect, Effect::Read | Effect::Unknown);
    let unknowns = files.iter().filter(reads).flat_map(|file| file.path.unknowns());
    unknowns
        .filter_map(|unknown| match &unknown.from {
            Origin::Output(range) => Some(names_of_output(&script.commands, range.clone())),
            _ => None,
        })
        .flatten()
        .collect()
}

/// `$PROFILE`, `$PROFILE.CurrentUserAllHosts`
fn is_profile(text: &str) -> bool {
    const NAME: &str = "$profile";
    text.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME))
        && (text.len() == NAME.len() || text[NAME.len()..].starts_with('.'))
}

/// `rsync key host:.ssh/authorized_keys`
fn lets_log_in(command: &Command) -> bool {
    matches!(command.name(), Some("rsync" | "scp" | "sftp"))
        && command
            .arguments()
            .last()
            .is_some_and(|word| word.show().contains(':') && word.show().contains(".ssh/"))
}

/// Programs that delete files. Other programs that remove a file move it.
fn is_deleter(name: &str) -> bool {
    matches!(
        name,
        "rm" | "grm"
            | "unlink"
            | "srm"
            | "rmdir"
            | "shred"
            | "wipe"
            | "rimraf"
            | "del"
            | "scrub"
            | "find"
            | "rsync"
    )
}
