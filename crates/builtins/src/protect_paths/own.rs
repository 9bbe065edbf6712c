//! What belongs to Crosier's configuration, so that no tool may change it: files, and folders with everything in them.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::OwnFiles;
use crate::path::{Case, Names, Resolved};

/// What the host says belongs to its configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnPaths {
    /// Real paths: there may be hundreds, and links in them are not followed.
    pub(crate) files: OwnFiles,
    /// Links in these are followed.
    pub(crate) folders: Vec<PathBuf>,
    /// The home folder.
    pub(crate) home: Option<PathBuf>,
}

/// The configuration, its state, and what the host says belongs to it; as written and with links followed.
#[derive(Debug)]
pub(crate) struct ConfigurationPaths {
    config: PathBuf,
    host: Arc<OwnPaths>,
    /// Made when a tool is about to change a file.
    prepared: OnceLock<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    paths: Vec<PathBuf>,
    /// The names of the absolute ones; letters in any case.
    names: Vec<Names>,
    /// Those that cannot be compared by their names.
    others: Vec<PathBuf>,
}

impl ConfigurationPaths {
    pub(crate) fn new(config: &Path, host: Arc<OwnPaths>) -> Self {
        Self { config: config.to_owned(), host, prepared: OnceLock::new() }
    }

    /// The home folder.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.host.home.as_deref()
    }

    /// Whether the file is, or is in, one of them.
    pub(super) fn contains(&self, file: &Resolved) -> bool {
        let Prepared { names, others, .. } = self.prepared();
        let is_own = |path: &Names| names.iter().any(|own| path.is_in(own));
        file.folded().iter().any(is_own)
            || others.iter().any(|own| {
                let own = own.to_string_lossy().to_lowercase();
                let folded = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
                [&file.lexical, &file.real].into_iter().any(|path| folded(path).starts_with(&own))
            })
    }

    /// Whether one of them is this folder, or in it.
    pub(super) fn is_below(&self, folder: &Path) -> bool {
        self.prepared().paths.iter().any(|own| own.starts_with(folder))
    }

    /// Whether one of the host's folders is directly in this one.
    pub(super) fn has_in(&self, folder: &Path) -> bool {
        self.host.folders.iter().any(|own| own.parent() == Some(folder) || own == folder)
    }

    fn prepared(&self) -> &Prepared {
        self.prepared.get_or_init(|| {
            let paths = self.all();
            let is_named = |component| matches!(component, Component::RootDir | Component::Normal(_));
            let (named, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
                paths.iter().partition(|path| path.is_absolute() && path.components().all(is_named));
            let names = named.into_iter().map(|path| Names::new(path, Case::Folded)).collect();
            let others = others.into_iter().cloned().collect();
            Prepared { paths, names, others }
        })
    }

    fn all(&self) -> Vec<PathBuf> {
        let mut paths = self.host.folders.clone();
        let name = self.config.file_name().unwrap_or_default().as_encoded_bytes();
        // A pack and the self-guard have no file.
        if !name.starts_with(b"crosier:") {
            let mut state = self.config.clone().into_os_string();
            state.push(".state.json");
            paths.extend([self.config.clone(), PathBuf::from(state)]);
        }
        let real: Vec<PathBuf> = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        paths.extend(real);
        paths.extend(self.host.files.list());
        paths
    }
}
