//! Appending: one record at a time, by one process at a time.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::anchor::{Anchors, Head, explained, no_follow};
use super::chain::{END, MARK, RecordHasher};
use super::tail::{self, Last};

/// How long a record waits for other processes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// When a record must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Whenever the system writes it: safe when a process dies.
    #[default]
    Never,
    /// Before the append returns: safe when the power fails.
    Always,
    /// At least this often, as long as records come.
    Every(Duration),
}

/// How a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The size at which a new file is begun.
    pub max_size: u64,
    /// How many old files stay; none: all.
    pub keep: Option<usize>,
    /// When a record must be on the disk.
    pub fsync: Fsync,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_size: 64 << 20, keep: None, fsync: Fsync::Never }
    }
}

/// A log that records are appended to.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    settings: Settings,
    /// Where the key and the end of the log are stored; without it the chain has no key.
    anchors: Option<Anchors>,
    state: Mutex<State>,
}

/// What is known about the files; used only as long as they still match it.
#[derive(Debug, Default)]
struct State {
    lock: Option<File>,
    file: Option<Open>,
    line: String,
    synced: Option<Instant>,
}

#[derive(Debug)]
struct Open {
    file: File,
    hasher: RecordHasher,
    /// The file that stores the end of the log, and its content.
    head: Option<(File, Head)>,
    inode: (u64, u64),
    /// The end of the last record that we know.
    end: u64,
    last: Last,
}

