//! Lists the existing sessions.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::Transcript;
use crate::agent::MAIN;

/// How many characters of a prompt are shown.
const PROMPT_LIMIT: usize = 60;

/// A session that can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// When it was last used.
    pub time: SystemTime,
    /// The beginning of its first prompt.
    pub prompt: String,
}

/// The sessions in this folder, the latest first, at most this many. Those that cannot be read are left out, because
/// the list is only a help for people.
#[must_use]
pub fn list(sessions: &Path, most: usize) -> Vec<Listed> {
    let entries = fs::read_dir(sessions).into_iter().flatten().flatten();
    let transcript = |id: &str| sessions.join(id).join(format!("{MAIN}.jsonl"));
    let mut found: Vec<(SystemTime, String)> = entries
        .filter_map(|entry| {
            let id = entry.file_name().into_string().ok()?;
            let time = fs::metadata(transcript(&id)).and_then(|meta| meta.modified()).ok()?;
            Some((time, id))
        })
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    let listed = found.into_iter().take(most).map(|(time, id)| {
        let messages = Transcript::read(&transcript(&id)).map(|(messages, _)| messages).unwrap_or_default();
        let words = messages.first().map(|message| message.words()).unwrap_or_default();
        Listed { id, time, prompt: words.chars().take(PROMPT_LIMIT).collect() }
    });
    listed.collect()
}
