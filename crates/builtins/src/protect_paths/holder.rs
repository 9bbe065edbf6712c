//! Folders that directly contain wiring ([`WIRING`](super::WIRING): Crosier's files, and agents' files that call it). A
//! file that is put into such a folder may replace one of them.

use std::path::{Path, PathBuf};

use super::defaults::AGENT_FOLDERS;
use super::protected::Protected;
use crate::path::{Places, Resolved, UNKNOWN_HOME, in_home};
use crate::token::{Token, meets, of_text};

/// Names of wiring, and of the folders that contain it.
const NAMES: [&str; 16] = [
    "crosier",
    "crosier.yaml",
    "settings.json",
    "settings.local.json",
    "hooks.json",
    "hooks",
    "plugin",
    "plugins",
    "config.json",
    "config.toml",
    "config.yaml",
    "opencode.json",
    "crush.json",
    "opencode",
    "goose",
    ".config",
];
/// Folders of `~/.config` with files that call Crosier.
const CONFIGURED: [&str; 4] = ["crosier", "opencode", "goose", "crush"];

/// The folders that a path can be relative to: those that a line may run in, and the real home folder for those below
/// `~`.
pub(super) struct BaseFolders<'a> {
    folders: &'a [&'a Path],
    below_home: Vec<PathBuf>,
    home: Option<&'a Path>,
}

impl<'a> BaseFolders<'a> {
    pub(super) fn places(&self, text: &str) -> impl Iterator<Item = Places<'_>> {
        let real = self.home.filter(|_| in_home(text).is_some());
        let below = self.below_home.iter().map(PathBuf::as_path).chain(real);
        let written = self.folders.iter().map(|folder| Places { cwd: folder, home: None });
        written.chain(below.map(|cwd| Places { cwd, home: self.home }))
    }
}

impl Protected {
    pub(super) fn base_folders<'a>(&'a self, folders: &'a [&'a Path]) -> BaseFolders<'a> {
        let home = self.own.home();
        let below = |folder: &&Path| Some(home?.join(folder.strip_prefix(UNKNOWN_HOME).ok()?));
        BaseFolders { folders, below_home: folders.iter().filter_map(below).collect(), home }
    }

    /// Whether this folder, or a folder of an agent in it, directly contains wiring. A project does not count: what is
    /// written there is judged by its name.
    pub(super) fn is_holder(&self, file: &Resolved) -> bool {
        self.guards_wiring && [&file.lexical, &file.real].into_iter().any(|path| self.holds_wiring(path))
    }

    /// Like [`is_holder`](Self::is_holder), judging by the path alone.
    pub(super) fn holds_wiring(&self, path: &Path) -> bool {
        let named = |path: &Path, names: &[&str]| {
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
            name.is_some_and(|name| names.contains(&name.as_str()))
        };
        let Some(above) = path.parent() else { return false };
        if self.is_home(path) || named(path, AGENT_FOLDERS) || self.own.has_in(path) {
            return true;
        }
        let further = above.parent();
        match named(path, &[".config", "application support", "state"]) {
            true => {
                self.is_home(above)
                    || (named(above, &[".local", "library"])
                        && further.is_some_and(|home| self.is_home(home)))
            }
            false => {
                named(path, &CONFIGURED)
                    && named(above, &[".config"])
                    && further.is_some_and(|home| self.is_home(home))
            }
        }
    }

    /// Whether a search that begins here can reach wiring: the folder contains some, or is above a home folder.
    pub(super) fn reaches_wiring(&self, path: &Path) -> bool {
        let is_above = path.parent().is_none()
            || matches!(path.to_str(), Some("/home" | "/Users"))
            || self.own.home().is_some_and(|home| home.starts_with(path));
        self.guards_wiring && (is_above || self.holds_wiring(path))
    }

    pub(super) fn is_home(&self, path: &Path) -> bool {
        let is_usual = || {
            let above = path.parent().and_then(Path::to_str);
            matches!(above, Some("/home" | "/Users")) || path == Path::new("/root")
        };
        path == Path::new(UNKNOWN_HOME) || self.own.home() == Some(path) || is_usual()
    }
}

/// Whether a name that is only partly known can be that of wiring.
pub(super) fn can_be_wiring(name: &[Token]) -> bool {
    NAMES.iter().chain(AGENT_FOLDERS).any(|wanted| meets(name, &of_text(wanted)))
}

/// The names of wiring that a partly known name can stand for.
pub(super) fn wiring_names<'a>(name: &'a [Token]) -> impl Iterator<Item = &'static str> + 'a {
    let all = NAMES.iter().chain(AGENT_FOLDERS);
    all.copied().filter(move |wanted| meets(name, &of_text(wanted)))
}

/// Whether a plain text occurs in a name of wiring.
pub(super) fn is_part_of_wiring(text: &str) -> bool {
    NAMES.iter().chain(AGENT_FOLDERS).any(|name| name.contains(text))
}
