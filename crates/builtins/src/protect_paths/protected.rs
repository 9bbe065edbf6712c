//! Which files are protected, and why a call that touches one is refused.

use std::path::Path;

use crate::guard::Ruling;
use crate::path::{Case, Names, PathGlob, Resolved};
use crate::tool::Access;

use super::defaults::{AGENT_FILES, AGENT_FOLDERS};
use super::own::ConfigurationPaths;
use super::patterns::Patterns;

/// Which files are protected how.
#[derive(Debug)]
pub(crate) struct Protected {
    pub(crate) base: Names,
    /// Files, and all in a folder that fits.
    pub(crate) no_read: Patterns,
    /// Files only: a folder of this name is not protected. Writing them asks a person.
    pub(crate) no_read_files: Patterns,
    /// Files that are read only after asking.
    pub(crate) ask_read: Patterns,
    /// Files, and all in a folder that fits, which tools for files write only after asking.
    pub(crate) ask_write: Patterns,
    pub(crate) no_write: Patterns,
    pub(crate) except: Patterns,
    /// The configuration and what belongs to it; no exception holds for them.
    pub(crate) own: ConfigurationPaths,
    /// Whether the files of agents that call Crosier are among `no_write`.
    pub(crate) guards_wiring: bool,
    /// Whether a line that cannot be read is asked about.
    pub(crate) asks_about_form: bool,
}

/// Why a file must not be touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Objection {
    /// It must not even be read.
    Secret(String),
    /// It must not be changed.
    Fixed(String),
    /// A person decides.
    Question(String),
}

impl Objection {
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Secret(reason) | Self::Fixed(reason) | Self::Question(reason) => reason,
        }
    }

    pub(crate) fn ruling(self) -> Ruling {
        match self {
            Self::Secret(reason) | Self::Fixed(reason) => Ruling::Deny(reason),
            Self::Question(reason) => Ruling::Ask(reason),
        }
    }
}

impl Protected {
    /// Why this file must not be touched, if so.
    pub(crate) fn objection(&self, shown: &str, access: Access, file: &Resolved) -> Option<Objection> {
        let names = file.folded();
        if access == Access::Write && self.own.contains(file) {
            let reason =
                format!("`{shown}` belongs to the hook configuration; only the person may change it");
            return Some(Objection::Fixed(reason));
        }
        // An exception must hold for the file both as it is written and as it is.
        let free = |path: &Names| self.except.find_file(std::slice::from_ref(path), &self.base).is_some();
        if names.iter().all(free) {
            return None;
        }
        let secret = |pattern: &str, what: &str| {
            Some(Objection::Secret(format!(
                "`{shown}` is protected ({pattern}) and must not be {what}; ask the person for what you need from it"
            )))
        };
        let tree = self.no_read.find_tree(names, &self.base);
        let find_file = |patterns: &'_ Patterns| patterns.find_file(names, &self.base).map(str::to_owned);
        if access == Access::Read {
            if let Some(pattern) = find_file(&self.no_read_files).or_else(|| tree.map(str::to_owned)) {
                let is_own = self.no_read_files.is_written(&pattern) || self.no_read.is_written(&pattern);
                if !is_own && names.iter().all(|path| is_no_secret(path, &pattern)) {
                    return None;
                }
                return secret(&pattern, "read");
            }
            let pattern = find_file(&self.ask_read)?;
            return Some(Objection::Question(format!(
                "`{shown}` often contains secrets ({pattern}); should it be read?"
            )));
        }
        if let Some(pattern) = tree {
            return secret(pattern, "changed");
        }
        if let Some(pattern) = self.no_write.find_tree(names, &self.base) {
            let reason = format!(
                "`{shown}` is protected ({pattern}) and must not be changed; ask the person to do it"
            );
            return Some(Objection::Fixed(reason));
        }
        let pattern = find_file(&self.no_read_files)?;
        // What is made there is thrown away.
        if ["/tmp/", "/var/tmp/", "$TMPDIR/"].iter().any(|folder| shown.starts_with(folder)) {
            return None;
        }
        Some(Objection::Question(format!(
            "`{shown}` is a file that contains secrets ({pattern}); should it be written?"
        )))
    }

    /// The question before a tool for files writes what runs at a login or a start of the machine.
    pub(super) fn question_about_write(&self, shown: &str, file: &Resolved) -> Option<Objection> {
        let pattern = self.ask_write.find_tree(file.folded(), &self.base)?;
        Some(Objection::Question(format!(
            "`{shown}` is a startup or system file ({pattern}); should it be written?"
        )))
    }

    /// Why a folder must not be deleted or moved: the configuration, or what calls Crosier, is in it.
    pub(super) fn holds_own(&self, shown: &str, file: &Resolved) -> Option<Objection> {
        let held =
            (file.real.parent().is_some() && self.own.is_below(&file.real)) || calls_crosier(&file.real);
        held.then(|| {
            Objection::Fixed(format!(
                "`{shown}` contains the hook configuration; only the person may remove it"
            ))
        })
    }

