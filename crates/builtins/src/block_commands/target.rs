//! Matches the paths of commands against the places of the list.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use super::disposable::{is_disposable, parts};
use super::entry::{Entry, Operand, Target};
use super::fit::{CommandContext, is_change, is_read};
use crate::shell::{Command, Effect, FileUse, Input, Origin, Unknown, Word, normal};
use crate::token::{WildcardSet, lowered, meets, of_text, of_wildcards};

/// System folders, with everything below them.
const SYSTEM: [&str; 20] = [
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
    "/var/www/",
    "/var/spool/",
    "/srv/",
    "/opt/",
    "/System/",
    "/Library/",
];
/// Folders below system folders that can be recreated: caches, and files of projects and packages.
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

/// A word that can be a path.
pub(super) struct PathWord<'a> {
    word: &'a Word,
    shown: Cow<'a, str>,
    /// The path that it leads to, if that is known.
    path: String,
    is_unclear: bool,
}

impl<'a> PathWord<'a> {
    fn new(word: &'a Word, folder: &Path) -> Self {
        let shown = word.show();
        let is_unclear = word.unknowns().any(is_unclear);
        let path = if is_unclear { String::new() } else { normal(&shown, folder) };
        Self { word, shown, path, is_unclear }
    }
}

impl<'a> CommandContext<'a> {
    /// Whether a word of the command is one of the places that the entry is about.
    pub(super) fn targets(&self, entry: &Entry, folder: &Path) -> bool {
        if entry.targets.is_empty() {
            return true;
        }
        if entry.targets.contains(&Target::InTop) && self.is_place(&folder.to_string_lossy()) {
            return true;
        }
        let operands = self.path_words(folder);
        let fits = |at: usize, operand: &PathWord<'_>| {
            let PathWord { word, shown, path, is_unclear } = operand;
            let last = at + 1 == operands.len();
            entry.targets.iter().any(|target| match target {
                Target::Unknown => *is_unclear && self.is_dangerous_unknown(word),
                Target::InTop => false,
                _ if *is_unclear => false,
                Target::Top(Operand::Last) if !last => false,
                Target::Top(Operand::NotLast) if last => false,
                Target::Top(_) => self.is_top(path),
                Target::System => is_system(path) && !self.is_own_work(path),
                Target::HomeFolder => {
                    // `../other` is beside the project, not somebody's documents.
                    let is_named = shown.starts_with(['/', '~', '$']) || is_home(&folder.to_string_lossy());
                    is_named
                        && (is_home_folder(path) || (is_among_documents(path) && !self.is_own_work(path)))
                }
                Target::Beside => self.is_beside(shown, path),
                Target::Elsewhere => self.is_elsewhere() && is_absolute_and_kept(shown),
                Target::Here => {
                    let all = matches!(
                        shown.trim_start_matches("./"),
                        "" | "." | "*" | ".*" | ".?*" | ".??*" | "..?*" | "*/" | "**" | "**/"
                    );
                    (all && !self.is_inside(folder)) || Path::new(path) == self.places.cwd
                }
                Target::Path(wanted) => wanted.matches(shown.trim_end_matches('/')),
            })
        };
        operands.iter().enumerate().any(|(at, operand)| fits(at, operand))
    }

    /// The words of the command that can be paths, when it runs in this folder.
    fn path_words(&self, folder: &Path) -> Rc<[PathWord<'a>]> {
        let mut known = self.operands.borrow_mut();
        if let Some((_, words)) = known.iter().find(|(other, _)| other == folder) {
            return Rc::clone(words);
        }
        let words = self.command.arguments().iter().filter(|word| !word.head().starts_with('-'));
        let words: Rc<[PathWord<'a>]> = words.map(|word| PathWord::new(word, folder)).collect();
        known.push((folder.to_owned(), Rc::clone(&words)));
        words
    }

    /// Whether a word that is only partly known could be one of the places: `$X`, `$X/`, `$X/*`, but not
    /// `$X/build` or `/tmp/$X`.
    fn is_dangerous_unknown(&self, word: &Word) -> bool {
        let shown = word.show();
        let last = shown.trim_end_matches(['/', '*']).rsplit('/').next().unwrap_or_default();
        let is_named = has_letters_of_its_own(last);
        let is_below = shown.starts_with("/tmp/") || shown.starts_with("/var/tmp/") || is_relative(&shown);
        // Files that `find` selected by name are what the user meant.
        let found = self.command.wrapper.and_then(|at| self.script.commands.get(at));
        // `find … -name dist | xargs rm -rf`
        let found = match found {
            Some(Command { input: Input::Pipe(range), .. }) => {
                self.script.commands.get(range.clone()).and_then(<[Command]>::last).or(found)
            }
            _ => found,
        };
        let by_name = found.is_some_and(|wrapper| {
            matches!(wrapper.name(), Some("find" | "fd" | "fdfind"))
                && wrapper
                    .arguments()
                    .iter()
                    .any(|word| matches!(word.known(), Some("-name" | "-path" | "-iname" | "-regex")))
        });
        !is_named && !is_below && !by_name && !word.unknowns().all(|unknown| self.is_temporary(unknown))
    }

    /// Whether the command runs in a container or on another machine.
    fn is_elsewhere(&self) -> bool {
        let mut wrapper = self.command.wrapper;
        let mut steps = 0;
        while let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) {
            let verb = |wanted: &[&str]| {
                command.arguments().iter().filter_map(Word::known).any(|word| wanted.contains(&word))
            };
            match command.name() {
                Some("ssh" | "slogin" | "mosh" | "ansible") => return true,
                Some(
                    "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl" | "oc"
                    | "k" | "lxc" | "incus",
                ) if verb(&["exec", "attach"]) => return true,
                _ => {}
            }
            steps += 1;
            wrapper = command.wrapper.filter(|_| steps < 16);
        }
        false
    }

    /// The output of `mktemp`, and variables with such a name.
    pub(super) fn is_temporary(&self, unknown: &Unknown) -> bool {
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

    /// Whether a path is the folder in which the line starts, or inside it, where that folder is a project among services
    /// or documents. A folder above them, such as `/` or the home folder, makes nothing in them a project's.
    pub(super) fn is_own_work(&self, path: &str) -> bool {
        const HOLD_PROJECTS: [&str; 6] =
            ["/opt/", "/root/", "/srv/", "/usr/local/src/", "/usr/src/", "/var/www/"];
        let folder = self.places.cwd.to_string_lossy();
        let is_project =
            HOLD_PROJECTS.iter().any(|above| folder.starts_with(above)) || is_among_documents(&folder);
        is_project && Path::new(path).starts_with(self.places.cwd)
    }

    /// Whether a relative path leads to a folder right beside the one in which the line starts, whose name says neither that
    /// it is made again nor that it is a copy.
    fn is_beside(&self, shown: &str, path: &str) -> bool {
        const COPIES: [&str; 8] = ["bak", "bench", "clone", "copy", "old", "out", "worktree", "wt"];
        let path = Path::new(path);
        let above = self.places.cwd.parent().filter(|above| *above != Path::new("/"));
        let is_beside = above.is_some() && path.parent() == above;
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_copy = parts(&name).any(|part| COPIES.contains(&part)) || is_disposable(&name);
        !shown.starts_with(['/', '~', '$'])
            && is_beside
            && path != self.places.cwd
            && !path.starts_with("/tmp")
            && !name.contains(['*', '?', '$'])
            && !is_copy
            && is_absolute_and_kept(&path.to_string_lossy())
    }

    /// Whether this folder is inside the one in which the line starts, or among temporary files.
    fn is_inside(&self, folder: &Path) -> bool {
        (folder != self.places.cwd && folder.starts_with(self.places.cwd))
            || (folder.starts_with("/tmp") && folder != Path::new("/tmp"))
    }

    /// One of the places, or everything in it.
    pub(super) fn is_top(&self, path: &str) -> bool {
        let all = path.rsplit_once('/').filter(|(_, name)| is_all(name));
        self.is_place(path) || all.is_some_and(|(folder, _)| self.is_place(folder))
    }

    fn is_place(&self, path: &str) -> bool {
        let path = if path.is_empty() { "/" } else { path };
        let home = self.places.home.map(|home| home.to_string_lossy());
        if home.as_deref() == Some(path) || is_home(path) {
            return true;
        }
        // A parent of the folder in which the line starts: deleting it deletes that folder too.
        let around = self.places.cwd.starts_with(path) && self.places.cwd != Path::new(path);
        let is_pattern = path.contains(['*', '?']);
        around || self.list.places.iter().any(|place| place == path || (is_pattern && could_be(path, place)))
    }

    /// Whether the command writes or deletes one of these files.
    pub(super) fn writes(&self, entry: &Entry, folder: &Path) -> bool {
        self.names_file(&entry.writes, folder, is_change)
    }

    /// Whether the command reads one of these files.
    pub(super) fn reads(&self, wanted: &WildcardSet, folder: &Path) -> bool {
        self.names_file(wanted, folder, is_read)
    }

    fn names_file(&self, wanted: &WildcardSet, folder: &Path, counts: impl Fn(Effect) -> bool) -> bool {
        // In most folders no wanted file can exist: then a plain name needs no further spellings.
        let is_near = can_be_below(wanted, folder);
        let plain = self.plain_files.get_or_init(|| {
            let one = |file: &FileUse<'_>| (is_plain(&file.path), lowered(file.path.show()).into_owned());
            self.files().iter().map(one).collect()
        });
        let files = self.files().iter().zip(plain).enumerate();
        files.filter(|(_, (file, _))| counts(file.effect)).any(
            |(at, (file, (is_plain, shown)))| match is_near || !is_plain {
                true => self.spellings_of(at, file, folder).iter().any(|text| wanted.matches(text)),
                false => wanted.matches(shown),
            },
        )
    }

    /// The ways to write the file at `at`, when the command runs in this folder.
    fn spellings_of(&self, at: usize, file: &FileUse<'_>, folder: &Path) -> Rc<[String]> {
        let mut known = self.spellings.borrow_mut();
        if let Some((.., texts)) = known.iter().find(|(number, other, _)| *number == at && other == folder) {
            return Rc::clone(texts);
        }
        let texts: Rc<[String]> = spellings(&file.path, folder).into();
        if known.len() < MAX_SPELLINGS {
            known.push((at, folder.to_owned(), Rc::clone(&texts)));
        }
        texts
    }
}

