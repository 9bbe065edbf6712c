//! One agent's transcript: a line of JSON per record.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::SessionError;
use crate::conversation::Message;

/// What a transcript holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A message of the conversation.
    Message {
        /// The message.
        message: Message,
    },
    /// The conversation so far was cleared, or replaced by a summary.
    Cleared {
        /// Why: `clear` or `compact`.
        why: String,
    },
    /// Something for readers: a denial, a rewrite, a phase, the end.
    Note {
        /// What kind of thing.
        what: String,
        /// In words.
        text: String,
    },
}

/// Appends records to a file; each is on disk, as far as other processes can see, when `push` is back.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: Mutex<File>,
}

impl Transcript {
    /// Opens a transcript, behind what is in it already. Only its owner can read it.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: PathBuf) -> Result<Self, SessionError> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let file = file.map_err(|error| SessionError::Io { path: path.clone(), error })?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When it cannot be written: a full disk.
    pub fn push(&self, record: &Record) -> Result<(), SessionError> {
        let write = || -> std::io::Result<()> {
            let mut line = serde_json::to_string(record)?;
            line.push('\n');
            // One write per record: two agents of one file would not cut into each other's lines.
            self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
        };
        write().map_err(|error| SessionError::Io { path: self.path.clone(), error })
    }

    /// The conversation that a transcript leads to. A last line that was cut off is left out.
    pub(super) fn read(path: &Path) -> Result<Vec<Message>, SessionError> {
        let failed = |error| SessionError::Io { path: path.to_owned(), error };
        let mut messages = Vec::new();
        for line in BufReader::new(File::open(path).map_err(failed)?).lines() {
            match serde_json::from_str(&line.map_err(failed)?) {
                Ok(Record::Message { message }) => messages.push(message),
                Ok(Record::Cleared { .. }) => messages.clear(),
                Ok(Record::Note { .. }) | Err(_) => {}
            }
        }
        Ok(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_read_back_also_after_a_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.jsonl");
        let transcript = Transcript::open(path.clone()).unwrap();
        transcript.push(&Record::Message { message: Message::user("old") }).unwrap();
        transcript.push(&Record::Cleared { why: "clear".into() }).unwrap();
        transcript.push(&Record::Message { message: Message::user("new") }).unwrap();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"record\":\"mess")
            .unwrap();
        assert_eq!(Transcript::read(&path).unwrap(), [Message::user("new")]);
    }
}
