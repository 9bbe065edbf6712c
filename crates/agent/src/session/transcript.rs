//! One agent's transcript: a line of JSON per record.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::SessionError;
use crate::conversation::Message;

/// A record of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", try_from = "FlatRecord")]
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
    /// The newest messages were replaced by a hook.
    Replaced {
        /// How many of the newest messages are removed.
        count: usize,
        /// Their replacement.
        messages: Vec<Message>,
    },
    /// A note for readers: a denial, a rewrite, a phase, the end.
    Note {
        /// The kind of note.
        what: String,
        /// Its text.
        text: String,
    },
}

/// A record as it is deserialized: serde would buffer a tagged enum; see `FlatBlock`.
#[derive(Deserialize)]
struct FlatRecord {
    record: String,
    message: Option<Message>,
    why: Option<String>,
    count: Option<usize>,
    messages: Option<Vec<Message>>,
    what: Option<String>,
    text: Option<String>,
}

impl TryFrom<FlatRecord> for Record {
    type Error = String;

    fn try_from(flat: FlatRecord) -> Result<Self, String> {
        let kind = flat.record;
        let lacks = |field: &str| format!("a record `{kind}` lacks `{field}`");
        match kind.as_str() {
            "message" => Ok(Self::Message { message: flat.message.ok_or_else(|| lacks("message"))? }),
            "cleared" => Ok(Self::Cleared { why: flat.why.ok_or_else(|| lacks("why"))? }),
            "replaced" => Ok(Self::Replaced {
                count: flat.count.ok_or_else(|| lacks("count"))?,
                messages: flat.messages.ok_or_else(|| lacks("messages"))?,
            }),
            "note" => Ok(Self::Note {
                what: flat.what.ok_or_else(|| lacks("what"))?,
                text: flat.text.ok_or_else(|| lacks("text"))?,
            }),
            other => Err(format!("there is no record of the kind `{other}`")),
        }
    }
}

/// Appends records to a file; other processes can read each one when `push` returns.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: Mutex<File>,
}

impl Transcript {
    /// Opens a transcript to append to it. Only its owner can read it.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: PathBuf) -> Result<Self, SessionError> {
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
            let mut last = [b'\n'];
            let length = file.metadata()?.len();
            if length > 0 {
                file.read_exact_at(&mut last, length - 1)?;
            }
            if last != *b"\n" {
                // A line that was cut off must not be joined with the next one.
                file.write_all(b"\n")?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| SessionError::Io { path: path.clone(), error })?;
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
    /// When it cannot be written, for example because the disk is full.
    pub fn push(&self, record: &Record) -> Result<(), SessionError> {
        let write = || -> std::io::Result<()> {
            let mut line = serde_json::to_string(record)?;
            line.push('\n');
            // One write per record, so that two agents that share a file do not mix their lines.
            self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
        };
        write().map_err(|error| SessionError::Io { path: self.path.clone(), error })
    }

    /// The conversation in a transcript, and how many of its lines are not records: a line can be cut
    /// off when the machine stops.
    pub(super) fn read(path: &Path) -> Result<(Vec<Message>, usize), SessionError> {
        let failed = |error| SessionError::Io { path: path.to_owned(), error };
        let (mut messages, mut unreadable) = (Vec::new(), 0);
        for line in BufReader::new(File::open(path).map_err(failed)?).split(b'\n') {
            match serde_json::from_slice(&line.map_err(failed)?) {
                Ok(Record::Message { message }) => messages.push(message),
                Ok(Record::Cleared { .. }) => messages.clear(),
                Ok(Record::Replaced { count, messages: new }) => {
                    messages.truncate(messages.len().saturating_sub(count));
                    messages.extend(new);
                }
                Ok(Record::Note { .. }) => {}
                Err(_) => unreadable += 1,
            }
        }
        Ok((messages, unreadable))
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
        transcript.push(&Record::Message { message: Message::user("my key is 1234") }).unwrap();
        let hidden = vec![Message::user("new")];
        transcript.push(&Record::Replaced { count: 1, messages: hidden }).unwrap();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"record\":\"mess\xc3")
            .unwrap();
        assert_eq!(Transcript::read(&path).unwrap(), (vec![Message::user("new")], 1));
        // What was written after the cut-off line is not lost.
        let transcript = Transcript::open(path.clone()).unwrap();
        transcript.push(&Record::Message { message: Message::user("next") }).unwrap();
        let both = vec![Message::user("new"), Message::user("next")];
        assert_eq!(Transcript::read(&path).unwrap(), (both, 1));
    }
}
