//! The identity of a file: its stamp, a cheap check for changes, and its digest.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, open, statat};
use sha2::{Digest, Sha256};

/// The largest file that is recorded.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Changes within this time can get the same time stamp: a kernel tick, with a margin.
const TICK: Duration = Duration::from_millis(50);
/// The same for file systems whose time stamps are in whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// Metadata that changes when a file does. It includes the ctime, which only the system sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64, u64, u64, i64, i64, i64, i64);

impl Stamp {
    /// How many numbers it is made of.
    pub(crate) const NUMBERS: usize = 7;

    pub(crate) fn numbers(&self) -> [i64; Self::NUMBERS] {
        let Self(device, inode, size, mtime, mtime_ns, ctime, ctime_ns) = *self;
        [device.cast_signed(), inode.cast_signed(), size.cast_signed(), mtime, mtime_ns, ctime, ctime_ns]
    }

    pub(crate) fn from_numbers(numbers: [i64; Self::NUMBERS]) -> Self {
        let [device, inode, size, mtime, mtime_ns, ctime, ctime_ns] = numbers;
        let unsigned = (device.cast_unsigned(), inode.cast_unsigned(), size.cast_unsigned());
        Self(unsigned.0, unsigned.1, unsigned.2, mtime, mtime_ns, ctime, ctime_ns)
    }

    pub(crate) fn of(meta: &Metadata) -> Self {
        let (mtime, ctime) = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        Self(meta.dev(), meta.ino(), meta.size(), mtime.0, mtime.1, ctime.0, ctime.1)
    }

    #[expect(clippy::unnecessary_cast, reason = "the types of these fields differ between systems")]
    fn of_stat(stat: &Stat) -> Self {
        let (mtime, ctime) =
            ((stat.st_mtime, stat.st_mtime_nsec as i64), (stat.st_ctime, stat.st_ctime_nsec as i64));
        Self(stat.st_dev as u64, stat.st_ino as u64, stat.st_size as u64, mtime.0, mtime.1, ctime.0, ctime.1)
    }

    /// Whether the file is older than the resolution of its time stamps, so that other content would have another
    /// stamp.
    pub(crate) fn is_settled(&self) -> bool {
        let tick = if self.4 == 0 && self.6 == 0 { COARSE_TICK } else { TICK };
        let latest = (self.3, self.4).max((self.5, self.6));
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(latest.0), u32::try_from(latest.1)) else {
            return false;
        };
        let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
        SystemTime::now().duration_since(changed).is_ok_and(|age| age > tick)
    }
}

/// What a recorded path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file.
    File,
    /// A link, recorded by the content of its target.
    Link,
    /// A Python virtual environment, as one unit.
    Venv,
    /// Nothing: a file that does not exist, and that a hook would run if it did.
    Absent,
}

/// The current state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileInfo {
    pub(crate) kind: Kind,
    pub(crate) executable: bool,
    pub(crate) stamp: Stamp,
}

/// Looks up a path; `None` when it does not exist.
///
/// # Errors
/// When its metadata cannot be read, or it is not a file.
pub(crate) fn find(path: &Path) -> Result<Option<FileInfo>, String> {
    look_up(CWD, path)
}

/// Looks up paths below a folder. Files of one folder follow each other in a record, so the folder of the last one stays
/// open: looking up a name takes half as long as looking up a path.
#[derive(Debug)]
pub(crate) struct Finder<'a> {
    folder: &'a Path,
    /// The part of the last path before its name, and the folder there.
    open: Option<(&'a str, OwnedFd)>,
}

impl<'a> Finder<'a> {
    pub(crate) const fn new(folder: &'a Path) -> Self {
        Self { folder, open: None }
    }

    /// Like [`find`], for a path relative to the folder.
    pub(crate) fn find(&mut self, path: &'a str) -> Result<Option<FileInfo>, String> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.open.as_ref().is_none_or(|(last, _)| *last != above) {
            let flags = LOOK.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
            self.open = open(self.folder.join(above), flags, Mode::empty()).ok().map(|open| (above, open));
        }
        match &self.open {
            Some((_, open)) if !name.is_empty() => look_up(open.as_fd(), Path::new(name)),
            _ => find(&self.folder.join(path)),
        }
    }
}

/// Opens a folder only to look up names in it, if the system supports that.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY;

