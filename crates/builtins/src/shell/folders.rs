//! In which folders the commands of a line can run: `cd` moves those after it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::model::{Command, Script};
use super::word::Word;
use crate::path::{Places, lexical};

/// With more folders than this, the folder is unknown.
const MAX: usize = 16;

/// The folders that commands of a script can run in.
#[derive(Debug)]
pub(crate) struct Folders {
    start: PathBuf,
    /// The index of a `cd` in the script, and its target; none when that cannot be known.
    moves: Vec<(usize, Option<PathBuf>)>,
}

impl Script {
    /// The folders in which its commands can run when it starts in this one.
    pub(crate) fn folders(&self, places: Places<'_>) -> Folders {
        let mut folders = Folders { start: places.cwd.to_owned(), moves: Vec::new() };
        for (at, command) in self.commands.iter().enumerate() {
            if folders.moves.len() > MAX {
                break;
            }
            if let Some("env" | "genv" | "sudo" | "run0") = command.name() {
                folders.option(at, command, places);
                continue;
            }
            if !matches!(command.name(), Some("cd" | "pushd" | "chdir")) {
                continue;
            }
            let target =
                command.arguments().iter().find(|word| !word.head().starts_with('-') || word.head() == "-");
            let shown = target.map(|word| word.show().into_owned());
            let known = match &shown {
                None => Some("~"),
                Some(text) if target.is_some_and(|word| word.known().is_some()) && text != "-" => {
                    Some(text.as_str())
                }
                Some(text) if text.starts_with("${HOME}") && !text[7..].contains('$') => Some(text.as_str()),
                Some(_) => None,
            };
            let Some(path) = known else {
                folders.push(at, None);
                continue;
            };
            let from = folders.before(at).into_iter().flatten();
            let targets: Vec<PathBuf> =
                from.map(|cwd| Places { cwd, home: places.home }.lexical(path)).collect();
            targets.into_iter().for_each(|folder| folders.push(at, Some(folder)));
        }
        folders
    }

    /// The command in the line itself that leads to this one.
    fn root(&self, mut at: usize) -> usize {
        // A wrapper comes before the commands that it runs, so this ends.
        while let Some(wrapper) =
            self.commands.get(at).and_then(|command| command.wrapper).filter(|to| *to < at)
        {
            at = wrapper;
        }
        at
    }
}

impl Folders {
    /// `env -C folder`, `sudo -D folder`: what they run starts in that folder.
    fn option(&mut self, at: usize, command: &Command, places: Places<'_>) {
        let words = command.arguments();
        let place = words.iter().position(|word| matches!(word.known(), Some("-C" | "-D" | "--chdir")));
        let next = place.and_then(|place| words.get(place + 1)).and_then(Word::known);
        let glued = words.iter().find_map(|word| word.known()?.strip_prefix("--chdir="));
        if let Some(folder) = glued.or(next) {
            self.push(at, Some(places.lexical(folder)));
        }
    }

    /// Adds a folder if it is new. With too many, the folder is unknown.
    fn push(&mut self, at: usize, folder: Option<PathBuf>) {
        let folder = if self.moves.len() < MAX { folder } else { None };
        let known =
            folder.as_ref() == Some(&self.start) || self.moves.iter().any(|(_, other)| *other == folder);
        if !known {
            self.moves.push((at, folder));
        }
    }

    /// The folders that a command can run in; `None` in the list means an unknown folder.
    pub(crate) fn of(&self, script: &Script, at: usize) -> Vec<Option<&Path>> {
        if self.moves.is_empty() {
            return vec![Some(&self.start)];
        }
        let root = script.root(at);
        // `cd a && rm b`: when the folder does not exist, nothing is removed.
        let sure = self.moves.iter().rev().map(|(place, _)| *place).find(|place| *place < root);
        let follows = |place: usize| {
            let between = script.commands.get(place + 1..=root).unwrap_or_default();
            between.iter().all(|command| command.needs_success)
        };
        let mut all = match sure.filter(|place| follows(*place)) {
            Some(place) => self
                .moves
                .iter()
                .filter(|(other, _)| *other == place)
                .map(|(_, folder)| folder.as_deref())
                .collect(),
            None => self.before(root),
        };
        // After a `cd` in the same code: `sh -c 'cd / && rm -rf *'`.
        let beside = |place: usize| place >= root && place < at && script.root(place) == root;
        all.extend(
            self.moves.iter().filter(|(place, _)| beside(*place)).map(|(_, folder)| folder.as_deref()),
        );
        all
    }

    fn before(&self, at: usize) -> Vec<Option<&Path>> {
        let mut all = vec![Some(self.start.as_path())];
        all.extend(
            self.moves.iter().take_while(|(place, _)| *place < at).map(|(_, folder)| folder.as_deref()),
        );
        all
    }
}

/// A path for comparing: `/`, `/etc`, `~`, `/home/*`. Wildcards stay, `.` and `..` are removed.
pub(crate) fn normal(word: &str, folder: &Path) -> String {
    let word = match word.contains("${") {
        true => Cow::Owned(word.replace("${HOME}", "~").replace("/home/${USER}", "~")),
        false => Cow::Borrowed(word),
    };
    // `/proc/PID/root` is the root of the machine.
    if let Some(rest) = word.strip_prefix("/proc/")
        && let Some((process, rest)) = rest.split_once("/root")
        && !process.contains('/')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return normal(if rest.is_empty() { "/" } else { rest }, folder);
    }
    // `~+` is the folder itself.
    let word = match word.strip_prefix("~+").filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => Cow::Owned(format!("{}{rest}", folder.display())),
        None => word,
    };
    // `~user` is a home folder too.
    if let Some(rest) = word.strip_prefix('~').filter(|rest| !rest.starts_with('-')) {
        let rest = rest.find('/').map_or("", |slash| &rest[slash..]);
        let below = lexical(&Path::new("/").join(rest.trim_start_matches('/')));
        let below = below.to_string_lossy();
        return if below == "/" { "~".to_owned() } else { format!("~{below}") };
    }
    let path = lexical(&folder.join(&*word)).into_os_string();
    path.into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned())
}