    /// Why a file of this name must not be touched, wherever it is.
    pub(super) fn objection_to_name(&self, shown: &str, name: &str, access: Access) -> Option<Objection> {
        if self.except.find_name(name).is_some() {
            return None;
        }
        let find = |patterns: &Patterns| patterns.find_name(name).map(str::to_owned);
        let reason = |pattern: String| {
            format!(
                "`{shown}` is protected ({pattern}), in any folder; ask the person for what you need from it"
            )
        };
        if access == Access::Read {
            let secret = find(&self.no_read_files).or_else(|| find(&self.no_read));
            let secret = secret.map(|pattern| Objection::Secret(reason(pattern)));
            return secret
                .or_else(|| find(&self.ask_read).map(|pattern| Objection::Question(reason(pattern))));
        }
        if let Some(pattern) = find(&self.no_read) {
            return Some(Objection::Secret(reason(pattern)));
        }
        if let Some(pattern) = find(&self.no_write) {
            return Some(Objection::Fixed(reason(pattern)));
        }
        find(&self.no_read_files).map(|pattern| Objection::Question(reason(pattern)))
    }

    /// Why a folder of an agent must not be deleted, moved away or replaced: with it goes what calls Crosier.
    pub(super) fn objection_to_removal(&self, shown: &str, file: &Resolved) -> Option<Objection> {
        let is_agents = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
            name.is_some_and(|name| AGENT_FOLDERS.contains(&name.as_str()))
        };
        if !self.guards_wiring || !(is_agents(&file.lexical) || is_agents(&file.real)) {
            return None;
        }
        // Agents read those of the project and of the home folder.
        let is_nested = shown.contains('/')
            && !shown.starts_with('$')
            && shown.split('/').all(|name| !matches!(name, "" | "." | ".." | "~" | "*"))
            && !calls_crosier(file.real.parent().unwrap_or(&file.real));
        if is_nested {
            return Some(Objection::Question(format!(
                "`{shown}` is a folder of an agent; should it be removed?"
            )));
        }
        Some(Objection::Fixed(format!(
            "`{shown}` contains the files with which an agent calls Crosier; only the person may remove it"
        )))
    }

    /// Why a search in files of this pattern (`*.pem`, `.env*`) is not allowed, if so. A pattern that matches all
    /// files is like one without a pattern.
    pub(super) fn objection_to_search(&self, glob: &str) -> Option<Objection> {
        for glob in alternatives(glob) {
            let name = glob.rsplit('/').next().unwrap_or_default();
            if name.starts_with('!') || name.chars().all(|c| matches!(c, '*' | '?' | '.')) {
                continue;
            }
            let Ok(compiled) = PathGlob::new(name, Case::Folded) else { continue };
            let patterns = self.no_read_files.texts().chain(self.no_read.texts());
            let sample = patterns
                .filter(|pattern| !pattern.contains('/'))
                .map(|pattern| pattern.replace('*', "local"))
                .find(|sample| compiled.matches_name(sample) && self.except.find_name(sample).is_none());
            if let Some(sample) = sample {
                return Some(Objection::Secret(format!(
                    "`{glob}` searches protected files such as `{sample}`; ask the person for what you need"
                )));
            }
        }
        None
    }
}

/// Whether a file that fits a pattern for secrets contains none: a key for tests, or the settings of ssh.
fn is_no_secret(path: &Names, pattern: &str) -> bool {
    const FOLDERS: [&str; 8] =
        ["test", "tests", "testdata", "fixtures", "__fixtures__", "__tests__", "spec", "e2e"];
    const KEYS: [&str; 6] = ["*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"];
    const NAMES: [&str; 7] = ["test", "dummy", "example", "fake", "mock", "sample", "localhost"];
    // Only folders near to the file say what it is for.
    const NEAR: usize = 3;
    let names: Vec<&str> = path.iter().collect();
    let near = &names[names.len().saturating_sub(NEAR)..];
    let [folders @ .., file] = near else { return false };
    match pattern {
        ".ssh" => folders.last() == Some(&".ssh") && *file == "config",
        pattern if KEYS.contains(&pattern) => {
            folders.iter().any(|name| FOLDERS.contains(name))
                || file.split(['.', '-', '_']).any(|part| NAMES.contains(&part))
        }
        _ => false,
    }
}

/// Whether a file below this folder, where agents have such files, calls Crosier. A folder that is not there has none.
fn calls_crosier(folder: &Path) -> bool {
    const LARGEST: u64 = 1 << 20;
    if folder.parent().is_none() || !folder.is_dir() {
        return false;
    }
    let mentions = |path: &Path| {
        let small = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
        small && std::fs::read(path).is_ok_and(|text| memchr::memmem::find(&text, b"crosier").is_some())
    };
    AGENT_FILES.iter().any(|file| {
        let path = folder.join(file);
        match std::fs::read_dir(&path) {
            Ok(entries) => entries.take(256).flatten().any(|entry| mentions(&entry.path())),
            Err(_) => mentions(&path),
        }
    })
}

/// `*.{a,b}` as `*.a` and `*.b`.
fn alternatives(glob: &str) -> Vec<String> {
    match glob.split_once('{').and_then(|(front, rest)| Some((front, rest.split_once('}')?))) {
        Some((front, (inner, back))) => {
            inner.split(',').map(|choice| format!("{front}{choice}{back}")).collect()
        }
        None => vec![glob.to_owned()],
    }
}
