//! The record of what a person trusts in one folder: read, checked, written.
//!
//! One file per folder, in `trust/` of the state folder, named by the first half of the SHA-256 of its path. Its first
//! line is an HMAC over its index, with a key from the same folder, and the index has one over the digests after it: a
//! record that was forged, damaged or copied from another machine is refused, and so is one that names another folder. Stamps only cache digests; without them every
//! file is read again.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::lines;
use super::stamp::{Kind, Stamp, hex};
use crate::state;

/// The most bytes that a record may have.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const KEY: &str = "key";

/// What a person trusts in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The folder, by its real path.
    pub(crate) folder: String,
    /// When it was trusted, in seconds since 1970.
    pub(crate) at: u64,
    /// The newest content.
    pub(crate) files: Vec<RecordedFile>,
    /// The patterns of `trust:`.
    pub(crate) globs: Vec<String>,
    /// The folders that were listed for them, with their stamps: while they have these, there is no new file.
    pub(crate) listed: Vec<(String, Stamp)>,
    /// Older contents that are trusted too.
    pub(crate) older: Vec<Vec<RecordedFile>>,
    /// Their patterns of `trust:`, in the same order.
    pub(crate) older_globs: Vec<Vec<String>>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedFile {
    /// Relative to the folder of the record.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) executable: bool,
    /// In hexadecimal; empty when the file does not exist, and in an [`Index`] when the loader does not read the file.
    pub(crate) sha256: String,
    /// Whether the loader reads it: it must not change between the comparison and the loading.
    pub(crate) loads: bool,
    /// The stamp that the file had when this digest was computed.
    pub(crate) seen: Option<Stamp>,
}

impl RecordedFile {
    /// Whether it is the same content; the stamp is ignored.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.kind, self.executable, &self.sha256)
            == (&other.path, other.kind, other.executable, &other.sha256)
    }
}

impl Record {
    pub(crate) fn new(folder: &str, at: u64, files: Vec<RecordedFile>, globs: Vec<String>) -> Self {
        let (listed, older, older_globs) = (Vec::new(), Vec::new(), Vec::new());
        Self { folder: folder.to_owned(), at, files, globs, listed, older, older_globs }
    }
}

impl Record {
    /// The files of one of its contents; 0 is the newest.
    pub(crate) fn into_content(mut self, content: usize) -> Vec<RecordedFile> {
        match content {
            0 => self.files,
            number => self.older.swap_remove(number - 1),
        }
    }

    /// Forgets the stamp of a virtual environment, which then is compared in full; returns whether there was one.
    pub(crate) fn forget_venv(&mut self, path: &str) -> bool {
        let venv = self.files.iter_mut().find(|file| file.kind == Kind::Venv && file.path == path);
        venv.is_some_and(|venv| venv.seen.take().is_some())
    }

    /// Every content that is trusted, the newest first, with its patterns.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (&Vec<RecordedFile>, &[String])> {
        let globs = |at: usize| self.older_globs.get(at).map(Vec::as_slice).unwrap_or_default();
        let older = self.older.iter().enumerate().map(move |(at, files)| (files, globs(at)));
        std::iter::once((&self.files, self.globs.as_slice())).chain(older)
    }
}

/// Why there is no record to rely on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    Missing,
    Bad(String),
}

