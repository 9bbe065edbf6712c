//! One version of a file in a listing, and how it is encoded in a commit message.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The full id of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommitId(String);

impl CommitId {
    /// Reads the id that git prints.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self(text.to_owned()))
    }

    /// All its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its first digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a version was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// It existed before the agent wrote.
    Kept,
    /// The agent wrote it.
    Written,
    /// It was restored.
    Restored,
    /// The file was removed.
    Removed,
}

impl EntryKind {
    const WORDS: [(&'static str, Self); 4] = [
        ("kept", Self::Kept),
        ("written", Self::Written),
        ("restored", Self::Restored),
        ("removed", Self::Removed),
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("written", |(word, _)| word)
    }

    fn read(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

/// One version of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The commit that contains it.
    pub commit: CommitId,
    /// When it was made.
    pub time: SystemTime,
    /// The file, relative to the workspace.
    pub path: String,
    /// Why it was added.
    pub kind: EntryKind,
    /// The host's message.
    pub message: String,
}

const PATH_LINE: &str = "Crosier-Path: ";
const KIND_LINE: &str = "Crosier-Kind: ";
/// A message is cut after this many bytes.
const MESSAGE_LIMIT: usize = 8 * 1024;
/// Separates the fields of a listed commit.
const FIELD: char = '\u{1f}';
/// The format in which git prints a commit.
pub(super) const FORMAT: &str = "--format=%H%x1f%ct%x1f%B";

/// The whole message of a commit: the host's text, then two lines added by Crosier.
pub(super) fn compose(message: &str, path: &str, kind: EntryKind) -> String {
    let said: String = message.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let end = said.char_indices().map(|(at, _)| at).find(|&at| at >= MESSAGE_LIMIT).unwrap_or(said.len());
    let said = said[..end].trim();
    let said = if said.is_empty() { kind.word() } else { said };
    let path = serde_json::Value::from(path);
    format!("{said}\n\n{PATH_LINE}{path}\n{KIND_LINE}{}\n", kind.word())
}

/// Reads one commit as git prints it; `None` when Crosier did not make it.
pub(super) fn read(printed: &str) -> Option<Entry> {
    let mut fields = printed.splitn(3, FIELD);
    let commit = CommitId::read(fields.next()?)?;
    let seconds = fields.next()?.parse().ok()?;
    let body = fields.next()?.trim_end();
    let (rest, kind) = body.rsplit_once('\n')?;
    let (message, path) = rest.rsplit_once('\n')?;
    Some(Entry {
        commit,
        time: UNIX_EPOCH + Duration::from_secs(seconds),
        path: serde_json::from_str(path.strip_prefix(PATH_LINE)?).ok()?,
        kind: EntryKind::read(kind.strip_prefix(KIND_LINE)?)?,
        message: message.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_back_whatever_it_holds() {
        let id = "a".repeat(40);
        for (message, path) in [
            ("one line", "a.rs"),
            ("two\n\nparts", "with \"quotes\" and\nlines"),
            ("fake\nCrosier-Path: \"x\"\nCrosier-Kind: kept", "\u{e4}"),
            ("control \u{1f}\u{0}\u{7}", "a"),
        ] {
            let body = compose(message, path, EntryKind::Written);
            let entry = read(&format!("{id}{FIELD}1700000000{FIELD}{body}\n")).unwrap();
            let plain: String = message.chars().filter(|&c| !c.is_control() || c == '\n').collect();
            assert_eq!((entry.message.as_str(), entry.path.as_str()), (plain.trim(), path));
            assert_eq!(entry.kind, EntryKind::Written);
        }
        assert!(compose("", "a", EntryKind::Kept).starts_with("kept\n\n"));
        assert!(compose(&"\u{e4}".repeat(9999), "a", EntryKind::Kept).len() < 9000);
    }

    #[test]
    fn what_is_not_ours_is_not_read() {
        assert_eq!(read("x\u{1f}1\u{1f}y"), None);
        assert_eq!(read(&format!("{}\u{1f}1\u{1f}plain message\n", "a".repeat(40))), None);
        assert_eq!(CommitId::read("abc"), None);
        assert_eq!(CommitId::read(&"g".repeat(40)), None);
    }
}
