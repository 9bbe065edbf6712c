//! Starts a process, or explains why that failed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crosier_protocol::{Failure, FailureKind};

use super::super::os;

/// What to start. The program is always a path: the standard library then uses `posix_spawn`, which does not
/// copy the parent's memory map.
#[derive(Debug, Clone)]
pub(in crate::run) struct Start {
    pub(in crate::run) program: PathBuf,
    pub(in crate::run) args: Vec<OsString>,
    pub(in crate::run) cwd: PathBuf,
    pub(in crate::run) env: Vec<(OsString, OsString)>,
}

/// Descriptors that stop a hook from outside, even before it is started.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::run) struct Stop<'a> {
    /// Readable or closed when the fire is cancelled.
    pub(in crate::run) cancel: Option<BorrowedFd<'a>>,
    /// Readable or closed when the engine shuts down.
    pub(in crate::run) shutdown: Option<BorrowedFd<'a>>,
}

impl Stop<'_> {
    /// Fails when the fire is cancelled or the engine shut down.
    fn check(self) -> Result<(), Failure> {
        if self.shutdown.is_some_and(os::is_ready) {
            return Err(Failure::error("the engine is shut down"));
        }
        if self.cancel.is_some_and(os::is_ready) {
            return Err(Failure::error("the fire was cancelled before it was started"));
        }
        Ok(())
    }
}

impl Start {
    /// Starts it, regardless of cancellation.
    #[cfg(any(test, feature = "python"))]
    pub(in crate::run) fn start(&self, deadline: Instant) -> Result<Child, Failure> {
        self.start_unless(Stop::default(), deadline)
    }

    /// Starts it as the leader of its own process group, unless it was stopped. It inherits three pipes and
    /// no other descriptor.
    pub(super) fn start_unless(&self, stop: Stop<'_>, deadline: Instant) -> Result<Child, Failure> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        loop {
            stop.check()?;
            match command.spawn() {
                Ok(child) => return Ok(child),
                // A process that was forked while this file was being written still has it open, until it
                // executes its own program.
                Err(error) if os::is_busy_file(&error) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(Failure::new(FailureKind::Spawn, self.explain(&error))),
            }
        }
    }

    /// Finds the cause of an error: one error code has many.
    fn explain(&self, error: &io::Error) -> String {
        let (program, cwd) = (self.program.display(), self.cwd.display());
        match fs::metadata(&self.cwd) {
            Err(_) => return format!("its working directory does not exist: {cwd}"),
            Ok(meta) if !meta.is_dir() => {
                return format!("its working directory is a file, not a folder: {cwd}");
            }
            Ok(_) => {}
        }
        let path = self.cwd.join(&self.program);
        let Ok(meta) = fs::metadata(&path) else { return format!("the program does not exist: {program}") };
        if meta.is_dir() {
            return format!("the program is a folder: {program}");
        }
        match error.kind() {
            io::ErrorKind::PermissionDenied if meta.permissions().mode() & 0o111 == 0 => {
                return format!("the program is not executable: {program}; try `chmod +x`");
            }
            io::ErrorKind::ArgumentListTooLong => {
                return "its arguments and environment are too large for the operating system".to_owned();
            }
            _ => {}
        }
        match interpreter(&path) {
            Some(named) if named.ends_with('\r') => {
                let named = named.trim_end_matches('\r');
                format!(
                    "its first line ends in a carriage return, so no `{named}` is found: {program}; save it with Unix line ends"
                )
            }
            Some(named) if !Path::new(&named).exists() => {
                format!("its first line names an interpreter that does not exist: `{named}` in {program}")
            }
            None if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                format!("the program has no `#!` line and is not a binary: {program}")
            }
            _ => format!("{program} could not be started: {error}"),
        }
    }
}

/// The program that a file's `#!` line names.
fn interpreter(path: &Path) -> Option<String> {
    let mut start = [0; 256];
    let count = File::open(path).ok()?.read(&mut start).ok()?;
    let line = start[..count].strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let named = line.trim_ascii_start().split(|&byte| byte == b' ' || byte == b'\t').next()?;
    Some(String::from_utf8_lossy(named).into_owned())
}
