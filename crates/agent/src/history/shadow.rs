//! The history in a shadow repository.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use tokio::sync::Mutex;

use super::entry::{CommitId, Entry, EntryKind};
use super::error::HistoryError;
use super::git::{Git, GitCall};
use super::import::{BRANCH, Change, Commit};
use super::{History, HistoryFuture, Restored, repository};
use crate::tool::workspace::{Content, FILE_LIMIT, Refusal};
use crate::tool::{Workspace, WorkspaceError};

/// Where the workspace and its history are.
#[derive(Debug, Clone)]
pub struct HistoryConfig {
    /// The folder that the agent works in.
    pub workspace: PathBuf,
    /// The shadow repository: a separate folder outside the workspace, created if it does not exist.
    pub repository: PathBuf,
    /// The `git` program; a bare name is searched in the search path.
    pub git: PathBuf,
    /// The search path for programs.
    pub search_path: OsString,
    /// Files over this are refused.
    pub file_limit: u64,
}

impl HistoryConfig {
    /// A configuration with `git` from the usual places.
    pub fn new(workspace: impl Into<PathBuf>, repository: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            repository: repository.into(),
            git: PathBuf::from("git"),
            search_path: OsString::from("/usr/bin:/bin:/usr/local/bin"),
            file_limit: FILE_LIMIT,
        }
    }
}

/// A history in a shadow repository, by the `git` program.
pub struct ShadowGit {
    git: Git,
    workspace: Workspace,
    file_limit: u64,
    hasher: RandomState,
    /// For each path, a hash of the version that this process last added to the history. Held during a write, so that
    /// writes happen one at a time, and file and history agree on the last version.
    known: Mutex<HashMap<String, u64>>,
}

impl fmt::Debug for ShadowGit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShadowGit").field("repository", &self.git.repository).finish_non_exhaustive()
    }
}

impl ShadowGit {
    /// Opens the history, or creates it.
    ///
    /// # Errors
    /// When there is no `git` ([`HistoryError::NoGit`]), the workspace cannot be opened, or the repository is inside
    /// the workspace or was not made by Crosier.
    pub async fn open(config: HistoryConfig) -> Result<Self, HistoryError> {
        let workspace = Workspace::open(&config.workspace)?.with_file_limit(config.file_limit);
        let unusable = |why: std::io::Error| HistoryError::Unusable {
            repository: config.repository.clone(),
            why: why.to_string(),
        };
        let repository = repository::real(&config.repository).map_err(unusable)?;
        let HistoryConfig { git: program, search_path, .. } = config;
        let git = Git { program, search_path, repository, begun: false.into() };
        repository::open(&git, workspace.root()).await?;
        Ok(Self {
            git,
            workspace,
            file_limit: config.file_limit,
            hasher: RandomState::new(),
            known: Mutex::default(),
        })
    }

    /// Packs the repository if it has many loose objects. For the end of a session, when the host has time.
    ///
    /// # Errors
    /// When `git` fails.
    pub async fn tidy(&self) -> Result<(), HistoryError> {
        let settings = ["-c", "gc.auto=2000", "-c", "gc.autoDetach=false"];
        let args = ["--auto".as_ref(), "--quiet".as_ref()];
        let order =
            GitCall { command: "gc", settings: &settings, args: &args, limit: 4096, ..GitCall::default() };
        self.git.succeed(order).await.map(drop)
    }

