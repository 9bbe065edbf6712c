//! Messages that are dropped into a folder as files.
//!
//! Deliveries are recorded as empty files in `.crosier/`: the one process that creates such a file delivers the
//! message, so that no agent gets it twice, however many processes look. Names of agents and messages never become
//! names of files; their hashes do.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::Reader;
use super::message::Message;

/// Larger messages are refused.
const MAX_BYTES: u64 = 1 << 20;
/// An invalid file younger than this may still be being written.
const WRITE_GRACE: Duration = Duration::from_secs(2);
/// When there are more marks than this, old ones are removed.
const MAX_MARKS: usize = 4_096;

/// A folder of messages.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    max_age: Duration,
}

/// What was found in it.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) messages: Vec<Message>,
    pub(super) problems: Vec<String>,
}

struct MessageFile {
    path: PathBuf,
    name: String,
    written: SystemTime,
    message: Message,
    key: String,
}

impl Folder {
    pub(super) fn new(path: PathBuf, max_age: Duration) -> Self {
        Self { path, max_age }
    }

    /// Takes the messages for this reader, ordered by sequence, then by name.
    pub(super) fn take(&self, reader: &Reader<'_>) -> Taken {
        let mut found = Taken::default();
        let mut message_files = self.message_files(reader, &mut found);
        message_files.sort_by(|a, b| {
            let order = |one: &MessageFile| (one.message.sequence.unwrap_or(u64::MAX), one.name.clone());
            order(a).cmp(&order(b))
        });
        for one in message_files {
            if one.message.is_expired(reader.now) || self.is_old(&one, reader.now) {
                self.forget(&one);
                continue;
            }
            if !one.message.is_for(reader) {
                continue;
            }
            match self.claim(reader, &one.key) {
                Ok(true) => {
                    if one.message.only.is_some() {
                        let _ = fs::remove_file(&one.path);
                    }
                    found.messages.push(one.message);
                }
                Ok(false) => {
                    // A duplicate of a message that was already delivered.
                    if one.message.only.is_some() {
                        let _ = fs::remove_file(&one.path);
                    }
                }
                // Not delivered: without the mark it could be delivered twice.
                Err(error) => found.problems.push(format!("`{}` was not delivered: {error}", one.name)),
            }
        }
        found
    }

    /// The files that are messages. Others are moved away and complained about.
    fn message_files(&self, reader: &Reader<'_>, found: &mut Taken) -> Vec<MessageFile> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                found.problems.push(format!("the folder cannot be read: {error}"));
                return Vec::new();
            }
        };
        let mut message_files = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
            if name.starts_with('.') || !matches!(end.as_deref(), Some("json" | "txt" | "md")) {
                continue;
            }
            match read(&path, end.as_deref() == Some("json")) {
                Ok((message, written)) => {
                    let key = message.key().unwrap_or_else(|| format!("file:{name}:{}", message.content));
                    message_files.push(MessageFile { path, name, written, message, key });
                }
                Err(Unread::Gone) => {}
                Err(Unread::Bad { why, written }) => {
                    let fresh = reader.now.duration_since(written).is_ok_and(|age| age < WRITE_GRACE);
                    if !fresh {
                        let moved = self.reject(&path, &name);
                        let where_to = if moved { ", and was moved to .crosier/rejected" } else { "" };
                        found.problems.push(format!("`{name}` was not delivered{where_to}: {why}"));
                    }
                }
            }
        }
        message_files
    }

    fn is_old(&self, one: &MessageFile, now: SystemTime) -> bool {
        one.message.expires.is_none() && now.duration_since(one.written).is_ok_and(|age| age > self.max_age)
    }

    /// Whether this process is the one that delivers the message to the agent.
    fn claim(&self, reader: &Reader<'_>, key: &str) -> io::Result<bool> {
        let folder = self.marks(reader.agent);
        fs::create_dir_all(&folder)?;
        match OpenOptions::new().write(true).create_new(true).open(folder.join(hash(key))) {
            Ok(_) => {
                self.sweep(&folder, reader.now);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn marks(&self, agent: &str) -> PathBuf {
        self.path.join(".crosier").join("delivered").join(hash(agent))
    }

    /// Removes the marks of messages that are too old to appear again.
    fn sweep(&self, folder: &Path, now: SystemTime) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let entries: Vec<_> = entries.flatten().collect();
        if entries.len() < MAX_MARKS {
            return;
        }
        for entry in entries {
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            let old =
                written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| age > self.max_age));
            if old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes an expired message, with its marks.
    fn forget(&self, one: &MessageFile) {
        let _ = fs::remove_file(&one.path);
        let Ok(agents) = fs::read_dir(self.path.join(".crosier").join("delivered")) else { return };
        for agent in agents.flatten() {
            let _ = fs::remove_file(agent.path().join(hash(&one.key)));
        }
    }

    fn reject(&self, path: &Path, name: &str) -> bool {
        let folder = self.path.join(".crosier").join("rejected");
        fs::create_dir_all(&folder).and_then(|()| fs::rename(path, folder.join(name))).is_ok()
    }
}

enum Unread {
    /// Another process took it.
    Gone,
    Bad {
        why: String,
        written: SystemTime,
    },
}

fn read(path: &Path, is_json: bool) -> Result<(Message, SystemTime), Unread> {
    let bad = |why: String, written: SystemTime| Unread::Bad { why, written };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unread::Gone),
        Err(error) => return Err(bad(error.to_string(), SystemTime::UNIX_EPOCH)),
    };
    let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    if !metadata.is_file() {
        return Err(bad("it is not a regular file".to_owned(), written));
    }
    if metadata.len() > MAX_BYTES {
        return Err(bad(format!("it has {} bytes, and the limit is {MAX_BYTES}", metadata.len()), written));
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match opened {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unread::Gone),
        Err(error) => return Err(bad(error.to_string(), written)),
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8".to_owned(), written))?;
    let message = match is_json {
        true => Message::read(&text, written).map_err(|why| bad(why, written))?,
        false if text.trim().is_empty() => return Err(bad("it is empty".to_owned(), written)),
        false => Message::new(text.trim_end()),
    };
    Ok((message, written))
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
