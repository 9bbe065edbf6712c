//! Every version of every file that the agent writes, in a shadow repository outside the work tree.
//!
//! Writing a file also commits it, together with its previous content if that is not in the history yet. Versions can
//! be listed, compared, read and restored. The `git` program does the work, on a separate repository and with a
//! controlled environment: it reads no configuration, hook or index of the user, and does not touch the user's `.git`.
//! Without `git` there is a clear error, and no history. Any number of writers may write at once, in one process and in
//! several.
//! Never used: a path outside the workspace, a symlink, a file over the limit, a repository that Crosier did not make.

mod entry;
mod error;
mod git;
mod import;
mod repository;
mod shadow;

use std::future::Future;
use std::pin::Pin;

pub use entry::{CommitId, Entry, EntryKind};
pub use error::HistoryError;
pub use shadow::{HistoryConfig, ShadowGit};

/// The future that a history returns.
pub type HistoryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HistoryError>> + Send + 'a>>;

/// The result of restoring a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// It has its old content again.
    Written(CommitId),
    /// It did not exist then, and was removed.
    Removed(CommitId),
}

/// Keeps versions of files.
pub trait History: Send + Sync {
    /// Writes a whole file of the workspace and adds it to the history. Its previous content is added first, unless it
    /// is already the last version. Returns the commit of the new version.
    fn write<'a>(&'a self, path: &'a str, content: &'a [u8], message: &'a str)
    -> HistoryFuture<'a, CommitId>;

    /// Adds a version of a file that somebody else has written.
    fn record<'a>(
        &'a self,
        path: &'a str,
        content: &'a [u8],
        message: &'a str,
    ) -> HistoryFuture<'a, CommitId>;

    /// The versions, newest first: of one file or of all, at most this many.
    fn list<'a>(&'a self, path: Option<&'a str>, limit: usize) -> HistoryFuture<'a, Vec<Entry>>;

    /// What a commit changed, as a unified diff.
    fn diff<'a>(&'a self, commit: &'a str) -> HistoryFuture<'a, String>;

    /// A file as a commit has it.
    fn show<'a>(&'a self, commit: &'a str, path: &'a str) -> HistoryFuture<'a, Vec<u8>>;

    /// Restores a file of the workspace to its content at a commit. The current content is kept first.
    fn restore<'a>(&'a self, commit: &'a str, path: &'a str) -> HistoryFuture<'a, Restored>;
}
