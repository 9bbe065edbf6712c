//! Every version of every file that the agent writes, in a shadow repository outside the work tree.
//!
//! A file to write is written and committed, together with its previous content if that is not in the history
//! yet. Lists, diffs and old versions can be read, and files restored. The work is done by the
//! `git` program, on a separate repository and with a controlled environment: no configuration, hook or index of
//! the user is read, and nothing of the user's `.git` is touched. Without `git` there is a clear error, and no
//! history. Any number of writers may write at once, in one process and in several.
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

/// A future of a history.
pub type HistoryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HistoryError>> + Send + 'a>>;

/// The result of restoring a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// It is as it was.
    Written(CommitId),
    /// It did not exist then, and was removed.
    Removed(CommitId),
}

/// Keeps versions of files.
pub trait History: Send + Sync {
    /// Writes a file of the workspace as a whole and keeps it. What was there before is kept first, unless it is
    /// what was kept last. The answer is the commit of the new version.
    fn write<'a>(&'a self, path: &'a str, content: &'a [u8], message: &'a str)
    -> HistoryFuture<'a, CommitId>;

    /// Keeps a version of a file that somebody else has written.
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
