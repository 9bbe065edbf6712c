//! A session on disk: its id, its folder, its transcript.
//!
//! Records are written to a JSONL file *before* the hook that may read them runs, so
//! that the file at `transcript_path` is up to date. A session can be read back and resumed.

mod list;
mod repair;
mod transcript;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub use list::{Listed, list};
pub use transcript::{Record, Transcript};

use crate::agent::MAIN;
use crate::conversation::Message;

/// One session.
#[derive(Debug)]
pub struct Session {
    id: String,
    folder: PathBuf,
}

/// A resumed session.
#[derive(Debug)]
pub struct Resumed {
    /// The session.
    pub session: Session,
    /// The conversation so far. Every call has its result.
    pub messages: Vec<Message>,
    /// How many lines of the transcript are not records and were left out.
    pub unreadable: usize,
}

/// Why a session cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// An id that could lead outside the folder of sessions.
    #[error("`{0}` is not the id of a session: letters, digits, `-` and `_` only")]
    BadId(String),
    /// There is no such session.
    #[error("there is no session `{id}` in {}", .folder.display())]
    Unknown {
        /// The id.
        id: String,
        /// Where sessions are.
        folder: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
}

impl Session {
    /// Begins a session in this folder of sessions.
    ///
    /// # Errors
    /// When its folder cannot be created.
    pub fn begin(sessions: &Path) -> Result<Self, SessionError> {
        let id = uuid::Uuid::now_v7().to_string();
        let folder = sessions.join(&id);
        // A conversation is private, so only its owner may read it.
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|error| SessionError::Io { path: folder.clone(), error })?;
        Ok(Self { id, folder })
    }

    /// Opens an existing session, with its conversation.
    ///
    /// # Errors
    /// When there is no such session, or its transcript cannot be read.
    pub fn resume(sessions: &Path, id: &str) -> Result<Resumed, SessionError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || !id.chars().all(plain) {
            return Err(SessionError::BadId(id.to_owned()));
        }
        let folder = sessions.join(id);
        if !folder.is_dir() {
            return Err(SessionError::Unknown { id: id.to_owned(), folder: sessions.to_owned() });
        }
        let session = Self { id: id.to_owned(), folder };
        let (messages, unreadable) = Transcript::read(&session.transcript_path(MAIN))?;
        Ok(Resumed { session, messages: repair::repair(messages), unreadable })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The content of its transcripts, by agent: the main agent's first, the others by name.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn transcripts(&self) -> Result<Vec<(String, String)>, SessionError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| SessionError::Io { path, error }
        };
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed(&self.folder))? {
            let path = entry.map_err(failed(&self.folder))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".jsonl")) else {
                continue;
            };
            all.push((name.to_owned(), std::fs::read_to_string(&path).map_err(failed(&path))?));
        }
        all.sort_unstable_by(|(a, _), (b, _)| (a != "main", a).cmp(&(b != "main", b)));
        Ok(all)
    }

    /// The transcript of one of its agents.
    #[must_use]
    pub fn transcript_path(&self, agent_id: &str) -> PathBuf {
        // Agent ids must not be used as file names unchanged.
        let safe: String =
            agent_id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        self.folder.join(format!("{safe}.jsonl"))
    }
}
