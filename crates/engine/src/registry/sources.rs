//! The record of the files that the hooks of a layer may run.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use super::hook::Entry;

/// The record of the files that the hooks of a layer may run, as a person trusted them.
///
/// Set with [`Builder::layer_with`](crate::Builder::layer_with) or [`Hook::with_sources`](crate::Hook::with_sources).
/// The engine asks it about every hook of the layer that runs a file of its own: commands and python functions.
/// Callbacks and services run code of the host and are not asked about. Python workers are not shared between records.
///
/// What a record says must not change while an engine uses it: when a person trusts other files, make a new engine.
pub trait Sources: fmt::Debug + Send + Sync {
    /// Checks that every file that this hook runs is as recorded. Called right before the hook runs and right after it,
    /// on the thread that runs it, so it should be cheap: compare inode, size, mtime and ctime where the digest of the
    /// same file is known. A file that was changed and changed back in between must not pass, so ctime has to count.
    ///
    /// For a python hook this includes its interpreter, if that is inside the project.
    ///
    /// # Errors
    /// One line for people: which file differs, and what to do. The event is denied with this message
    /// ([`FailureKind::Changed`](crate::FailureKind::Changed)), whatever the hook said.
    fn check(&self, hook: &Entry) -> Result<(), String>;

    /// What the workers of the layer's python hooks may load. Called once for each pool of workers.
    fn python(&self) -> PythonSources {
        PythonSources::default()
    }

    /// Variables that every command of the layer gets, whatever its configuration says. They keep the programs that it
    /// starts from loading files that are not recorded.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }
}

/// What a python worker may load from the folders of a project.
///
/// Below [`folders`](Self::folders) a module is loaded only from the source text of a recorded file: it is read,
/// hashed, compared and compiled in memory. Anything else there (another module, a file that differs, a `.pyc`, a
/// compiled extension, a namespace package, a zip file) is an `import` failure. Folders elsewhere are not restricted.
///
/// [`config::python_files`](crate::config::python_files) finds the files that a hook needs recorded.
///
/// Paths are absolute and have no `..`. A file is recorded under its path in the project; if that is a link,
/// the digest is that of its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PythonSources {
    /// The folders of the project.
    pub folders: Vec<PathBuf>,
    /// Recorded files with the SHA-256 of their content.
    pub files: Vec<(PathBuf, [u8; 32])>,
    /// Folders within the project that are trusted as a whole, such as a virtual environment:
    /// [`Sources::check`] verifies that they are as recorded.
    pub units: Vec<PathBuf>,
}

impl PythonSources {
    /// Nothing below these folders may be loaded, except what is added.
    #[must_use]
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect(), ..Self::default() }
    }

    /// Records a file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, sha256: [u8; 32]) -> Self {
        self.files.push((path.into(), sha256));
        self
    }

    /// Trusts a folder as a whole, as one unit.
    #[must_use]
    pub fn unit(mut self, folder: impl Into<PathBuf>) -> Self {
        self.units.push(folder.into());
        self
    }
}
