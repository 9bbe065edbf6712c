//! The folder that an agent works in, and nothing outside it.
//!
//! Input: a path as a model wrote it. Output: a file of the workspace, or a refusal with the reason. Every
//! file is opened relative to the open workspace folder, so that a symlink swapped in between a check and its use has
//! no effect: reading follows symlinks that stay inside (`openat2` with `RESOLVE_BENEATH`; without this system call, no
//! symlink at all), writing follows none. Files are replaced as a whole, never partly written.
//! Never allowed: a path that leaves the workspace, a device, a file over the limit, a write into `.git`.

mod beneath;
mod error;
mod file;
mod folder;
mod path;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

pub use error::{Refusal, WorkspaceError};
pub use file::Content;
pub(crate) use folder::EntryKind;

/// Files over this are neither read nor written, unless the host says otherwise.
pub const FILE_LIMIT: u64 = 10 * 1024 * 1024;

/// An open workspace.
#[derive(Debug)]
pub struct Workspace {
    /// As the host named it.
    given: PathBuf,
    /// Without symlinks.
    root: PathBuf,
    folder: OwnedFd,
    file_limit: u64,
}

impl Workspace {
    /// Opens the folder.
    ///
    /// # Errors
    /// When it is not a folder that can be opened.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let refused = |why: std::io::Error| {
            WorkspaceError::new(&root.display().to_string(), Refusal::NoWorkspace { why: why.to_string() })
        };
        let canonical = root.canonicalize().map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, &canonical, flags, Mode::empty()).map_err(|error| refused(error.into()))?;
        Ok(Self { given: root.to_owned(), root: canonical, folder, file_limit: FILE_LIMIT })
    }

    /// Sets another limit for the size of a file.
    #[must_use]
    pub fn with_file_limit(self, bytes: u64) -> Self {
        Self { file_limit: bytes, ..self }
    }

    /// The folder, without symlinks.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}
