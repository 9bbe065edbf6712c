//! Paths of commands against the places of the list.

use std::path::Path;

use super::entry::{Entry, Operand, Target};
use super::fit::Scene;
use crate::shell::{Effect, Origin, Unknown, Word, normal};
use crate::token::{Token, covers, meets, of_text, of_wildcards};

/// Folders of the system, with all that is below them.
const SYSTEM: [&str; 16] = [
    "/bin/",
    "/boot/",
    "/dev/",
    "/etc/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/proc/",
    "/root/",
    "/sbin/",
    "/sys/",
    "/usr/",
    "/var/lib/",
    "/var/log/",
    "/System/",
    "/Library/",
];
/// Folders below those that are made anew: caches, and what projects and packages put there.
const REMADE: [&str; 8] = [
    "/var/lib/apt/lists",
    "/usr/local/src/",
    "/usr/src/",
    "/usr/share/doc/",
    "/root/.cache",
    "/root/.npm",
    "/usr/local/lib/node_modules/",
    "/dev/shm/",
];

impl Scene<'_> {
    /// Whether a word of the command is one of the places that the entry is about.
    pub(super) fn targets(&self, entry: &Entry, folder: &Path) -> bool {
        if entry.targets.is_empty() {
            return true;
        }
        let words = self.command.arguments();
        let operands: Vec<&Word> = words.iter().filter(|word| !word.head().starts_with('-')).collect();
        let fits = |at: usize, word: &Word| {
            let shown = word.show();
            let unknown = word.unknowns().any(is_unclear);
            let last = at + 1 == operands.len();
            entry.targets.iter().any(|target| match target {
                Target::Unknown => unknown && self.is_dangerous_unknown(word),
                _ if unknown => false,
                Target::Top(Operand::Last) if !last => false,
                Target::Top(Operand::NotLast) if last => false,
                Target::Top(_) => self.is_top(&normal(&shown, folder)),
                Target::System => is_system(&normal(&shown, folder)),
                Target::Here => {
                    let all = matches!(shown.trim_start_matches("./"), "" | "." | "*" | ".*");
                    (all && !self.is_inside(folder)) || Path::new(&normal(&shown, folder)) == self.places.cwd
                }
                Target::Path(path) => covers(path, &of_text(shown.trim_end_matches('/'))),
            })
        };
        operands.iter().enumerate().any(|(at, word)| fits(at, word))
    }

    /// Whether a word that is only partly known could be a place of its own: `$X`, `$X/`, `$X/*`, and not
    /// `$X/build` or `/tmp/$X`.
    fn is_dangerous_unknown(&self, word: &Word) -> bool {
        let shown = word.show();
        let last = shown.trim_end_matches(['/', '*']).rsplit('/').next().unwrap_or_default().to_owned();
        let is_named = !last.is_empty() && !last.contains('$');
        let is_below = shown.starts_with("/tmp/") || shown.starts_with("/var/tmp/") || is_relative(&shown);
        // What `find` found by name: it was asked for that name.
        let found = self.command.carrier.and_then(|at| self.script.commands.get(at));
        let by_name = found.is_some_and(|carrier| {
            matches!(carrier.name(), Some("find" | "fd" | "fdfind"))
                && carrier
                    .arguments()
                    .iter()
                    .any(|word| matches!(word.known(), Some("-name" | "-path" | "-iname" | "-regex")))
        });
        !is_named && !is_below && !by_name && !word.unknowns().all(|unknown| self.is_temporary(unknown))
    }

    /// The output of `mktemp`, and variables that are named so.
    fn is_temporary(&self, unknown: &Unknown) -> bool {
        match &unknown.from {
            Origin::Output(range) => {
                let commands = self.script.commands.get(range.clone()).unwrap_or_default();
                commands.iter().any(|command| command.name() == Some("mktemp"))
            }
            Origin::Variable(name) => {
                let name = name.to_ascii_lowercase();
                name.contains("tmp") || name.contains("temp")
            }
            _ => false,
        }
    }

    /// Whether this folder lies in the one where the line starts, or among temporary files.
    fn is_inside(&self, folder: &Path) -> bool {
        (folder != self.places.cwd && folder.starts_with(self.places.cwd))
            || (folder.starts_with("/tmp") && folder != Path::new("/tmp"))
    }

    /// One of the places, or everything in it.
    fn is_top(&self, path: &str) -> bool {
        let all = ["/*", "/.*", "/**", "/?*", "/.[!.]*"].into_iter().find_map(|end| path.strip_suffix(end));
        self.is_place(path) || all.is_some_and(|path| self.is_place(path))
    }

    fn is_place(&self, path: &str) -> bool {
        let path = if path.is_empty() { "/" } else { path };
        let home = self.places.home.map(|home| home.to_string_lossy());
        if home.as_deref() == Some(path) || is_home(path) {
            return true;
        }
        // What the line starts in is not below itself, and gone with it.
        let around = self.places.cwd.starts_with(path) && self.places.cwd != Path::new(path);
        around || self.list.places.iter().any(|place| place == path || could_be(path, place))
    }

    /// Whether the command writes or deletes one of these files.
    pub(super) fn writes(&self, entry: &Entry, folder: &Path) -> bool {
        let changes = |effect: Effect| matches!(effect, Effect::Write | Effect::Delete);
        self.names_file(&entry.writes, folder, changes)
    }

    /// Whether the command reads one of these files.
    pub(super) fn reads(&self, wanted: &[Vec<Token>], folder: &Path) -> bool {
        self.names_file(wanted, folder, |effect| matches!(effect, Effect::Read | Effect::Unknown))
    }

    fn names_file(&self, wanted: &[Vec<Token>], folder: &Path, counts: impl Fn(Effect) -> bool) -> bool {
        let mut cache = self.spellings.borrow_mut();
        let place = match cache.iter().position(|(other, _)| other == folder) {
            Some(place) => place,
            None => {
                let files = self.files().iter().map(|file| (file.effect, spellings(&file.path, folder)));
                let files = files.collect();
                cache.push((folder.to_owned(), files));
                cache.len() - 1
            }
        };
        let mut files = cache[place].1.iter().filter(|(effect, _)| counts(*effect));
        files.any(|(_, texts)| texts.iter().any(|text| wanted.iter().any(|wanted| could_cover(wanted, text))))
    }
}