/// Whether a name stands for all files, or for all with a first letter: `*`, `.*`, `.[!.]*`, `[a-z]*`.
fn is_all(name: &str) -> bool {
    let mut rest = name.trim_start_matches('.');
    while let Some((front, (_, back))) =
        rest.split_once('[').and_then(|(front, inside)| Some((front, inside.split_once(']')?)))
    {
        if !front.is_empty() {
            return false;
        }
        rest = back;
    }
    name.contains('*') && rest.chars().all(|c| matches!(c, '*' | '?'))
}

/// The ways to write more files than this are not remembered.
const MAX_SPELLINGS: usize = 16;

/// Whether a wanted file can be in this folder, or below it.
fn can_be_below(wanted: &WildcardSet, folder: &Path) -> bool {
    let Some(folder) = folder.to_str() else { return true };
    let is_home = ["/root", "/home", "/Users", "~"].iter().any(|home| folder.starts_with(home));
    folder.len() < 2 || is_home || folder.contains("..") || wanted.can_begin(folder)
}

/// Whether a word is a path from the folder where the command runs to something in it.
fn is_plain(word: &Word) -> bool {
    let shown = word.show();
    !shown.starts_with(['/', '~']) && !shown.contains("${") && !shown.contains("..")
}

/// Whether the path is one of these, however it is written.
pub(super) fn names_one(path: &Word, wanted: &WildcardSet, folder: &Path) -> bool {
    spellings(path, folder).iter().any(|text| wanted.matches(text))
}

