//! The repository: how it is created, recognised and queried.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::entry::{self, CommitId, Entry};
use super::error::HistoryError;
use super::git::{Git, GitCall};
use super::import::{BRANCH, Commit, Parent};

/// The file that marks a repository as made by Crosier.
const MARKER: &str = "crosier-history";
/// How often a commit is attempted while others write too.
const TRIES: u32 = 60;
/// The maximum number of bytes of commits and differences that are read.
const TEXT_LIMIT: u64 = 8 * 1024 * 1024;
const DIFF_LIMIT: u64 = 1024 * 1024;

/// A file in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) blob: String,
    pub(super) executable: bool,
}

/// Opens the repository, or creates it.
pub(super) async fn open(git: &Git, workspace: &Path) -> Result<(), HistoryError> {
    let repository = &git.repository;
    let unusable = |why: String| HistoryError::Unusable { repository: repository.clone(), why };
    // Also checks that git exists.
    git.succeed(GitCall { command: "version", limit: 256, ..GitCall::default() }).await?;
    if repository.starts_with(workspace) || workspace.starts_with(repository) {
        return Err(unusable(format!("it must be outside the workspace {}", workspace.display())));
    }
    if repository.join(MARKER).exists() {
        return Ok(());
    }
    begin(git).await
}

/// Creates the repository in a temporary folder and renames it, so that a concurrent process finds either all of it or
/// nothing.
async fn begin(git: &Git) -> Result<(), HistoryError> {
    let repository = &git.repository;
    let unusable = |why: String| HistoryError::Unusable { repository: repository.clone(), why };
    let io = |error: std::io::Error| unusable(error.to_string());
    let above = repository.parent().ok_or_else(|| unusable("it has no parent folder".to_owned()))?;
    // The history contains all files, so only its owner may read it.
    let private = |folder: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    private(above).map_err(io)?;
    let beside = above.join(format!(".crosier-{}.new", uuid::Uuid::now_v7().simple()));
    private(&beside).map_err(io)?;
    let made = make(git, &beside).await.and_then(|()| match fs::rename(&beside, repository) {
        Err(_) if repository.join(MARKER).exists() => Ok(()),
        Err(_) if repository.exists() => Err(unusable("there is something else in its place".to_owned())),
        moved => moved.map_err(io),
    });
    if beside.exists() {
        let _ = fs::remove_dir_all(&beside);
    }
    made
}

async fn make(git: &Git, folder: &Path) -> Result<(), HistoryError> {
    let args: [&OsStr; 5] = [
        "--quiet".as_ref(),
        "--bare".as_ref(),
        "--template=".as_ref(),
        "--initial-branch=main".as_ref(),
        folder.as_os_str(),
    ];
    git.succeed(GitCall { command: "init", args: &args, limit: 4096, ..GitCall::default() }).await?;
    fs::write(folder.join(MARKER), "versions of files, kept by crosier\n").map_err(|error| {
        HistoryError::Unusable { repository: git.repository.clone(), why: error.to_string() }
    })
}

/// The path without symlinks, even if its end does not exist yet.
pub(super) fn real(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(std::io::Error::other("its path contains `..`"));
    }
    for above in path.ancestors() {
        if let Ok(found) = above.canonicalize() {
            return Ok(path.strip_prefix(above).map_or(found.clone(), |rest| found.join(rest)));
        }
    }
    Ok(path)
}

impl Git {
    /// Makes a commit on the tip of the branch; tries again when another writer was faster.
    pub(super) async fn commit(&self, commit: &Commit<'_>) -> Result<CommitId, HistoryError> {
        let mut parent = self.parent().await?;
        let mut refused = String::new();
        for attempt in 0..TRIES {
            let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
            let input = commit.stream(parent, now);
            let args: [&OsStr; 2] = ["--quiet".as_ref(), "--done".as_ref()];
            let order = GitCall {
                command: "fast-import",
                args: &args,
                input: &input,
                limit: 4096,
                ..GitCall::default()
            };
            let ran = self.run(order).await?;
            if ran.success {
                self.begun.store(true, Ordering::Relaxed);
                let id = CommitId::read(&String::from_utf8_lossy(&ran.stdout));
                let why = || "it did not print the commit that it made".to_owned();
                return id.ok_or_else(|| HistoryError::Git { command: "fast-import", why: why() });
            }
            if !was_overtaken(&ran.stderr) {
                return Err(HistoryError::Git { command: "fast-import", why: ran.stderr });
            }
            refused = ran.stderr;
            parent = Parent::Head;
            // A wait that differs by process id, so that writers do not all retry at the same moment.
            let apart = u64::from(std::process::id()) % 7 + u64::from(attempt % 5) * 3;
            tokio::time::sleep(Duration::from_millis(2 + apart)).await;
        }
        Err(HistoryError::Git {
            command: "fast-import",
            why: format!("other processes kept committing first: {refused}"),
        })
    }

