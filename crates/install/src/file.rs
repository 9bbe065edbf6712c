//! Reads files of agents, and writes them atomically.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The largest file that is edited.
const MAX: u64 = 16 * 1024 * 1024;

/// The current content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

/// Reads a file; `None` when it does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<Content>> {
    // Without NONBLOCK, opening a named pipe would block until somebody writes to it.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if meta.len() > MAX {
        return Err(io::Error::other("it is too large for a configuration"));
    }
    let mut bytes = Vec::new();
    file.take(MAX).read_to_end(&mut bytes)?;
    Ok(Some(Content { bytes, mode: meta.permissions().mode() & 0o7777 }))
}

/// The path with links resolved, including a link to a file that does not exist yet.
pub(crate) fn target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..40 {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(link);
    }
    path
}

/// The metadata of a file that may be replaced; `None` when there is no file. A file that its owner made read-only is
/// not replaced.
pub(crate) fn replaceable(path: &Path) -> io::Result<Option<fs::Metadata>> {
    let path = target(path);
    let meta = match fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Root can write to it anyway, so the mode is checked too.
    if meta.permissions().readonly() || rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_err() {
        let why = "it is read-only; `chmod u+w` makes it writable";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(Some(meta))
}

/// Writes these bytes to a file atomically. If it is a link, its target is written; mode and owner stay the same.
pub(crate) fn write(path: &Path, bytes: &[u8], new_mode: u32) -> io::Result<()> {
    let old = replaceable(path)?;
    let path = target(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.crosier", std::process::id()));
    let written =
        write_beside(&beside, bytes, old.as_ref(), new_mode).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_beside(beside: &Path, bytes: &[u8], old: Option<&fs::Metadata>, new_mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(beside)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        let new = file.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
    }
    let mode = old.map_or(new_mode, |old| old.permissions().mode() & 0o7777);
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Folders above a path that do not exist, the outermost first.
pub(crate) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let target = target(path);
    let mut missing: Vec<PathBuf> =
        target.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.retain(|folder| !folder.as_os_str().is_empty());
    missing.reverse();
    missing
}

/// Splits off a byte order mark.
pub(crate) fn split_byte_order_mark(text: &str) -> (&'static str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

/// The SHA-256 of bytes, in hex.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