/// The records in a state folder.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(crate) fn new(state: &Path) -> Self {
        Self { folder: state.join("trust") }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn path_of(&self, folder: &Path) -> PathBuf {
        let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        self.folder.join(hex(&digest[..16]) + ".json")
    }

    /// Whether there is a record of this folder, valid or not.
    pub(crate) fn has(&self, folder: &Path) -> bool {
        fs::symlink_metadata(self.path_of(folder)).is_ok()
    }

    /// The record of a folder.
    pub(crate) fn read(&self, folder: &Path) -> Result<Record, Unusable> {
        self.read_index(folder)?.complete()
    }

    /// The record of a folder without most of its digests.
    pub(crate) fn read_index(&self, folder: &Path) -> Result<Index, Unusable> {
        let bytes = match read_bounded(&self.path_of(folder)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unusable::Missing),
            Err(error) => return Err(Unusable::Bad(format!("it cannot be read: {error}"))),
        };
        let index = self.checked(bytes)?;
        match Path::new(&index.record.folder) == folder {
            true => Ok(index),
            false => Err(Unusable::Bad("it is the record of another folder".to_owned())),
        }
    }

    fn checked(&self, bytes: Vec<u8>) -> Result<Index, Unusable> {
        let bad = |why: &str| Unusable::Bad(why.to_owned());
        let damaged = || bad("it is damaged, or of another version");
        // The MAC of the index, its length, and after them the index and the digests, each after a line break.
        let begin = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)? + 1;
        let head = bytes.get(..begin - 1).and_then(|head| std::str::from_utf8(head).ok());
        let (index_mac, length) = head.and_then(|head| head.split_once(' ')).ok_or_else(damaged)?;
        let end = begin.checked_add(length.parse().map_err(|_| damaged())?).ok_or_else(damaged)?;
        let index = bytes.get(begin..end).ok_or_else(damaged)?;
        let key = self.key().map_err(|why| Unusable::Bad(format!("its key: {why}")))?;
        if hex(&mac(&key, index)) != index_mac {
            return Err(bad("it was not written by `crosier trust` on this machine"));
        }
        let (record, digests_mac) = lines::read(index).ok_or_else(damaged)?;
        let digests = UncheckedDigests { file: bytes, begin: end + 1, mac: digests_mac, key };
        Ok(Index { record, digests })
    }

    /// Every record that can be read.
    pub(crate) fn all(&self) -> Vec<Record> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"));
        let mut all: Vec<Record> =
            paths.filter_map(|path| self.checked(read_bounded(&path).ok()?).ok()?.complete().ok()).collect();
        all.sort_by(|a, b| a.folder.cmp(&b.folder));
        all
    }

    /// Writes a record, replacing the previous one.
    pub(crate) fn write(&self, record: &Record) -> io::Result<()> {
        let _held = state::lock(&self.folder)?;
        self.make_key()?;
        self.write_held(record)
    }

    fn write_held(&self, record: &Record) -> io::Result<()> {
        let key = self.key().map_err(io::Error::other)?;
        let (index, digests) = lines::write(record, |digests| hex(&mac(&key, digests)))?;
        let head = format!("{} {}\n", hex(&mac(&key, &index)), index.len());
        let bytes = [head.as_bytes(), &index, b"\n", &digests].concat();
        state::write_whole(&self.path_of(Path::new(&record.folder)), &bytes)
    }

    /// Stores the stamps of a record, unless the record has changed. It is only a cache, so errors are ignored.
    pub(crate) fn remember(&self, record: &Record) {
        let Ok(_held) = state::lock(&self.folder) else { return };
        let without = |record: &Record| {
            let mut record = Record { listed: Vec::new(), ..record.clone() };
            record
                .files
                .iter_mut()
                .chain(record.older.iter_mut().flatten())
                .for_each(|file| file.seen = None);
            record
        };
        let is_same = self.read(Path::new(&record.folder)).is_ok_and(|now| without(&now) == without(record));
        if is_same {
            let _ = self.write_held(record);
        }
    }

    /// Removes the record of a folder; returns whether there was one.
    pub(crate) fn remove(&self, folder: &Path) -> io::Result<bool> {
        let _held = state::lock(&self.folder)?;
        match fs::remove_file(self.path_of(folder)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The key, which only its owner can read.
    fn key(&self) -> Result<Vec<u8>, String> {
        let path = self.folder.join(KEY);
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(
                rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits().cast_signed(),
            )
            .open(&path)
            .map_err(|error| format!("it cannot be read: {error}"))?;
        let meta = file.metadata().map_err(|error| error.to_string())?;
        if meta.mode() & 0o077 != 0 {
            return Err(format!("others can read it (mode {:o})", meta.mode() & 0o777));
        }
        let mut key = Vec::with_capacity(33);
        Read::take(&mut file, 33).read_to_end(&mut key).map_err(|error| error.to_string())?;
        if key.len() == 32 { Ok(key) } else { Err("it is damaged".to_owned()) }
    }

    fn make_key(&self) -> io::Result<()> {
        let path = self.folder.join(KEY);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(());
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        state::write_whole(&path, &key)
    }
}

/// A record that was authenticated, without the digests of files that the loader does not read.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) record: Record,
    pub(crate) digests: UncheckedDigests,
}

/// The digests of a record, which are neither authenticated nor read yet.
#[derive(Debug)]
pub(crate) struct UncheckedDigests {
    /// The whole file of the record, which ends with them.
    file: Vec<u8>,
    /// Where they begin in it.
    begin: usize,
    /// Their message authentication code, from the index.
    mac: String,
    key: Vec<u8>,
}

impl Index {
    /// The whole record.
    pub(crate) fn complete(mut self) -> Result<Record, Unusable> {
        match self.digests.add_to(&mut self.record) {
            Some(()) => Ok(self.record),
            None => Err(Unusable::Bad("it is damaged".to_owned())),
        }
    }
}

impl UncheckedDigests {
    /// Sets the digests of their record; `None` when they were changed.
    pub(crate) fn add_to(&self, record: &mut Record) -> Option<()> {
        let digests = self.file.get(self.begin..)?;
        if hex(&mac(&self.key, digests)) != self.mac {
            return None;
        }
        lines::set_digests(record, digests)
    }
}

/// The message authentication code of a text.
fn mac(key: &[u8], body: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    let mut hmac = Hmac::<Sha256>::new(&block.into());
    hmac.update(body);
    hmac.finalize().into_bytes().to_vec()
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let flags = rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MOST_BYTES {
        return Err(io::Error::other("it is not a record"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    Read::take(&file, MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
