//! Reads, writes and removes files.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, RawMode, accessat, fchmod, fstat, mkdirat, openat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::Links;
use super::{Refusal, Workspace, WorkspaceError};

/// The permission bits, the only part of a file's mode that is kept.
const PERMISSION_BITS: RawMode = 0o777;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it may be executed.
    pub executable: bool,
}

impl Workspace {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When it is outside the workspace, not a file, or over the limit.
    pub fn read(&self, path: &str) -> Result<Content, WorkspaceError> {
        let relative = self.relative(path)?;
        self.read_relative(&relative, Links::Inside).map_err(|error| named(error, path))
    }

    /// Reads a whole text file.
    ///
    /// # Errors
    /// As [`Self::read`], and when it is not UTF-8.
    pub fn read_text(&self, path: &str) -> Result<String, WorkspaceError> {
        String::from_utf8(self.read(path)?.bytes).map_err(|_| WorkspaceError::new(path, Refusal::NotText))
    }

    /// Reads a file at a path that contains no symlink.
    pub(crate) fn read_real(&self, relative: &str) -> Result<Content, WorkspaceError> {
        self.read_relative(relative, Links::Refuse)
    }

    fn read_relative(&self, relative: &str, links: Links) -> Result<Content, WorkspaceError> {
        // Opening a named pipe must not block until somebody writes to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_beneath(relative, flags, links)?;
        let stat = fstat(&file).map_err(|errno| WorkspaceError::system(relative, errno))?;
        must_be_file(relative, stat.st_mode)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        self.must_fit(relative, size)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file may grow while it is read.
        File::from(file)
            .take(self.file_limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| system(relative, &error))?;
        self.must_fit(relative, bytes.len() as u64)?;
        Ok(Content { bytes, executable: stat.st_mode & 0o100 != 0 })
    }

    /// Checks whether [`Self::write`] would be refused, without changing anything. Returns the relative path.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn check_write(&self, path: &str, content: &[u8]) -> Result<String, WorkspaceError> {
        let relative = self.relative_for_writing(path)?;
        self.must_fit(path, content.len() as u64)?;
        let (folder, name) = split(&relative);
        match self.descend(folder, |_, _| Err(Errno::NOENT)) {
            Ok(folder) => {
                self.existing(&folder, &relative, name).map(drop).map_err(|error| named(error, path))?
            }
            Err(error) if error.refusal == Refusal::Missing => {}
            Err(error) => return Err(named(error, path)),
        }
        Ok(relative)
    }

    /// Writes a whole file, and creates the folders that it needs. A concurrent reader sees either all of the old
    /// content or all of the new. Its permissions stay the same.
    ///
    /// # Errors
    /// When the path is outside the workspace, leads through a symlink, belongs to git or is not a file, or
    /// when the content is over the limit.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), WorkspaceError> {
        self.write_with(path, content, None)
    }

    /// The same, with the permission to execute set or removed; `None` leaves it unchanged.
    pub(crate) fn write_with(
        &self,
        path: &str,
        content: &[u8],
        executable: Option<bool>,
    ) -> Result<(), WorkspaceError> {
        let relative = self.relative_for_writing(path)?;
        self.must_fit(path, content.len() as u64)?;
        let (folder, name) = split(&relative);
        let make = |at: &OwnedFd, part: &str| match mkdirat(at, part, Mode::from_raw_mode(0o777)) {
            // Another writer has just created it.
            Err(Errno::EXIST) => Ok(()),
            made => made,
        };
        let folder = self.descend(folder, make).map_err(|error| named(error, path))?;
        let before = self.existing(&folder, &relative, name).map_err(|error| named(error, path))?;
        let replacement = Replacement { content, before, executable };
        replacement.put(&folder, name).map_err(|error| system(path, &error))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// As [`Self::write`], and when it does not exist.
    pub fn remove(&self, path: &str) -> Result<(), WorkspaceError> {
        let relative = self.relative_for_writing(path)?;
        let (folder, name) = split(&relative);
        let folder = self.descend(folder, |_, _| Err(Errno::NOENT)).map_err(|error| named(error, path))?;
        self.existing(&folder, &relative, name)
            .map_err(|error| named(error, path))?
            .ok_or_else(|| WorkspaceError::new(path, Refusal::Missing))?;
        unlinkat(&folder, name, AtFlags::empty()).map_err(|errno| WorkspaceError::system(path, errno))
    }

    /// The permissions of the existing file, if any. Refuses a file that must not be replaced.
    fn existing(
        &self,
        folder: &OwnedFd,
        relative: &str,
        name: &str,
    ) -> Result<Option<RawMode>, WorkspaceError> {
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat.map_err(|errno| WorkspaceError::system(relative, errno))?,
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            return Err(self.link(relative, relative));
        }
        must_be_file(relative, stat.st_mode)?;
        // Replacing a file needs no permission to write it; refuse it if a plain write would be refused.
        accessat(folder, name, Access::WRITE_OK, AtFlags::empty())
            .map_err(|errno| WorkspaceError::system(relative, errno))?;
        Ok(Some(stat.st_mode & PERMISSION_BITS))
    }

    fn must_fit(&self, path: &str, bytes: u64) -> Result<(), WorkspaceError> {
        let limit = self.file_limit;
        if bytes > limit {
            Err(WorkspaceError::new(path, Refusal::TooLarge { bytes, limit }))
        } else {
            Ok(())
        }
    }
}

/// A file that replaces another, or is new.
struct Replacement<'a> {
    content: &'a [u8],
    /// The permissions of the file that it replaces.
    before: Option<RawMode>,
    executable: Option<bool>,
}

impl Replacement<'_> {
    /// Writes a temporary file beside it, then renames it. If a symlink was swapped in meanwhile, the symlink is
    /// replaced, never its target.
    fn put(&self, folder: &OwnedFd, name: &str) -> io::Result<()> {
        let beside = format!(".crosier-{}.tmp", uuid::Uuid::now_v7().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A new file follows the process's umask; a replaced one may be private.
        let mode = Mode::from_raw_mode(if self.before.is_some() { 0o600 } else { 0o666 });
        let file = File::from(openat(folder, &*beside, flags, mode)?);
        let done = self.fill(file).and_then(|()| Ok(renameat(folder, &*beside, folder, name)?));
        if done.is_err() {
            let _ = unlinkat(folder, &*beside, AtFlags::empty());
        }
        done
    }

    fn fill(&self, mut file: File) -> io::Result<()> {
        file.write_all(self.content)?;
        let now = fstat(&file)?.st_mode & PERMISSION_BITS;
        let kept = self.before.unwrap_or(now);
        let wanted = match self.executable {
            // Everyone who can read it can then execute it.
            Some(true) => kept | ((kept & 0o444) >> 2),
            Some(false) => kept & !0o111,
            None => kept,
        };
        if wanted != now {
            fchmod(&file, Mode::from_raw_mode(wanted))?;
        }
        Ok(())
    }
}

fn split(relative: &str) -> (&str, &str) {
    relative.rsplit_once('/').unwrap_or((".", relative))
}

fn must_be_file(path: &str, mode: RawMode) -> Result<(), WorkspaceError> {
    let what = match FileType::from_raw_mode(mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    };
    Err(WorkspaceError::new(path, Refusal::NotAFile { what }))
}

fn system(path: &str, error: &io::Error) -> WorkspaceError {
    WorkspaceError::new(path, Refusal::System { why: error.to_string() })
}

/// Replaces the path in an error by the path as it was given.
fn named(error: WorkspaceError, path: &str) -> WorkspaceError {
    WorkspaceError { path: path.to_owned(), ..error }
}