/// The ways to write a path: as it is, absolute, and from the home folder.
fn spellings(path: &Word, folder: &Path) -> Vec<String> {
    let shown = path.show();
    let path = normal(&shown, folder);
    let in_home = in_home(&path);
    let mut texts = Vec::with_capacity(3);
    if path != shown {
        texts.push(shown.into_owned());
    }
    texts.push(path);
    texts.extend(in_home);
    // The patterns are in lowercase.
    texts.iter_mut().filter(|text| text.bytes().any(|byte| byte.is_ascii_uppercase())).for_each(|text| {
        *text = text.to_lowercase();
    });
    texts
}

/// `~/x` for `/home/somebody/x`.
fn in_home(path: &str) -> Option<String> {
    // `/~` is a home folder whose path is unknown.
    if let Some(rest) = path.strip_prefix("/root/").or_else(|| path.strip_prefix("/~/")) {
        return Some(format!("~/{rest}"));
    }
    let rest = in_homes(path)?;
    rest.split_once('/').map(|(_, below)| format!("~/{below}"))
}

/// The path from the folder of all homes: in Linux, macOS, and Windows as Linux sees it.
fn in_homes(path: &str) -> Option<&str> {
    let windows = || path.strip_prefix("/mnt/").and_then(|rest| rest.get(1..)?.strip_prefix("/Users/"));
    let plain = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/")).or_else(windows);
    plain.or_else(|| {
        // `/h*/x`, `/[h]ome/x`
        let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
        let is_pattern = first.contains(['*', '?']);
        let meets_one = || ["home", "Users"].iter().any(|home| meets(&of_wildcards(first), &of_text(home)));
        (is_pattern && meets_one()).then_some(rest)
    })
}

