//! Calls the `git` program with a controlled environment and a time limit.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::error::HistoryError;
use crate::tool::group::Group;

/// The time limit of one call.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// The longest message of git that is read.
const STDERR_LIMIT: u64 = 16 * 1024;

/// How git is called.
#[derive(Debug)]
pub(super) struct Git {
    pub(super) program: PathBuf,
    /// The search path for programs.
    pub(super) search_path: OsString,
    pub(super) repository: PathBuf,
    /// Whether the branch is known to have a commit.
    pub(super) begun: AtomicBool,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct GitOutput {
    pub(super) success: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// A call of git.
#[derive(Debug, Default)]
pub(super) struct GitCall<'a> {
    /// Which command it is.
    pub(super) command: &'static str,
    /// Options of git itself, before the command.
    pub(super) settings: &'a [&'a str],
    pub(super) args: &'a [&'a OsStr],
    pub(super) input: &'a [u8],
    /// The maximum number of bytes of output that are read.
    pub(super) limit: u64,
}

impl Git {
    /// Calls git. A failure of git is not an error here.
    pub(super) async fn run(&self, call: GitCall<'_>) -> Result<GitOutput, HistoryError> {
        let late = HistoryError::TimedOut { command: call.command, after: TIME_LIMIT };
        tokio::time::timeout(TIME_LIMIT, self.run_process(call)).await.unwrap_or(Err(late))
    }

    /// Calls git; a failure of git is an error.
    pub(super) async fn succeed(&self, call: GitCall<'_>) -> Result<Vec<u8>, HistoryError> {
        let command = call.command;
        let ran = self.run(call).await?;
        if ran.success { Ok(ran.stdout) } else { Err(HistoryError::Git { command, why: ran.stderr }) }
    }

    fn command(&self, call: &GitCall<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("PATH", &self.search_path)
            .env("GIT_DIR", &self.repository)
            // Ignore the user's and the system's configuration.
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Paths are not patterns.
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("LC_ALL", "C")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.quotePath=false"])
            .args(call.settings)
            .arg(call.command)
            .args(call.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Run in the repository, not in the work tree or the host's current folder.
        if self.repository.is_dir() {
            command.current_dir(&self.repository);
        } else {
            command.current_dir(Path::new("/"));
        }
        command
    }

    async fn run_process(&self, call: GitCall<'_>) -> Result<GitOutput, HistoryError> {
        let failed = |why: std::io::Error| HistoryError::Git { command: call.command, why: why.to_string() };
        let mut group = Group::start(&mut self.command(&call))
            .map_err(|why| HistoryError::NoGit { program: self.program.clone(), why: why.to_string() })?;
        let child = group.child();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // git may exit before it has read everything; its stderr says why.
                let _ = stdin.write_all(call.input).await;
            }
        };
        let ((), stdout, stderr) = tokio::join!(feed, read(stdout, call.limit), read(stderr, STDERR_LIMIT));
        let (stdout, stderr) = (stdout.map_err(failed)?, stderr.map_err(failed)?);
        let status = group.wait().await.map_err(failed)?;
        Ok(GitOutput {
            success: status.success(),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).trim().to_owned(),
        })
    }
}

/// Reads to the end, and keeps at most `limit` bytes.
async fn read(from: Option<impl AsyncRead + Unpin>, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(mut from) = from {
        (&mut from).take(limit).read_to_end(&mut kept).await?;
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(kept)
}