/// Whether the path is one of these, however it is written.
pub(super) fn names_one(path: &Word, wanted: &[Vec<Token>], folder: &Path) -> bool {
    let texts = spellings(path, folder);
    texts.iter().any(|text| wanted.iter().any(|wanted| could_cover(wanted, text)))
}

/// The ways to write a path: as it is, absolute, and from the home folder.
fn spellings(path: &Word, folder: &Path) -> Vec<Vec<Token>> {
    let shown = path.show();
    let path = normal(&shown, folder);
    let in_home = in_home(&path);
    let mut texts = vec![of_text(&shown)];
    if path != shown {
        texts.push(of_text(&path));
    }
    texts.extend(in_home.as_deref().map(of_text));
    texts
}

/// Whether the pattern covers the text. Most do not even begin or end alike.
pub(super) fn could_cover(pattern: &[Token], text: &[Token]) -> bool {
    let fixed =
        |pattern: &[Token]| pattern.iter().take_while(|token| matches!(token, Token::Char(_))).count();
    let start = fixed(pattern);
    if text.len() < start || pattern[..start] != text[..start] {
        return false;
    }
    match pattern.last() {
        Some(Token::Char(_)) if pattern.last() != text.last() => false,
        // What is fixed is the whole of it, or all of it but the end.
        _ if start == pattern.len() => text.len() == start,
        Some(Token::Many) if start + 1 == pattern.len() => true,
        _ => covers(pattern, text),
    }
}

/// `~/x` for `/home/somebody/x`.
fn in_home(path: &str) -> Option<String> {
    if let Some(rest) = path.strip_prefix("/root/") {
        return Some(format!("~/{rest}"));
    }
    let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
    rest.split_once('/').map(|(_, below)| format!("~/{below}"))
}

/// `~`, `/home/somebody`, `/root`
fn is_home(path: &str) -> bool {
    let name = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    path == "~" || name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
        && !REMADE.iter().any(|folder| path.starts_with(folder))
}

/// Whether a path with wildcards can be this place: `/e*` is `/etc`.
fn could_be(path: &str, place: &str) -> bool {
    path.contains(['*', '?'])
        && path.matches('/').count() == place.matches('/').count()
        && !path.ends_with("/*")
        && place != "/"
        && meets(&of_wildcards(path), &of_text(place))
}

/// A path from here, with a name in front: `build/$X`.
fn is_relative(shown: &str) -> bool {
    let first = shown.trim_start_matches("./").split('/').next().unwrap_or_default();
    !first.is_empty() && !first.contains(['$', '*', '~']) && first != ".." && !shown.starts_with('/')
}

/// Whether it cannot be said what the value is. A choice is looked at value by value.
fn is_unclear(unknown: &Unknown) -> bool {
    !matches!(&unknown.from, Origin::Variable(name) if &**name == "HOME" || &**name == "USER")
        && !matches!(unknown.from, Origin::Choice(_))
}
