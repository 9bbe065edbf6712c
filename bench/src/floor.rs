//! The floor: the least work that any program must do to run a command or to talk to one.
//!
//! The standard library starts these with `posix_spawn` (no group, no folder, no hook before `exec`): three
//! pipes, one write, reads until the end, one wait. No poll, no deadline, no limit: nothing that a hook engine
//! needs, so that nothing it adds is hidden.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command that runs without a hook engine.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    program: String,
    args: Vec<String>,
    path: String,
    folder: Option<PathBuf>,
    env: Vec<(String, String)>,
}

impl Raw {
    pub(crate) fn new(program: impl AsRef<Path>, args: &[&str], path: &str) -> Self {
        Self {
            program: program.as_ref().display().to_string(),
            args: args.iter().map(|&word| word.to_owned()).collect(),
            path: path.to_owned(),
            folder: None,
            env: Vec::new(),
        }
    }

    /// Runs it in this folder.
    pub(crate) fn in_folder(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// Adds an environment variable.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn shell(line: &str, path: &str) -> Self {
        Self::new("/bin/sh", &["-c", line], path)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .env("PATH", &self.path)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Runs it to its end and returns its output.
    pub(crate) fn run(&self, input: &str) -> Result<Vec<u8>> {
        self.end(&mut self.command(), input)
    }

    /// The same, with a file in memory as its input instead of a pipe.
    pub(crate) fn run_from_memory(&self, input: &str) -> Result<Vec<u8>> {
        let mut file = in_memory()?;
        file.write_all(input.as_bytes())?;
        file.rewind()?;
        self.end(self.command().stdin(file), "")
    }

    fn end(&self, command: &mut Command, input: &str) -> Result<Vec<u8>> {
        let mut child = command.spawn().context("the raw command could not be started")?;
        let mut written = Vec::new();
        let mut complaints = Vec::new();
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(input.as_bytes()) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
                _ => {}
            }
        }
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_end(&mut written)?;
        }
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_end(&mut complaints)?;
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("the raw command ended with {status}: {}", String::from_utf8_lossy(&complaints).trim());
        }
        Ok(written)
    }
}

/// A file that is never on a disk.
#[cfg(target_os = "linux")]
fn in_memory() -> Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(File::from(memfd_create("event", MemfdFlags::CLOEXEC)?))
}

/// The nearest that other systems have: a file without a name.
#[cfg(not(target_os = "linux"))]
fn in_memory() -> Result<File> {
    Ok(tempfile::tempfile()?)
}

/// A running `cat`: the minimum cost of any worker that is reached over pipes.
#[derive(Debug)]
pub(crate) struct Echo {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    buffer: Vec<u8>,
}

impl Echo {
    pub(crate) fn start() -> Result<Self> {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().context("cat has no stdin")?;
        let stdout = child.stdout.take().context("cat has no stdout")?;
        Ok(Self { child, stdin, stdout, buffer: vec![0; 64 * 1024] })
    }

    /// Sends a text there and back, in pieces that fit into a pipe, so that neither side blocks.
    pub(crate) fn echo(&mut self, text: &str) -> Result<()> {
        for piece in text.as_bytes().chunks(32 * 1024) {
            self.stdin.write_all(piece)?;
            let mut missing = piece.len();
            while missing > 0 {
                let room = missing.min(self.buffer.len());
                let count = self.stdout.read(&mut self.buffer[..room])?;
                if count == 0 {
                    bail!("cat is gone");
                }
                missing -= count;
            }
        }
        Ok(())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