    /// The current content at the path, if any.
    fn current(&self, path: &str) -> Result<Option<Content>, WorkspaceError> {
        match self.workspace.read_real(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.refusal == Refusal::Missing => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds the current content to the history, unless it is already the last version.
    async fn keep(&self, known: &mut HashMap<String, u64>, path: &str) -> Result<(), HistoryError> {
        let Some(current) = self.current(path)? else { return Ok(()) };
        let hash = self.hasher.hash_one(&current.bytes);
        if known.get(path) == Some(&hash) {
            return Ok(());
        }
        let stored = self.git.find(BRANCH, path).await?;
        let is_kept = match &stored {
            Some(stored) => self.git.content(stored, self.file_limit + 1).await? == current.bytes,
            None => false,
        };
        if !is_kept {
            let change = Change::Put { content: &current.bytes, executable: current.executable };
            let message = format!("{path} before the agent wrote it");
            self.git.commit(&Commit { path, change, kind: EntryKind::Kept, message: &message }).await?;
        }
        known.insert(path.to_owned(), hash);
        Ok(())
    }

    async fn put(&self, path: &str, new: New<'_>) -> Result<CommitId, HistoryError> {
        let path = self.workspace.check_write(path, new.content)?;
        let mut known = self.known.lock().await;
        self.keep(&mut known, &path).await?;
        self.workspace.write_with(&path, new.content, new.executable)?;
        let not_kept =
            |error: HistoryError| HistoryError::NotKept { path: path.clone(), why: error.to_string() };
        self.add(&mut known, &path, &new).await.map_err(not_kept)
    }

    /// Adds the version that was just written.
    async fn add(
        &self,
        known: &mut HashMap<String, u64>,
        path: &str,
        new: &New<'_>,
    ) -> Result<CommitId, HistoryError> {
        let executable = match new.executable {
            Some(executable) => executable,
            None => self.current(path)?.is_some_and(|current| current.executable),
        };
        let change = Change::Put { content: new.content, executable };
        let commit = self.git.commit(&Commit { path, change, kind: new.kind, message: new.message }).await?;
        known.insert(path.to_owned(), self.hasher.hash_one(new.content));
        Ok(commit)
    }

    /// Removes a file that was created after that commit.
    async fn remove(&self, commit: &CommitId, path: &str) -> Result<Restored, HistoryError> {
        // The oldest entry is last. A file that existed before the agent wrote it is not removed.
        let entries = self.git.log(Some(path), usize::MAX).await?;
        let first = entries.last();
        if first.is_none_or(|first| first.kind == EntryKind::Kept) {
            let first = first.map(|first| first.commit.to_string());
            return Err(HistoryError::NoFile { commit: commit.to_string(), path: path.to_owned(), first });
        }
        let mut known = self.known.lock().await;
        self.keep(&mut known, path).await?;
        match self.workspace.remove(path) {
            Err(error) if error.refusal != Refusal::Missing => return Err(error.into()),
            _ => {}
        }
        known.remove(path);
        let message = format!("remove {path}, as it was in {}", commit.short());
        let removal = Commit { path, change: Change::Remove, kind: EntryKind::Removed, message: &message };
        self.git.commit(&removal).await.map(Restored::Removed)
    }
}

/// A version to write.
struct New<'a> {
    content: &'a [u8],
    /// `None` leaves the permission unchanged.
    executable: Option<bool>,
    kind: EntryKind,
    message: &'a str,
}

impl<'a> New<'a> {
    fn written(content: &'a [u8], message: &'a str) -> Self {
        Self { content, executable: None, kind: EntryKind::Written, message }
    }
}

impl History for ShadowGit {
    fn write<'a>(
        &'a self,
        path: &'a str,
        content: &'a [u8],
        message: &'a str,
    ) -> HistoryFuture<'a, CommitId> {
        Box::pin(self.put(path, New::written(content, message)))
    }

    fn record<'a>(
        &'a self,
        path: &'a str,
        content: &'a [u8],
        message: &'a str,
    ) -> HistoryFuture<'a, CommitId> {
        Box::pin(async move {
            let path = self.workspace.check_write(path, content)?;
            let mut known = self.known.lock().await;
            self.add(&mut known, &path, &New::written(content, message)).await
        })
    }

    fn list<'a>(&'a self, path: Option<&'a str>, limit: usize) -> HistoryFuture<'a, Vec<Entry>> {
        Box::pin(async move {
            let path = path.map(|path| self.workspace.relative(path)).transpose()?;
            self.git.log(path.as_deref(), limit).await
        })
    }

    fn diff<'a>(&'a self, commit: &'a str) -> HistoryFuture<'a, String> {
        Box::pin(async move { self.git.difference(&self.git.resolve(commit).await?).await })
    }

    fn show<'a>(&'a self, commit: &'a str, path: &'a str) -> HistoryFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let path = self.workspace.relative(path)?;
            let commit = self.git.resolve(commit).await?;
            match self.git.find(commit.as_str(), &path).await? {
                Some(stored) => self.git.content(&stored, self.file_limit + 1).await,
                None => Err(HistoryError::NoFile { commit: commit.to_string(), path, first: None }),
            }
        })
    }

    fn restore<'a>(&'a self, commit: &'a str, path: &'a str) -> HistoryFuture<'a, Restored> {
        Box::pin(async move {
            let path = self.workspace.check_write(path, b"")?;
            let commit = self.git.resolve(commit).await?;
            let Some(stored) = self.git.find(commit.as_str(), &path).await? else {
                return self.remove(&commit, &path).await;
            };
            let content = self.git.content(&stored, self.file_limit + 1).await?;
            let message = format!("restore {path}, as it was in {}", commit.short());
            let new = New {
                content: &content,
                executable: Some(stored.executable),
                kind: EntryKind::Restored,
                message: &message,
            };
            self.put(&path, new).await.map(Restored::Written)
        })
    }
}
