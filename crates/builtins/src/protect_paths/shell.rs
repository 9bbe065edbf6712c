//! The files that a line of shell names.

use std::collections::HashSet;
use std::path::Path;

use super::code;
use super::protected::{Objection, Protected};
use crate::guard::Ruling;
use crate::path::{Places, expand_glob};
use crate::shell::{DoubtKind, Effect, Origin, Script, Word};
use crate::tool::Access;

/// More words than this are not looked up.
const MOST_WORDS: usize = 5_000;

/// Where a word of a command stands.
#[derive(Clone, Copy)]
struct Standing<'a> {
    effect: Effect,
    folders: &'a [&'a Path],
    /// Whether one of the folders that it can stand in is not known.
    is_lost: bool,
    /// Whether the command takes away the whole of what it names.
    removes_all: bool,
    home: Option<&'a Path>,
}

impl Protected {
    /// What a line of shell may not do.
    pub(super) fn judge_script(&self, script: &Script, places: Places<'_>) -> Ruling {
        let folders = script.folders(places);
        let mut seen = HashSet::new();
        let mut asked = Ruling::Nothing;
        for (at, command) in script.commands.iter().enumerate() {
            let files = command.files();
            let texts = code::quoted_texts(script, command);
            if files.is_empty() && texts.is_empty() {
                continue;
            }
            let here = folders.of(script, at);
            let known: Vec<&Path> = here.iter().flatten().map(|folder| folder.as_path()).collect();
            let removes_all = command.name() != Some("find");
            // A link to a file is a way to read it.
            let links = command.name() == Some("ln");
            for file in files.iter().filter(|file| file.effect != Effect::Stat || links) {
                let effect = if file.effect == Effect::Stat { Effect::Read } else { file.effect };
                if !seen.insert((file.path.show().into_owned(), effect, here.len())) {
                    continue;
                }
                if seen.len() > MOST_WORDS {
                    return Ruling::Ask("it names too many files to look at".to_owned());
                }
                let standing = Standing {
                    effect,
                    folders: &known,
                    is_lost: here.contains(&None),
                    removes_all,
                    home: places.home,
                };
                match self.judge_word(&file.path, standing) {
                    Ruling::Nothing => {}
                    Ruling::Ask(reason) => asked = Ruling::Ask(reason),
                    ruling => return ruling,
                }
            }
            for text in texts {
                let word = Word::literal(text.as_str());
                let standing = Standing {
                    effect: Effect::Unknown,
                    folders: &known,
                    is_lost: here.contains(&None),
                    removes_all: false,
                    home: places.home,
                };
                if let Ruling::Deny(reason) | Ruling::Ask(reason) = self.judge_word(&word, standing) {
                    asked =
                        Ruling::Ask(format!("code that `{}` runs: {reason}", command.name().unwrap_or("it")));
                }
            }
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

    fn judge_word(&self, word: &Word, standing: Standing<'_>) -> Ruling {
        let shown = word.show();
        let text: &str = &shown;
        let access = if standing.effect == Effect::Read { Access::Read } else { Access::Write };
        let ruling = |objection: Objection| match objection {
            // What a program that nobody knows does to a file that may be read is a question.
            Objection::Fixed(reason) if standing.effect == Effect::Unknown => Ruling::Ask(reason),
            objection => Ruling::Deny(objection.reason()),
        };
        // What cannot be known still has parts that can: `$DIR/.env`.
        if standing.is_lost || word.unknowns().next().is_some() {
            let names = text.split('/').filter(|name| !name.is_empty() && !name.contains(['$', '*', '?']));
            for name in names {
                if let Some(objection) = self.objection_to_name(text, name, access) {
                    return ruling(objection);
                }
            }
        }
        let is_home = |origin: &Origin| matches!(origin, Origin::Variable(name) if &**name == "HOME");
        if word.unknowns().any(|unknown| !is_home(&unknown.from)) {
            return Ruling::Nothing;
        }
        for folder in standing.folders {
            let places = Places { cwd: folder, home: standing.home };
            let file = places.resolve(text);
            if let Some(objection) = self.objection(text, access, &file) {
                return ruling(objection);
            }
            if standing.effect == Effect::Delete
                && standing.removes_all
                && let Some(objection) = self.holds_own(text, &file)
            {
                return ruling(objection);
            }
            if !word.has_wildcard() {
                continue;
            }
            let Some(found) = expand_glob(&file.lexical) else {
                return Ruling::Ask(format!("`{text}` stands for too many files to look at"));
            };
            for path in found {
                let path = path.to_string_lossy();
                if let Some(objection) = self.objection(&path, access, &places.resolve(&path)) {
                    return ruling(objection);
                }
            }
        }
        Ruling::Nothing
    }
}