/// `~`, `/home/somebody`, `/root`
fn is_home(path: &str) -> bool {
    let name = in_homes(path);
    matches!(path, "~" | "/~") || name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Anything below `~/Documents` and the like that no build makes again.
fn is_among_documents(path: &str) -> bool {
    const PERSONAL: [&str; 7] =
        ["Desktop", "Documents", "Downloads", "Movies", "Music", "Pictures", "Videos"];
    let in_home = match path.strip_prefix("~/") {
        Some(name) => Some(name.to_owned()),
        None => in_home(path).and_then(|path| path.strip_prefix("~/").map(str::to_owned)),
    };
    let parts = in_home.as_deref().and_then(|path| path.split_once('/'));
    parts.is_some_and(|(first, rest)| PERSONAL.contains(&first) && !rest.is_empty())
        && is_absolute_and_kept(path)
}

/// `~/Documents`, and folders of the person's settings such as `~/.config`.
pub(super) fn is_home_folder(path: &str) -> bool {
    const KEPT: [&str; 15] = [
        ".cargo",
        ".rustup",
        ".vscode",
        ".docker",
        ".pyenv",
        ".nvm",
        ".config",
        ".local",
        ".mozilla",
        ".thunderbird",
        ".ssh",
        ".gnupg",
        ".aws",
        ".kube",
        ".password-store",
    ];
    let name = match path.strip_prefix("~/") {
        Some(name) => Some(name.to_owned()),
        None => in_home(path).and_then(|path| path.strip_prefix("~/").map(str::to_owned)),
    };
    let name = name.as_deref().map(|name| name.trim_end_matches(['*', '/']));
    name.is_some_and(|name| {
        !name.is_empty() && !name.contains('/') && (!name.starts_with('.') || KEPT.contains(&name))
    })
}

/// An absolute path that is not among temporary files.
fn is_absolute_and_kept(shown: &str) -> bool {
    const TEMPORARY: [&str; 5] = ["/tmp/", "/var/tmp/", "/var/cache/", "/dev/shm/", "/run/"];
    /// What the next build makes again.
    const MADE: [&str; 15] = [
        "node_modules",
        ".cache",
        "cache",
        "dist",
        "build",
        "target",
        "coverage",
        "__pycache__",
        ".next",
        ".pytest_cache",
        ".mypy_cache",
        ".turbo",
        ".venv",
        "venv",
        "tmp",
    ];
    let last = crate::shell::base_name(shown.trim_end_matches(['/', '*']));
    let is_made = shown.matches('/').count() > 1 && MADE.contains(&last);
    shown.starts_with(['/', '~']) && !is_made && !TEMPORARY.iter().any(|folder| shown.starts_with(folder))
}

/// Whether a name has a known part: `build-$X`, but neither `$X` nor `..`.
fn has_letters_of_its_own(name: &str) -> bool {
    let mut rest = name;
    while let Some(at) = rest.find('$') {
        if rest[..at].contains(char::is_alphanumeric) {
            return true;
        }
        let after = &rest[at + 1..];
        rest = match after.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some((_, rest)) => rest,
            None => after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
        };
    }
    rest.contains(char::is_alphanumeric)
}

pub(super) fn is_system(path: &str) -> bool {
    let is_in = |folder: &&str| path.starts_with(*folder) || Some(path) == folder.strip_suffix('/');
    SYSTEM.iter().any(is_in) && !REMADE.iter().any(|folder| path.starts_with(folder))
}

/// Whether a path with wildcards can match this place: `/e*` matches `/etc`.
fn could_be(path: &str, place: &str) -> bool {
    path.matches('/').count() == place.matches('/').count()
        && !path.ends_with("/*")
        && place != "/"
        && meets(&of_wildcards(path), &of_text(place))
}

/// A relative path that begins with a name: `build/$X`.
fn is_relative(shown: &str) -> bool {
    let first = shown.trim_start_matches("./").split('/').next().unwrap_or_default();
    !first.is_empty() && !first.contains(['$', '*', '~']) && first != ".." && !shown.starts_with('/')
}

/// Whether the value is unknown. A choice is not: its values are checked one by one.
fn is_unclear(unknown: &Unknown) -> bool {
    !matches!(&unknown.from, Origin::Variable(name) if &**name == "HOME" || &**name == "USER")
        && !matches!(unknown.from, Origin::Choice(_))
}