fn look_up(folder: BorrowedFd<'_>, path: &Path) -> Result<Option<FileInfo>, String> {
    let is_link = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
    let looked = statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).and_then(|stat| match is_link(&stat) {
        true => statat(folder, path, AtFlags::empty()).map(|stat| (Kind::Link, stat)),
        false => Ok((Kind::File, stat)),
    });
    match looked {
        Ok((kind, stat)) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            let executable = stat.st_mode & 0o111 != 0;
            Ok(Some(FileInfo { kind, executable, stamp: Stamp::of_stat(&stat) }))
        }
        Ok(_) => Err("it is not a file".to_owned()),
        Err(error) if is_missing(&error.into()) => Ok(None),
        Err(error) => Err(unreadable(&error.into())),
    }
}

/// The stamp of a folder, which changes when a file is added to it, removed or renamed.
pub(crate) fn of_folder(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().filter(Metadata::is_dir).map(|meta| Stamp::of(&meta))
}

fn unreadable(error: &io::Error) -> String {
    format!("its metadata cannot be read: {error}")
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The stamp, the digest and the content of a file, from one read.
///
/// # Errors
/// When it cannot be read, is not a file, is too large, or changed while it was read.
pub(crate) fn read(path: &Path) -> Result<(Stamp, String, Vec<u8>), String> {
    // Without NONBLOCK, opening a named pipe would block until somebody writes to it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut file: File = opened.map_err(|error| format!("it cannot be read: {error}"))?;
    let look = |file: &File| file.metadata().map_err(|error| unreadable(&error));
    let meta = look(&file)?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    if meta.len() > MOST_BYTES {
        return Err("it is larger than 256 MiB".to_owned());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    let limit = MOST_BYTES + 1;
    Read::take(&mut file, limit)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    let stamp = Stamp::of(&meta);
    if Stamp::of(&look(&file)?) != stamp || bytes.len() as u64 != meta.len() {
        return Err("it changed while it was read".to_owned());
    }
    let digest = digest(&bytes);
    Ok((stamp, digest, bytes))
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// A digest from its hexadecimal form.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// A stamp of a virtual environment: of its folder, `pyvenv.cfg`, and the folders that installers write to. It changes
/// when the environment is replaced, and when something is added to, removed from or renamed in these folders; not when a
/// file within a package changes.
pub(crate) fn of_venv(folder: &Path) -> Option<Stamp> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let mut paths = below(folder);
    for libraries in ["lib", "lib64"] {
        let versions = below(&folder.join(libraries));
        paths.extend(versions.iter().map(|version| version.join("site-packages")));
        paths.extend(versions);
    }
    paths.sort_unstable();
    let mut all = Sha256::new();
    let own = of_folder(folder)?;
    let mut latest = [own.3, own.4].max([own.5, own.6]);
    for (path, stamp) in std::iter::once((folder, Some(own))).chain(paths.iter().map(|path| {
        let is_settings = path.file_name().is_some_and(|name| name == "pyvenv.cfg");
        let file = || fs::metadata(path).ok().map(|meta| Stamp::of(&meta));
        (path.as_path(), if is_settings { file() } else { of_folder(path) })
    })) {
        all.update(path.as_os_str().as_encoded_bytes());
        let Some(stamp) = stamp else { continue };
        stamp.numbers().iter().for_each(|number| all.update(number.to_le_bytes()));
        latest = latest.max([stamp.3, stamp.4]).max([stamp.5, stamp.6]);
    }
    let digest = all.finalize();
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(digest.iter().skip(8 * at)).for_each(|(place, byte)| *place = *byte);
        u64::from_le_bytes(bytes)
    };
    // The time of the latest change, so that it counts as settled when all folders are.
    Some(Stamp(number(0), number(1), number(2), latest[0], latest[1], latest[0], latest[1]))
}

/// The most files that a virtual environment may have.
const MOST_FILES: usize = 200_000;

/// A digest over the list of files of a virtual environment, with sizes and times. `__pycache__` is left
/// out: Python workers never load it.
///
/// # Errors
/// When it cannot be listed.
pub(crate) fn digest_of_venv(folder: &Path) -> Result<String, String> {
    let mut lines: Vec<String> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).map_err(|error| format!("it cannot be listed: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("it cannot be listed: {error}"))?;
            let meta = entry.metadata().map_err(|error| format!("its metadata cannot be read: {error}"))?;
            if meta.is_dir() {
                if entry.file_name() != "__pycache__" {
                    folders.push(entry.path());
                }
                continue;
            }
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            let link = if meta.is_symlink() { fs::read_link(&path).ok() } else { None };
            let link = link.map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
            let (size, mode) = (meta.size(), meta.mode());
            lines.push(format!("{name}\0{size}\0{mode:o}\0{}.{}\0{link}\n", meta.mtime(), meta.mtime_nsec()));
            if lines.len() > MOST_FILES {
                return Err(format!("it has more than {MOST_FILES} files"));
            }
        }
    }
    lines.sort_unstable();
    Ok(digest(lines.concat().as_bytes()))
}
