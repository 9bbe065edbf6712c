//! Why a path is refused.

use rustix::io::Errno;

use super::super::ToolError;

/// A path that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {refusal}")]
pub struct WorkspaceError {
    /// The path, as it was given.
    pub path: String,
    /// Why.
    pub refusal: Refusal,
}

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The workspace itself cannot be used.
    #[error("cannot be used as the workspace: {why}")]
    NoWorkspace {
        /// The system's message.
        why: String,
    },
    /// It is not a path.
    #[error("is not a path: {why}")]
    BadPath {
        /// What is wrong with it.
        why: &'static str,
    },
    /// It leaves the workspace.
    #[error("is outside the workspace {root}")]
    Outside {
        /// The workspace.
        root: String,
    },
    /// A symlink in the path leaves the workspace.
    #[error("leads out of the workspace through a symlink")]
    SymlinkOut,
    /// There is a symlink in the path, where none is followed.
    #[error("leads through the symlink `{link}`{}; name the real path instead", pointing(.target.as_deref()))]
    Symlink {
        /// The part of the path that is a symlink.
        link: String,
        /// Its target, if that can be read.
        target: Option<String>,
    },
    /// It belongs to git.
    #[error("belongs to git; the agent does not write there")]
    Protected,
    /// It does not exist.
    #[error("does not exist")]
    Missing,
    /// It is a folder, a device, a pipe or a socket.
    #[error("is {what}, not a file")]
    NotAFile {
        /// What it is.
        what: &'static str,
    },
    /// A part of it that should be a folder is not one.
    #[error("is not a folder, or goes through something that is not a folder")]
    NotAFolder,
    /// It is too large.
    #[error("is too large: {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// It is not text.
    #[error("is not UTF-8 text (a binary file?)")]
    NotText,
    /// The system refuses.
    #[error("cannot be used: {why}")]
    System {
        /// The system's message.
        why: String,
    },
}

fn pointing(target: Option<&str>) -> String {
    target.map_or_else(String::new, |target| format!(" (to `{target}`)"))
}

impl WorkspaceError {
    pub(super) fn new(path: &str, refusal: Refusal) -> Self {
        Self { path: path.to_owned(), refusal }
    }

    /// Translates an error of the system.
    pub(super) fn system(path: &str, errno: Errno) -> Self {
        let refusal = match errno {
            Errno::NOENT => Refusal::Missing,
            Errno::NOTDIR => Refusal::NotAFolder,
            Errno::XDEV => Refusal::SymlinkOut,
            Errno::ISDIR => Refusal::NotAFile { what: "a folder" },
            Errno::NXIO => Refusal::NotAFile { what: "a pipe or a socket" },
            other => Refusal::System { why: std::io::Error::from(other).to_string() },
        };
        Self::new(path, refusal)
    }
}

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        Self::new(error.to_string())
    }
}
