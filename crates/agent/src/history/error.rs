//! Errors of the history.

use std::path::PathBuf;
use std::time::Duration;

use crate::tool::WorkspaceError;

/// Why something could not be kept, found or restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// `git` cannot be started: the host can go on without a history.
    #[error("history needs git, and `{}` cannot be started: {why}", program.display())]
    NoGit {
        /// The program that could not be started.
        program: PathBuf,
        /// The system's message.
        why: String,
    },
    /// The repository cannot be used.
    #[error("the history {} cannot be used: {why}", repository.display())]
    Unusable {
        /// Where it is.
        repository: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The path is refused.
    #[error(transparent)]
    Refused(#[from] WorkspaceError),
    /// The file is written, but its new version is not in the history.
    #[error("`{path}` is written, but not kept in the history: {why}")]
    NotKept {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// There is no such commit.
    #[error("the history has no commit `{commit}`")]
    NoCommit {
        /// What was asked for.
        commit: String,
    },
    /// The commit has no such file.
    #[error("commit {commit} has no file `{path}`{}", first.as_ref().map_or_else(String::new, |first| format!("; its first version is in {first}")))]
    NoFile {
        /// The commit.
        commit: String,
        /// The file.
        path: String,
        /// The first commit that has it.
        first: Option<String>,
    },
    /// `git` failed.
    #[error("git {command} failed: {why}")]
    Git {
        /// The command.
        command: &'static str,
        /// Its message.
        why: String,
    },
    /// `git` took too long and was killed.
    #[error("git {command} did not finish within {after:?}")]
    TimedOut {
        /// The command.
        command: &'static str,
        /// The time limit.
        after: Duration,
    },
}
