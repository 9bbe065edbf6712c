//! Crosier's state folder: accessible only to its owner, and never inside a project.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crosier_layers::is_in_project;

use crate::request::Request;

/// Whether the state folder can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateFolder {
    /// There is no state folder.
    Missing,
    /// It exists and belongs to the user.
    Usable(PathBuf),
    /// It exists but must not be trusted, for this reason.
    Refused(String),
}

/// Checks the state folder of a request.
#[must_use]
pub fn state_folder(request: &Request) -> StateFolder {
    let Some(folder) = &request.homes.state else { return StateFolder::Missing };
    let refused = |why: String| {
        StateFolder::Refused(format!("the state folder {} is refused: {why}", crate::show::path(folder)))
    };
    let folders = std::iter::once(&request.project).chain(&request.entered_folders);
    // A repository could set the environment variable that names this folder.
    if folders.into_iter().any(|project| is_in_project(folder, &request.places(project, Vec::new()))) {
        return refused(
            "it is inside the project folder; unset XDG_STATE_HOME, or use --state-home".to_owned(),
        );
    }
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => StateFolder::Missing,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => StateFolder::Missing,
        Err(error) => refused(format!("its metadata cannot be read: {error}")),
        Ok(meta) if !meta.is_dir() => refused("it is not a folder".to_owned()),
        Ok(meta) if meta.uid() != request.person.user => {
            refused(format!("it belongs to user {}", meta.uid()))
        }
        Ok(meta) if meta.mode() & 0o022 != 0 => {
            refused(format!("others can write to it (mode {:o}); chmod 700 it", meta.mode() & 0o777))
        }
        Ok(_) => StateFolder::Usable(folder.clone()),
    }
}

/// Creates a folder that only its owner can access.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a file atomically; only its owner can read it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}-{number}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, path)
        });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The most that is read of a file in the state folder.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a file of the state folder. Does not block if it is a named pipe.
///
/// # Errors
/// When it cannot be read, or is not a file of a sensible size.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(io::Error::other("it is not a file, or too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How long to wait for a lock.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// How often to try meanwhile.
const TRY_EVERY: Duration = Duration::from_millis(2);

/// Locks a file until the returned handle is dropped; creates the file if needed. Any process that can read the file
/// can hold the lock, so the wait is bounded: an agent ignores a hook that hangs.
///
/// # Errors
/// When it cannot be opened, or another process holds the lock.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).custom_flags(NO_WAIT);
    let file = options.open(path)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if began.elapsed() < MAX_WAIT => std::thread::sleep(TRY_EVERY),
            Err(error) => return Err(error.into()),
        }
    }
}

const NO_WAIT: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// Holds a lock in a folder until it is dropped, so that concurrent processes do not lose each other's changes.
pub(crate) fn lock(folder: &Path) -> io::Result<fs::File> {
    make(folder)?;
    lock_file(&folder.join("lock"))
}
