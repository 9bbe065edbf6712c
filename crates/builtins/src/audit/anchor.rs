//! What must be stored outside a log: the key of its hashes, and where it ends.
//!
//! Both live in a folder of the host, apart from the logs: `key` (32 random bytes, made with the first record) and one
//! file per log, `NAME.head`, with the number and the hash of its last record and the number of its first one. Someone
//! who cannot write there can neither add a record that verifies nor remove records from the end unnoticed.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::chain::{LENGTH, RecordHasher, hex};

const KEY_BYTES: usize = 32;
/// A head always has this many bytes, so that one write replaces the previous one completely.
const HEAD_BYTES: usize = 2 * (20 + 1) + 2 * (LENGTH + 1);

/// The folder with the key and the heads of logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchors {
    folder: PathBuf,
}

/// The end of a log when its last record was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// The number of the oldest record that still exists.
    pub(super) first: u64,
    /// The number of the last record.
    pub(super) seq: u64,
    /// The hash of the last record.
    pub(super) hash: String,
}

impl Anchors {
    /// The key and heads in `audit` of this folder, which need not exist yet.
    #[must_use]
    pub fn in_state_folder(state: &Path) -> Self {
        Self { folder: state.join("audit") }
    }

    fn key_path(&self) -> PathBuf {
        self.folder.join("key")
    }

    /// The key; none when no record was ever written with one.
    pub(super) fn hasher(&self) -> io::Result<Option<RecordHasher>> {
        let path = self.key_path();
        let file = match open_own(&path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut key = [0; KEY_BYTES];
        if file.metadata()?.len() != key.len() as u64 {
            return Err(refused(&path, "it is not a key of 32 bytes"));
        }
        file.read_exact_at(&mut key, 0)?;
        Ok(Some(RecordHasher::keyed(&key)))
    }

    /// The key; created if there is none.
    pub(super) fn hasher_or_new(&self) -> io::Result<RecordHasher> {
        if let Some(hasher) = self.hasher()? {
            return Ok(hasher);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        // Hard-linking a finished file is atomic: two processes that start at once get the same, complete key.
        let draft = self.folder.join(format!("key.{}", hex(&Sha256::digest(key))));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let linked = file.write_all(&key).and_then(|()| fs::hard_link(&draft, self.key_path()));
        fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.hasher()?.ok_or_else(|| refused(&self.key_path(), "it is gone again")),
        }
    }

    /// The file with the head of a log.
    fn head_path(&self, log: &Path) -> io::Result<PathBuf> {
        let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let full = folder.canonicalize()?.join(log.file_name().unwrap_or_default());
        let name = hex(&Sha256::digest(full.as_os_str().as_encoded_bytes()));
        Ok(self.folder.join(format!("{}.head", &name[..32])))
    }

    /// The stored head of a log.
    pub(super) fn head(&self, log: &Path, hasher: &RecordHasher) -> io::Result<Option<Head>> {
        let path = self.head_path(log)?;
        match open_own(&path, OpenOptions::new().read(true)) {
            Ok(file) => Head::read(&file, &path, hasher).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file that the head of a log is written to.
    pub(super) fn head_file(&self, log: &Path) -> io::Result<File> {
        let path = self.head_path(log)?;
        open_own(&path, OpenOptions::new().read(true).write(true).create(true).mode(0o600))
    }
}

impl Head {
    fn read(file: &File, path: &Path, hasher: &RecordHasher) -> io::Result<Self> {
        let bad = || refused(path, "it is not the head of a log, or was changed");
        let mut bytes = [0; HEAD_BYTES];
        file.read_exact_at(&mut bytes, 0).map_err(|_| bad())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| bad())?;
        let (body, own) = text.split_at(HEAD_BYTES - LENGTH - 1);
        if hasher.hash(body.as_bytes()) != own.trim_end() {
            return Err(bad());
        }
        let mut words = body.split_whitespace();
        let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or_else(bad);
        let (first, seq) = (number()?, number()?);
        let hash = words.next().ok_or_else(bad)?.to_owned();
        Ok(Self { first, seq, hash })
    }

    pub(super) fn write(&self, file: &File, hasher: &RecordHasher) -> io::Result<()> {
        let mut text = String::with_capacity(HEAD_BYTES);
        let _ = write!(text, "{:020} {:020} {} ", self.first, self.seq, self.hash);
        let own = hasher.hash(text.as_bytes());
        let _ = writeln!(text, "{own}");
        file.write_all_at(text.as_bytes(), 0)
    }
}

/// Opens one of Crosier's own files; it must not be a link, and only its owner may have access.
fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(no_follow()).open(path).map_err(|error| explained(path, error))?;
    let metadata = file.metadata()?;
    if metadata.mode() & 0o077 != 0 {
        return Err(refused(path, "others can read or write it; prevent that with `chmod 600`"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused(path, "it belongs to another user"));
    }
    Ok(file)
}

/// The flags with which a file is opened only when it is not a link.
pub(super) fn no_follow() -> i32 {
    (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed()
}

/// Explains the error when the file is a link.
pub(super) fn explained(path: &Path, error: io::Error) -> io::Error {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if is_link { refused(path, "it is a symbolic link, and those are not followed") } else { error }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()))
}
