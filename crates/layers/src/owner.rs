//! Who can change a file: its owner, its mode, and those of the folders above it.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::group;

/// The longest configuration that is read; the loader refuses longer ones too.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
const ROOT: u32 = 0;

/// Who the hooks run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Person {
    /// The user id.
    pub user: u32,
    /// A group that may be private to this user: if it has no other members, its write permission is harmless.
    pub private_group: Option<u32>,
}

impl Person {
    /// A person with this user id.
    #[must_use]
    pub const fn new(user: u32, private_group: Option<u32>) -> Self {
        Self { user, private_group }
    }
}

/// Who may have write access to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Writers {
    /// Root alone.
    Root,
    /// Root and the person.
    Person(Person),
    /// Anybody: whether the file is trusted is decided elsewhere.
    Anybody,
}

/// Reads a file of the person that nobody else can write to. The folders above it are not checked. `None` when there is
/// no file.
///
/// # Errors
/// Why it is refused.
pub fn read_own(path: &Path, person: Person) -> Result<Option<Vec<u8>>, String> {
    read_in(path, Writers::Person(person), |_| Ok(()))
}

/// Reads a file that nobody else can write to, nor replace. `None` when there is no file.
///
/// # Errors
/// Why it is refused.
pub(crate) fn read(path: &Path, writers: Writers) -> Result<Option<Vec<u8>>, String> {
    read_in(path, writers, |path| {
        if matches!(writers, Writers::Anybody) {
            return Ok(());
        }
        check_folders(path, writers)?;
        match fs::canonicalize(path) {
            Ok(real) if real != path => check_folders(&real, writers),
            _ => Ok(()),
        }
    })
}

fn read_in(
    path: &Path,
    writers: Writers,
    check_place: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<Option<Vec<u8>>, String> {
    // Without NONBLOCK, opening a named pipe would block until somebody writes to it.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A dangling link is a mistake, unlike a missing file.
            let is_link = !matches!(writers, Writers::Anybody) && fs::symlink_metadata(path).is_ok();
            return if is_link { Err("it is a dangling symlink".to_owned()) } else { Ok(None) };
        }
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let meta = file.metadata().map_err(|error| format!("its metadata cannot be read: {error}"))?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    check(&meta, writers)?;
    check_place(path)?;
    let size = usize::try_from(meta.len().min(MAX_BYTES)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size + 1);
    Read::take(&file, MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(Some(bytes))
}

/// Checks every folder above a file: anyone who can write to one can replace the file.
pub(crate) fn check_folders(path: &Path, writers: Writers) -> Result<(), String> {
    for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
        let Ok(meta) = fs::metadata(folder) else { continue };
        // In a folder with the sticky bit only the owner of a file can replace it, and that owner was checked.
        if meta.mode() & 0o1000 != 0 && meta.uid() == ROOT {
            continue;
        }
        check(&meta, writers).map_err(|why| format!("the folder {}: {why}", folder.display()))?;
    }
    Ok(())
}

/// Checks the owner and the mode of a file or folder.
pub(crate) fn check(meta: &Metadata, writers: Writers) -> Result<(), String> {
    let (allowed, person) = match writers {
        Writers::Anybody => return Ok(()),
        Writers::Root => (meta.uid() == ROOT, None),
        Writers::Person(person) => (meta.uid() == ROOT || meta.uid() == person.user, Some(person)),
    };
    let mode = meta.mode() & 0o7777;
    if !allowed {
        return Err(format!("it belongs to user {}", meta.uid()));
    }
    if mode & 0o002 != 0 {
        return Err(format!("everybody can write to it (mode {mode:o})"));
    }
    let own = person.filter(|person| person.private_group == Some(meta.gid()));
    let is_private = |user| group::is_private(meta.gid(), user);
    if mode & 0o020 != 0 && !own.is_some_and(|person| is_private(person.user)) && !is_private(ROOT) {
        return Err(format!("group {} can write to it (mode {mode:o})", meta.gid()));
    }
    Ok(())
}

/// Whether anyone but its owner can write to a folder.
pub(crate) fn is_writable_by_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|meta| {
        let by_group = meta.mode() & 0o020 != 0;
        meta.mode() & 0o002 != 0
            || (by_group
                && !group::is_private(meta.gid(), meta.uid())
                && !group::is_private(meta.gid(), ROOT))
    })
}