impl Log {
    /// A log in this file, which need not exist yet. Nothing is opened before the first record.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, settings: Settings) -> Self {
        Self { path: path.into(), settings, anchors: None, state: Mutex::default() }
    }

    /// The same log with a key, and with its end stored in another place.
    #[must_use]
    pub fn anchored(self, anchors: Option<Anchors>) -> Self {
        Self { anchors, ..self }
    }

    /// How it is kept.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record: `fields` writes its JSON members, each with a comma before it. Returns its number.
    ///
    /// # Errors
    /// When the file cannot be written, or other processes hold it for too long.
    pub fn append(&self, fields: impl FnOnce(&mut String)) -> io::Result<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let lock = match state.lock.take() {
            Some(lock) => lock,
            None => open(&beside(&self.path, ".lock"))?,
        };
        acquire_lock(&lock)?;
        let result = self.append_locked(state, fields);
        let released = lock.unlock();
        state.lock = released.is_ok().then_some(lock);
        if result.is_err() {
            // Whatever happened, the file is read again next time.
            state.file = None;
        }
        result
    }

    fn append_locked(&self, state: &mut State, fields: impl FnOnce(&mut String)) -> io::Result<u64> {
        let now = fs::symlink_metadata(&self.path)
            .ok()
            .map(|metadata| ((metadata.dev(), metadata.ino()), metadata.len()));
        let known = state.file.take().filter(|open| now == Some((open.inode, open.end)));
        let mut open = match known {
            Some(open) => open,
            None => self.open()?,
        };
        let seq = open.last.seq + 1;
        let line = &mut state.line;
        line.clear();
        if open.last.open {
            line.push('\n');
        }
        let start = line.len();
        let _ = write!(line, "{{\"seq\":{seq}");
        fields(line);
        if open.last.torn > 0 {
            let _ = write!(line, ",\"after_torn\":{}", open.last.torn);
        }
        let _ = write!(line, ",\"prev\":\"{}\"", open.last.hash);
        let hash = open.hasher.hash(&line.as_bytes()[start..]);
        line.push_str(MARK);
        line.push_str(&hash);
        line.push_str(END);
        open.file.write_all(line.as_bytes())?;
        open.end += open.last.torn + u64::try_from(line.len()).unwrap_or(u64::MAX);
        // The log first: a process that dies in between leaves a log that is one record ahead of its head, which
        // is accepted; the other way round, the log would look cut off.
        if let Some((file, head)) = &mut open.head {
            head.seq = seq;
            head.hash.clone_from(&hash);
            head.write(file, &open.hasher)?;
        }
        open.last = Last { seq, hash, torn: 0, open: false };
        self.sync(&open, &mut state.synced)?;
        if open.end >= self.settings.max_size {
            open.file.sync_data()?;
            self.rotate(&mut open)?;
        } else {
            state.file = Some(open);
        }
        Ok(seq)
    }

    fn sync(&self, open: &Open, synced: &mut Option<Instant>) -> io::Result<()> {
        let due = match self.settings.fsync {
            Fsync::Never => false,
            Fsync::Always => true,
            Fsync::Every(time) => synced.is_none_or(|last| last.elapsed() >= time),
        };
        if due {
            open.file.sync_data()?;
            if let Some((file, _)) = &open.head {
                file.sync_data()?;
            }
            *synced = Some(Instant::now());
        }
        Ok(())
    }

    /// Opens the file and finds the end of the chain, in this file or in the last one before it.
    fn open(&self) -> io::Result<Open> {
        let hasher = match &self.anchors {
            Some(anchors) => anchors.hasher_or_new()?,
            None => RecordHasher::Plain,
        };
        let mut file = open(&self.path)?;
        let metadata = file.metadata()?;
        let mut last = match tail::last(&mut file, metadata.len(), &hasher)? {
            Some(last) => last,
            None => {
                let before = numbered(&self.path)?.pop();
                let torn = metadata.len();
                let found = match before {
                    Some((_, path)) => {
                        let mut file = File::open(path)?;
                        let length = file.metadata()?.len();
                        tail::last(&mut file, length, &hasher)?
                    }
                    None => None,
                };
                Last { torn, open: torn > 0, ..found.unwrap_or_else(Last::genesis) }
            }
        };
        let head = match &self.anchors {
            None => None,
            Some(anchors) => {
                let kept = anchors.head(&self.path, &hasher)?;
                let head = kept.unwrap_or(Head { first: 1, seq: 0, hash: String::new() });
                // Records are missing: the chain continues from the record that the head names, so that the
                // gap stays visible, however many records follow.
                if head.seq > last.seq || (head.seq == last.seq && head.seq > 0 && head.hash != last.hash) {
                    last.seq = head.seq;
                    last.hash.clone_from(&head.hash);
                }
                Some((anchors.head_file(&self.path)?, head))
            }
        };
        let end = metadata.len() - last.torn;
        Ok(Open { file, hasher, head, inode: (metadata.dev(), metadata.ino()), end, last })
    }

    /// Begins a new file. The old one gets the next number.
    fn rotate(&self, open: &mut Open) -> io::Result<()> {
        let files = numbered(&self.path)?;
        let next = files.last().map_or(1, |(number, _)| number + 1);
        let renamed = beside(&self.path, &format!(".{next:06}"));
        fs::rename(&self.path, &renamed)?;
        // The file that was just renamed stays: the chain continues from it.
        let Some(keep) = self.settings.keep else { return Ok(()) };
        let extra = (files.len() + 1).saturating_sub(keep.max(1));
        if extra == 0 {
            return Ok(());
        }
        let oldest = files.get(extra).map_or(&renamed, |(_, path)| path);
        if let Some((file, head)) = &mut open.head {
            head.first = tail::first(oldest)?.unwrap_or(head.first);
            head.write(file, &open.hasher)?;
        }
        for (_, path) in files.iter().take(extra) {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// The renamed files of a log, the oldest first.
pub(super) fn numbered(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let other = entry.file_name().to_string_lossy().into_owned();
        let number = other.strip_prefix(&name).and_then(|rest| rest.strip_prefix('.'));
        let number = number.filter(|digits| digits.len() >= 6).and_then(|digits| digits.parse().ok());
        files.extend(number.map(|number| (number, entry.path())));
    }
    files.sort();
    Ok(files)
}

/// The path with this suffix.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(end);
    path.with_file_name(name)
}

fn open(path: &Path) -> io::Result<File> {
    let options = || {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(no_follow());
        let file = options.open(path).map_err(|error| explained(path, error))?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
    };
    match options() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            options()
        }
        other => other,
    }
}

/// Takes the lock, but gives up after a while: a stopped process that holds it must not block this one.
fn acquire_lock(lock: &File) -> io::Result<()> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIMEOUT => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}
