//! In which folders the commands of a line can run: `cd` moves those behind it.

use std::path::{Path, PathBuf};

use super::model::{Command, Script};
use super::word::Word;
use crate::path::{Places, lexical};

/// More folders than this are not kept apart.
const MOST: usize = 16;

/// The folders that commands of a script can run in.
#[derive(Debug)]
pub(crate) struct Folders {
    start: PathBuf,
    /// The place of a `cd` in the script, and where it leads; none when that cannot be known.
    moves: Vec<(usize, Option<PathBuf>)>,
}

impl Script {
    /// Where its commands can run when it starts in this folder.
    pub(crate) fn folders(&self, places: Places<'_>) -> Folders {
        let mut folders = Folders { start: places.cwd.to_owned(), moves: Vec::new() };
        for (at, command) in self.commands.iter().enumerate() {
            if folders.moves.len() > MOST {
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
            for from in folders.before(at).into_iter().flatten() {
                let places = Places { cwd: &from, home: places.home };
                folders.push(at, Some(places.lexical(path)));
            }
        }
        folders
    }

    /// The command that stands in the line itself and leads to this one.
    fn root(&self, mut at: usize) -> usize {
        // Carriers come before what they carry, so this ends.
        while let Some(carrier) =
            self.commands.get(at).and_then(|command| command.carrier).filter(|to| *to < at)
        {
            at = carrier;
        }
        at
    }
}

impl Folders {
    /// `env -C folder`, `sudo -D folder`: what they run is there.
    fn option(&mut self, at: usize, command: &Command, places: Places<'_>) {
        let words = command.arguments();
        let place = words.iter().position(|word| matches!(word.known(), Some("-C" | "-D" | "--chdir")));
        let next = place.and_then(|place| words.get(place + 1)).and_then(Word::known);
        let glued = words.iter().find_map(|word| word.known()?.strip_prefix("--chdir="));
        if let Some(folder) = glued.or(next) {
            self.push(at, Some(places.lexical(folder)));
        }
    }

    /// Keeps a folder that is new. With too many of them nobody knows where a command runs.
    fn push(&mut self, at: usize, folder: Option<PathBuf>) {
        let folder = if self.moves.len() < MOST { folder } else { None };
        let known =
            folder.as_ref() == Some(&self.start) || self.moves.iter().any(|(_, other)| *other == folder);
        if !known {
            self.moves.push((at, folder));
        }
    }

    /// The folders that a command can run in; none among them: one that cannot be known.
    pub(crate) fn of(&self, script: &Script, at: usize) -> Vec<Option<PathBuf>> {
        let root = script.root(at);
        // `cd a && rm b`: when the folder is not there, nothing is removed.
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
                .map(|(_, folder)| folder.clone())
                .collect(),
            None => self.before(root),
        };
        // Behind a `cd` in the same code: `sh -c 'cd / && rm -rf *'`.
        let beside = |place: usize| place >= root && place < at && script.root(place) == root;
        all.extend(self.moves.iter().filter(|(place, _)| beside(*place)).map(|(_, folder)| folder.clone()));
        all
    }

    fn before(&self, at: usize) -> Vec<Option<PathBuf>> {
        let mut all = vec![Some(self.start.clone())];
        all.extend(self.moves.iter().take_while(|(place, _)| *place < at).map(|(_, folder)| folder.clone()));
        all
    }
}

/// A path for comparing: `/`, `/etc`, `~`, `/home/*`. Wildcards stay, `.` and `..` are taken out.
pub(crate) fn normal(word: &str, folder: &Path) -> String {
    let word = word.replace("${HOME}", "~").replace("/home/${USER}", "~");
    // The root of a process is that of the machine.
    if let Some(rest) = word.strip_prefix("/proc/")
        && let Some((process, rest)) = rest.split_once("/root")
        && !process.contains('/')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return normal(if rest.is_empty() { "/" } else { rest }, folder);
    }
    // `~+` is the folder itself.
    let word = match word.strip_prefix("~+").filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => format!("{}{rest}", folder.display()),
        None => word,
    };
    // Somebody else's home is a home too.
    if let Some(rest) = word.strip_prefix('~').filter(|rest| !rest.starts_with('-')) {
        let rest = rest.find('/').map_or("", |slash| &rest[slash..]);
        let below = lexical(&Path::new("/").join(rest.trim_start_matches('/')));
        let below = below.to_string_lossy();
        return if below == "/" { "~".to_owned() } else { format!("~{below}") };
    }
    lexical(&folder.join(&word)).to_string_lossy().into_owned()
}
