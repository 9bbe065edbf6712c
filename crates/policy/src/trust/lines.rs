//! The text of a record: a line of JSON, then a line for every file.
//!
//! A record can have hundreds of files, and every event reads it. A line with its fields in a fixed order is read in a
//! fraction of the time that a JSON object takes.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::record::{Record, RecordedFile};
use super::stamp::{Kind, Stamp};

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    folder: String,
    at: u64,
    /// The newest content first.
    contents: Vec<Content>,
    /// How many lines follow those of the files, one for every folder that was listed.
    #[serde(default)]
    listed: usize,
}

#[derive(Serialize, Deserialize)]
struct Content {
    /// How many of the following lines belong to it.
    files: usize,
    /// The patterns of `trust:`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    globs: Vec<String>,
}

/// The version of this format.
const VERSION: u32 = 2;

pub(super) fn write(record: &Record) -> serde_json::Result<Vec<u8>> {
    let content = |(files, globs): (&Vec<RecordedFile>, &[String])| Content {
        files: files.len(),
        globs: globs.to_vec(),
    };
    let header = Header {
        version: VERSION,
        folder: record.folder.clone(),
        at: record.at,
        contents: record.contents().map(content).collect(),
        listed: record.listed.len(),
    };
    let mut text = serde_json::to_string(&header)?;
    for file in record.contents().flat_map(|(files, _)| files) {
        let flag = |is_set: bool, letter: char| if is_set { letter } else { '-' };
        let (executable, loads) = (flag(file.executable, 'x'), flag(file.loads, 'l'));
        let digest = if file.sha256.is_empty() { "-" } else { &file.sha256 };
        let _ = write!(text, "\n{}{executable}{loads} {digest} ", letter(file.kind));
        push_seen(&mut text, file.seen.as_ref(), &file.path)?;
    }
    for (path, stamp) in &record.listed {
        text.push('\n');
        push_seen(&mut text, Some(stamp), path)?;
    }
    Ok(text.into_bytes())
}

fn push_seen(text: &mut String, stamp: Option<&Stamp>, path: &str) -> serde_json::Result<()> {
    match stamp {
        Some(stamp) => stamp.numbers().iter().for_each(|number| {
            let _ = write!(text, "{number} ");
        }),
        None => text.push_str("- "),
    }
    text.push_str(&serde_json::to_string(path)?);
    Ok(())
}

/// Reads a record; `None` when it is damaged, or has another version.
pub(super) fn read(bytes: &[u8]) -> Option<Record> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split('\n');
    let header: Header = serde_json::from_str(lines.next()?).ok()?;
    let mut record = Record::new(&header.folder, header.at, Vec::new(), Vec::new());
    for (at, content) in header.contents.into_iter().enumerate() {
        // Not more room than there can be lines, whatever the number says.
        let mut files = Vec::with_capacity(content.files.min(text.len()));
        for _ in 0..content.files {
            files.push(read_file(lines.next()?)?);
        }
        match at {
            0 => (record.files, record.globs) = (files, content.globs),
            _ => {
                record.also.push(files);
                record.also_globs.push(content.globs);
            }
        }
    }
    for _ in 0..header.listed {
        let (stamp, path) = Fields(lines.next()?).seen()?;
        record.listed.push((path, stamp?));
    }
    (header.version == VERSION && lines.next().is_none()).then_some(record)
}

fn read_file(line: &str) -> Option<RecordedFile> {
    let mut fields = Fields(line);
    let &[kind, executable, loads] = fields.word()?.as_bytes() else { return None };
    let digest = fields.word()?;
    let (seen, path) = fields.seen()?;
    Some(RecordedFile {
        path,
        kind: kind_of(kind)?,
        executable: executable == b'x',
        sha256: if digest == "-" { String::new() } else { digest.to_owned() },
        loads: loads == b'l',
        seen,
    })
}

/// What is left of a line. Every byte is looked at once, because every event reads all lines of its record.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    /// The text before the next space.
    fn word(&mut self) -> Option<&'a str> {
        let at = self.0.bytes().position(|byte| byte == b' ')?;
        let (word, rest) = (self.0.get(..at)?, self.0.get(at + 1..)?);
        self.0 = rest;
        Some(word)
    }

    /// The number before the next space.
    fn number(&mut self) -> Option<i64> {
        let is_negative = self.0.starts_with('-');
        let (mut value, start) = (0_i64, usize::from(is_negative));
        for (at, byte) in self.0.bytes().enumerate().skip(start) {
            match byte {
                // Subtracted, because the smallest number has no positive counterpart.
                b'0'..=b'9' => value = value.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?,
                b' ' if at > start => {
                    self.0 = self.0.get(at + 1..)?;
                    return if is_negative { Some(value) } else { value.checked_neg() };
                }
                _ => return None,
            }
        }
        None
    }

    /// A stamp, if there is one, and a path.
    fn seen(mut self) -> Option<(Option<Stamp>, String)> {
        let seen = match self.0.strip_prefix("- ") {
            Some(path) => {
                self.0 = path;
                None
            }
            None => {
                let mut numbers = [0; Stamp::NUMBERS];
                for number in &mut numbers {
                    *number = self.number()?;
                }
                Some(Stamp::from_numbers(numbers))
            }
        };
        let plain = self.0.strip_prefix('"')?.strip_suffix('"')?;
        let path = match plain.bytes().any(|byte| byte == b'\\') {
            true => serde_json::from_str(self.0).ok()?,
            false => plain.to_owned(),
        };
        Some((seen, path))
    }
}

const fn letter(kind: Kind) -> char {
    match kind {
        Kind::File => 'f',
        Kind::Link => 's',
        Kind::Venv => 'v',
        Kind::Absent => 'a',
    }
}

fn kind_of(letter: u8) -> Option<Kind> {
    match letter {
        b'f' => Some(Kind::File),
        b's' => Some(Kind::Link),
        b'v' => Some(Kind::Venv),
        b'a' => Some(Kind::Absent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let file = |path: &str, kind, seen| RecordedFile {
            path: path.to_owned(),
            kind,
            executable: kind == Kind::Link,
            sha256: if kind == Kind::Absent { String::new() } else { "ab".repeat(32) },
            loads: kind == Kind::File,
            seen,
        };
        let stamp = Some(Stamp::from_numbers([1, 2, 3, -4, 5, 6, 7]));
        let names = ["a b", "a\nb", "\"", "\\", "ü\u{202e}", "- ", "", "../x"];
        let mut record = Record::new("/p \"q\"", 7, Vec::new(), vec!["a*".to_owned()]);
        for (at, kind) in
            [Kind::File, Kind::Link, Kind::Venv, Kind::Absent].into_iter().cycle().take(8).enumerate()
        {
            record.files.push(file(names[at], kind, stamp.filter(|_| at % 3 == 0)));
        }
        record.also = vec![vec![file("old", Kind::File, None)], Vec::new()];
        record.also_globs = vec![Vec::new(), vec!["**".to_owned()]];
        record.listed = vec![("a b".to_owned(), Stamp::from_numbers([9; 7]))];
        let text = write(&record).unwrap();
        assert_eq!(read(&text), Some(record));
        for end in 0..text.len() {
            assert_eq!(read(&text[..end]), None, "cut at {end}");
        }
        assert_eq!(read(b"{\"version\":1,\"folder\":\"/p\",\"at\":1,\"contents\":[]}"), None);
    }
}