    async fn parent(&self) -> Result<Parent, HistoryError> {
        if self.begun.load(Ordering::Relaxed) {
            return Ok(Parent::Head);
        }
        let args: [&OsStr; 3] = ["--verify".as_ref(), "--quiet".as_ref(), BRANCH.as_ref()];
        let order = GitCall { command: "rev-parse", args: &args, limit: 256, ..GitCall::default() };
        let begun = self.run(order).await?.success;
        self.begun.store(begun, Ordering::Relaxed);
        Ok(if begun { Parent::Head } else { Parent::None })
    }

    /// The commit with this abbreviated id.
    pub(super) async fn resolve(&self, commit: &str) -> Result<CommitId, HistoryError> {
        let no_commit = || HistoryError::NoCommit { commit: commit.to_owned() };
        if !(4..=64).contains(&commit.len()) || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(no_commit());
        }
        let revision = format!("{commit}^{{commit}}");
        let args: [&OsStr; 3] = ["--verify".as_ref(), "--quiet".as_ref(), revision.as_ref()];
        let ran =
            self.run(GitCall { command: "rev-parse", args: &args, limit: 256, ..GitCall::default() }).await?;
        CommitId::read(&String::from_utf8_lossy(&ran.stdout)).filter(|_| ran.success).ok_or_else(no_commit)
    }

    /// The file in a commit, or on the branch.
    pub(super) async fn find(&self, revision: &str, path: &str) -> Result<Option<Stored>, HistoryError> {
        let args: [&OsStr; 4] = ["-z".as_ref(), revision.as_ref(), "--".as_ref(), path.as_ref()];
        let ran =
            self.run(GitCall { command: "ls-tree", args: &args, limit: 8192, ..GitCall::default() }).await?;
        if !ran.success {
            // The branch has no commit yet.
            return if revision == BRANCH {
                Ok(None)
            } else {
                Err(HistoryError::Git { command: "ls-tree", why: ran.stderr })
            };
        }
        let printed = String::from_utf8_lossy(&ran.stdout);
        let mut words = printed.split([' ', '\t']);
        Ok(match (words.next(), words.next(), words.next()) {
            (Some(mode), Some("blob"), Some(blob)) => {
                Some(Stored { blob: blob.to_owned(), executable: mode == "100755" })
            }
            _ => None,
        })
    }

    pub(super) async fn content(&self, stored: &Stored, limit: u64) -> Result<Vec<u8>, HistoryError> {
        let args: [&OsStr; 2] = ["blob".as_ref(), stored.blob.as_ref()];
        self.succeed(GitCall { command: "cat-file", args: &args, limit, ..GitCall::default() }).await
    }

    pub(super) async fn log(&self, path: Option<&str>, limit: usize) -> Result<Vec<Entry>, HistoryError> {
        let count = format!("--max-count={}", i32::try_from(limit).unwrap_or(i32::MAX));
        let mut args: Vec<&OsStr> =
            vec!["-z".as_ref(), entry::FORMAT.as_ref(), count.as_ref(), BRANCH.as_ref(), "--".as_ref()];
        args.extend(path.map(OsStr::new));
        let ran = self
            .run(GitCall { command: "log", args: &args, limit: TEXT_LIMIT, ..GitCall::default() })
            .await?;
        if !ran.success {
            // The branch has no commit yet.
            return match self.parent().await? {
                Parent::None => Ok(Vec::new()),
                Parent::Head => Err(HistoryError::Git { command: "log", why: ran.stderr }),
            };
        }
        Ok(String::from_utf8_lossy(&ran.stdout).split('\0').filter_map(entry::read).collect())
    }

    pub(super) async fn difference(&self, commit: &CommitId) -> Result<String, HistoryError> {
        let options = ["-p", "--root", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color"];
        let mut args: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        args.push(commit.as_str().as_ref());
        let diff = self
            .succeed(GitCall { command: "diff-tree", args: &args, limit: DIFF_LIMIT, ..GitCall::default() })
            .await?;
        let cut = diff.len() as u64 == DIFF_LIMIT;
        let mut diff = String::from_utf8_lossy(&diff).into_owned();
        if cut {
            diff.push_str("\n[the rest is left out]\n");
        }
        Ok(diff)
    }
}

/// Whether another writer has moved the branch, or is moving it.
fn was_overtaken(stderr: &str) -> bool {
    [
        "does not contain",
        "cannot lock ref",
        "Unable to create",
        "reference already exists",
        "failed to update ref",
    ]
    .iter()
    .any(|sign| stderr.contains(sign))
}
