//! A file of lines to which many processes append, and its rotated older files.
//!
//! A line is one `write` to a file that was opened for appending, so lines of two processes never mix. Rotation renames
//! files, under a lock that only rotation takes: `log.jsonl` becomes `log.jsonl.1`, and so on. A process that has the
//! file open meanwhile writes its line to the renamed file, and it is read from there.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

/// One file and its older ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines {
    pub(crate) name: &'static str,
    /// A file that would become larger than this is renamed.
    pub(crate) most_bytes: u64,
    /// How many files there are at most, the newest included.
    pub(crate) files: usize,
}

const LOCK: &str = "lock";
/// How long to wait for the lock: any process that can read the file can hold it.
const MAX_WAIT: Duration = Duration::from_secs(1);

fn lock_within(lock: impl Fn() -> Result<(), TryLockError>, most: Duration) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if began.elapsed() < most => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

impl Lines {
    /// Appends a line, or several; `lines` ends with a line break.
    pub(crate) fn append(&self, folder: &Path, lines: &str) -> io::Result<()> {
        let folder = open_folder(folder)?;
        let mut file = self.open(&folder)?;
        if file.metadata()?.len() + lines.len() as u64 > self.most_bytes {
            drop(file);
            match self.rotate(&folder) {
                // Another process holds the lock: a file that is too long is better than a lost record.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                rotated => rotated?,
            }
            file = self.open(&folder)?;
        }
        file.write_all(lines.as_bytes())
    }

    fn open(&self, folder: &File) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NONBLOCK;
        own(open_at(folder, self.name, flags)?)
    }

    /// Renames the files, unless another process just did.
    fn rotate(&self, folder: &File) -> io::Result<()> {
        let lock = own(open_at(folder, LOCK, OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK)?)?;
        lock_within(|| lock.try_lock(), MAX_WAIT)?;
        if self.open(folder)?.metadata()?.len() < self.most_bytes / 2 {
            return Ok(());
        }
        for number in (1..self.files).rev() {
            match rustix::fs::renameat(folder, self.file_name(number - 1), folder, self.file_name(number)) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The name of the file, or of its `number`th older one.
    fn file_name(&self, number: usize) -> String {
        if number == 0 { self.name.to_owned() } else { format!("{}.{number}", self.name) }
    }

    /// The existing files, oldest first, open for reading.
    pub(crate) fn open_all(&self, folder: &Path) -> io::Result<Vec<File>> {
        let folder = match open_existing_folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        // Under the lock, because a file could be renamed while they are opened. If the lock fails, read without it.
        let lock = open_at(&folder, LOCK, OFlags::RDWR | OFlags::NONBLOCK).and_then(own);
        let _locked = lock.is_ok_and(|lock| lock_within(|| lock.try_lock_shared(), MAX_WAIT).is_ok());
        let mut files = Vec::new();
        for number in (0..self.files).rev() {
            files.extend(self.open_to_read(&folder, number)?);
        }
        Ok(files)
    }

    /// The newest file, open for reading, if it exists.
    pub(crate) fn open_newest(&self, folder: &Path) -> io::Result<Option<File>> {
        match open_existing_folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => self.open_to_read(&other?, 0),
        }
    }

    fn open_to_read(&self, folder: &File, number: usize) -> io::Result<Option<File>> {
        match open_at(folder, &self.file_name(number), OFlags::RDONLY | OFlags::NONBLOCK).and_then(own) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn open_at(folder: &File, name: &str, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR);
    opened.map(File::from).map_err(|error| match error {
        rustix::io::Errno::LOOP => io::Error::other(format!("{name} is a symbolic link")),
        other => other.into(),
    })
}

/// The folder, created if needed; it must belong to this user, and others must not have access.
fn open_folder(folder: &Path) -> io::Result<File> {
    match open_existing_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            use std::os::unix::fs::DirBuilderExt;
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open_existing_folder(folder)
        }
        other => other,
    }
}

fn open_existing_folder(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::openat(CWD, folder, flags, Mode::empty())?);
    let metadata = check_owner(&folder)?;
    if metadata.mode() & 0o077 != 0 {
        rustix::fs::fchmod(&folder, Mode::RWXU)?;
    }
    Ok(folder)
}

/// A file of this user, made private if it was not.
fn own(file: File) -> io::Result<File> {
    let metadata = check_owner(&file)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if metadata.mode() & 0o077 != 0 {
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    }
    Ok(file)
}

fn check_owner(file: &File) -> io::Result<std::fs::Metadata> {
    let metadata = file.metadata()?;
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        Ok(metadata)
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
    }
}

/// Whether an open file is still the newest one.
pub(crate) fn is_newest(lines: &Lines, folder: &Path, file: &File) -> io::Result<bool> {
    let open = rustix::fs::fstat(file)?;
    let folder = open_existing_folder(folder)?;
    match rustix::fs::statat(&folder, lines.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) => Ok(now.st_ino == open.st_ino && now.st_dev == open.st_dev),
        Err(rustix::io::Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
