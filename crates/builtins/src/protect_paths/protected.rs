//! Which files are protected, and why a call that touches one is refused.

use std::path::{Path, PathBuf};

use crate::path::{Case, Names, PathGlob, Resolved};
use crate::tool::Access;

/// A pattern as it was written, and compiled.
pub(crate) type Pattern = (String, PathGlob);

/// Which files are protected how.
#[derive(Debug)]
pub(crate) struct Protected {
    pub(crate) base: Names,
    /// Files, and all in a folder that fits.
    pub(crate) no_read: Vec<Pattern>,
    /// Files only: a folder of this name is free.
    pub(crate) no_read_files: Vec<Pattern>,
    pub(crate) no_write: Vec<Pattern>,
    pub(crate) except: Vec<PathGlob>,
    /// The configuration and what belongs to it; no exception holds for them.
    pub(crate) own: Vec<PathBuf>,
    /// Whether a line that cannot be read is asked about.
    pub(crate) asks_about_form: bool,
}

/// Why a file must be left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Objection {
    /// It must not even be read.
    Secret(String),
    /// It must not be changed.
    Fixed(String),
}

impl Objection {
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Secret(reason) | Self::Fixed(reason) => reason,
        }
    }
}

impl Protected {
    /// Why this file must be left alone, if it must.
    pub(crate) fn objection(&self, shown: &str, access: Access, file: &Resolved) -> Option<Objection> {
        let paths = [&file.lexical, &file.real];
        if access == Access::Write && paths.iter().any(|path| self.is_own(path)) {
            let reason =
                format!("`{shown}` belongs to the hook configuration; nobody changes it but the person");
            return Some(Objection::Fixed(reason));
        }
        let names: Vec<Names> = paths[..if file.lexical == file.real { 1 } else { 2 }]
            .iter()
            .map(|path| Names::new(path, Case::Folded))
            .collect();
        // An exception must hold for the file both as it is written and as it is.
        let free = |path: &Names| self.except.iter().any(|glob| glob.matches_names(path, &self.base, None));
        if names.iter().all(free) {
            return None;
        }
        let in_tree =
            |glob: &PathGlob| names.iter().any(|path| glob.matches_tree_names(path, &self.base, None));
        let is_file = |glob: &PathGlob| names.iter().any(|path| glob.matches_names(path, &self.base, None));
        let files = self.no_read_files.iter().find(|(_, glob)| is_file(glob));
        if let Some((pattern, _)) = files.or_else(|| self.no_read.iter().find(|(_, glob)| in_tree(glob))) {
            let what = if access == Access::Read { "read" } else { "changed" };
            return Some(Objection::Secret(format!(
                "`{shown}` is protected ({pattern}) and must not be {what}; ask the person for what you need from it"
            )));
        }
        if access == Access::Read {
            return None;
        }
        let (pattern, _) = self.no_write.iter().find(|(_, glob)| in_tree(glob))?;
        let reason =
            format!("`{shown}` is protected ({pattern}) and must not be changed; ask the person to do it");
        Some(Objection::Fixed(reason))
    }

    /// Why a folder must not be deleted or moved: the configuration is in it.
    pub(super) fn holds_own(&self, shown: &str, file: &Resolved) -> Option<Objection> {
        let held = self.own.iter().any(|own| own.starts_with(&file.real) && file.real.parent().is_some());
        held.then(|| {
            Objection::Fixed(format!(
                "`{shown}` holds the hook configuration; nobody removes it but the person"
            ))
        })
    }

    /// Whether it is, or is in, what belongs to the configuration.
    fn is_own(&self, path: &Path) -> bool {
        let is_below = |own: &PathBuf| path.starts_with(own);
        self.own.iter().any(is_below) || {
            let folded = PathBuf::from(path.to_string_lossy().to_lowercase());
            self.own.iter().any(|own| folded.starts_with(own.to_string_lossy().to_lowercase()))
        }
    }

    /// Why a file of this name must be left alone, wherever it is.
    pub(super) fn objection_to_name(&self, shown: &str, name: &str, access: Access) -> Option<Objection> {
        if self.except.iter().any(|glob| glob.matches_name(name)) {
            return None;
        }
        let find = |patterns: &[Pattern]| {
            patterns.iter().find(|(_, glob)| glob.matches_name(name)).map(|(pattern, _)| pattern.clone())
        };
        let reason = |pattern: String| {
            format!("`{shown}` is protected ({pattern}), wherever it leads; ask the person for it")
        };
        if let Some(pattern) = find(&self.no_read_files).or_else(|| find(&self.no_read)) {
            return Some(Objection::Secret(reason(pattern)));
        }
        if access == Access::Read {
            return None;
        }
        find(&self.no_write).map(|pattern| Objection::Fixed(reason(pattern)))
    }

    /// Why a search among files of this pattern (`*.pem`, `.env*`) must not be, if it must not. One that is for all
    /// files is like one without a pattern.
    pub(super) fn objection_to_search(&self, glob: &str) -> Option<Objection> {
        for glob in alternatives(glob) {
            let name = glob.rsplit('/').next().unwrap_or_default();
            if name.starts_with('!') || name.chars().all(|c| matches!(c, '*' | '?' | '.')) {
                continue;
            }
            let Ok(compiled) = PathGlob::new(name, Case::Folded) else { continue };
            let patterns = self.no_read_files.iter().chain(&self.no_read);
            let sample = patterns
                .filter(|(pattern, _)| !pattern.contains('/'))
                .map(|(pattern, _)| pattern.replace('*', "local"))
                .find(|sample| {
                    compiled.matches_name(sample) && !self.except.iter().any(|glob| glob.matches_name(sample))
                });
            if let Some(sample) = sample {
                return Some(Objection::Secret(format!(
                    "`{glob}` is a search in files like `{sample}`, which are protected; ask the person for what you need"
                )));
            }
        }
        None
    }
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
