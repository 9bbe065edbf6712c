//! The text of a record: an index, which is a line of JSON and a line for every file, and the digests.
//!
//! A record can have hundreds of files, and every event reads and authenticates it. So the index is short: numbers and
//! paths are written as their difference from the line before, and fields are in a fixed order, which is read in a fraction
//! of the time that a JSON object takes. The digests, most of a record's bytes, are needed only when a stamp differs, or to
//! tell a Python worker what it may load; the index has a message authentication code of them.

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
    /// The message authentication code (MAC) of the digests.
    #[serde(rename = "digests")]
    digests_mac: String,
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
const VERSION: u32 = 3;

/// The index and the digests of a record; `mac` makes the MAC of the digests.
pub(super) fn write(
    record: &Record,
    mac: impl FnOnce(&[u8]) -> String,
) -> serde_json::Result<(Vec<u8>, Vec<u8>)> {
    let content = |(files, globs): (&Vec<RecordedFile>, &[String])| Content {
        files: files.len(),
        globs: globs.to_vec(),
    };
    let all = || record.contents().flat_map(|(files, _)| files);
    let digests: Vec<&str> = all().filter(|file| !file.loads).map(written_digest).collect();
    let digests = digests.join("\n").into_bytes();
    let header = Header {
        version: VERSION,
        folder: record.folder.clone(),
        at: record.at,
        contents: record.contents().map(content).collect(),
        listed: record.listed.len(),
        digests_mac: mac(&digests),
    };
    let mut text = serde_json::to_string(&header)?;
    let mut before = Before::default();
    for file in all() {
        let flag = |is_set: bool, letter: char| if is_set { letter } else { '-' };
        let (executable, loads) = (flag(file.executable, 'x'), flag(file.loads, 'l'));
        let _ = write!(text, "\n{}{executable}{loads} ", letter(file.kind));
        if file.loads {
            let _ = write!(text, "{} ", written_digest(file));
        }
        before.push(&mut text, file.seen.as_ref(), &file.path)?;
    }
    for (path, stamp) in &record.listed {
        text.push('\n');
        before.push(&mut text, Some(stamp), path)?;
    }
    Ok((text.into_bytes(), digests))
}

fn written_digest(file: &RecordedFile) -> &str {
    if file.sha256.is_empty() { "-" } else { &file.sha256 }
}

fn read_digest(text: &str) -> String {
    if text == "-" { String::new() } else { text.to_owned() }
}

/// Reads an index: the record without the digests of the files that the loader does not read, and the MAC of these
/// digests. `None` when it is damaged, or has another version.
pub(super) fn read(index: &[u8]) -> Option<(Record, String)> {
    let text = std::str::from_utf8(index).ok()?;
    let mut lines = text.split('\n');
    let header: Header = serde_json::from_str(lines.next()?).ok()?;
    let mut record = Record::new(&header.folder, header.at, Vec::new(), Vec::new());
    let mut before = Before::default();
    for (at, content) in header.contents.into_iter().enumerate() {
        // Not more room than there can be lines, whatever the number says.
        let mut files = Vec::with_capacity(content.files.min(text.len()));
        for _ in 0..content.files {
            files.push(read_file(lines.next()?, &mut before)?);
        }
        match at {
            0 => (record.files, record.globs) = (files, content.globs),
            _ => {
                record.older.push(files);
                record.older_globs.push(content.globs);
            }
        }
    }
    for _ in 0..header.listed {
        let (stamp, path) = Fields(lines.next()?).seen(&mut before)?;
        record.listed.push((path, stamp?));
    }
    (header.version == VERSION && lines.next().is_none()).then_some((record, header.digests_mac))
}

fn read_file(line: &str, before: &mut Before) -> Option<RecordedFile> {
    let mut fields = Fields(line);
    let &[kind, executable, loads] = fields.word()?.as_bytes() else { return None };
    let loads = loads == b'l';
    let sha256 = if loads { read_digest(fields.word()?) } else { String::new() };
    let (seen, path) = fields.seen(before)?;
    Some(RecordedFile { path, kind: kind_of(kind)?, executable: executable == b'x', sha256, loads, seen })
}

/// Sets the digests that the index does not have; `None` when there are too few or too many.
pub(super) fn set_digests(record: &mut Record, digests: &[u8]) -> Option<()> {
    let text = std::str::from_utf8(digests).ok()?;
    let mut lines = text.split('\n').filter(|line| !line.is_empty());
    for file in record.files.iter_mut().chain(record.older.iter_mut().flatten()).filter(|file| !file.loads) {
        file.sha256 = read_digest(lines.next()?);
    }
    lines.next().is_none().then_some(())
}

/// The line before, from which the next one is written as a difference.
#[derive(Default)]
struct Before {
    numbers: [i64; Stamp::NUMBERS],
    path: String,
}

impl Before {
    fn push(&mut self, text: &mut String, stamp: Option<&Stamp>, path: &str) -> serde_json::Result<()> {
        match stamp {
            Some(stamp) => {
                let numbers = stamp.numbers();
                differences(&self.numbers, numbers).iter().for_each(|number| {
                    let _ = write!(text, "{number} ");
                });
                self.numbers = numbers;
            }
            None => text.push_str("- "),
        }
        let same = path.bytes().zip(self.path.bytes()).take_while(|(new, old)| new == old).count();
        let same = path.floor_char_boundary(same);
        let _ = write!(text, "{same} ");
        text.push_str(&serde_json::to_string(&path[same..])?);
        path.clone_into(&mut self.path);
        Ok(())
    }
}

/// Files of a project are on one device, were written one after the other, and changed when they were written: most of
/// their differences are small.
fn differences(before: &[i64; Stamp::NUMBERS], mut numbers: [i64; Stamp::NUMBERS]) -> [i64; Stamp::NUMBERS] {
    numbers[6] = numbers[6].wrapping_sub(numbers[4]);
    numbers[5] = numbers[5].wrapping_sub(numbers[3]);
    numbers[3] = numbers[3].wrapping_sub(before[3]);
    numbers[1] = numbers[1].wrapping_sub(before[1]);
    numbers[0] = numbers[0].wrapping_sub(before[0]);
    numbers
}

/// The numbers of a stamp from their differences.
fn numbers_of(
    before: &[i64; Stamp::NUMBERS],
    mut differences: [i64; Stamp::NUMBERS],
) -> [i64; Stamp::NUMBERS] {
    differences[0] = differences[0].wrapping_add(before[0]);
    differences[1] = differences[1].wrapping_add(before[1]);
    differences[3] = differences[3].wrapping_add(before[3]);
    differences[5] = differences[5].wrapping_add(differences[3]);
    differences[6] = differences[6].wrapping_add(differences[4]);
    differences
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
    fn seen(mut self, before: &mut Before) -> Option<(Option<Stamp>, String)> {
        let seen = match self.0.strip_prefix("- ") {
            Some(path) => {
                self.0 = path;
                None
            }
            None => {
                let mut read = [0; Stamp::NUMBERS];
                for number in &mut read {
                    *number = self.number()?;
                }
                before.numbers = numbers_of(&before.numbers, read);
                Some(Stamp::from_numbers(before.numbers))
            }
        };
        let same = usize::try_from(self.number()?).ok()?;
        before.path.truncate(before.path.get(..same)?.len());
        let plain = self.0.strip_prefix('"')?.strip_suffix('"')?;
        match plain.bytes().any(|byte| byte == b'\\') {
            true => before.path.push_str(&serde_json::from_str::<String>(self.0).ok()?),
            false => before.path.push_str(plain),
        }
        Some((seen, before.path.clone()))
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
        let names = ["a b", "a\nb", "\"", "\\", "ü\u{202e}", "- ", "", "../x", "a/bü", "a/bß", "a/b"];
        let numbers = [i64::MIN, i64::MAX, -1, 0, 1, 5, 1_763_000_000];
        let mut record = Record::new("/p \"q\"", 7, Vec::new(), vec!["a*".to_owned()]);
        for (at, kind) in [Kind::File, Kind::Link, Kind::Venv, Kind::Absent]
            .into_iter()
            .cycle()
            .take(names.len())
            .enumerate()
        {
            let stamp =
                Stamp::from_numbers(std::array::from_fn(|place| numbers[(at + place) % numbers.len()]));
            record.files.push(file(names[at], kind, Some(stamp).filter(|_| at % 3 != 1)));
        }
        record.older = vec![vec![file("old", Kind::Venv, None)], Vec::new()];
        record.older_globs = vec![Vec::new(), vec!["**".to_owned()]];
        record.listed = vec![("a b".to_owned(), Stamp::from_numbers([9; 7]))];
        let (index, digests) = write(&record, |digests| digests.len().to_string()).unwrap();
        let whole = || {
            let (mut read, mac) = read(&index)?;
            assert_eq!(mac, digests.len().to_string());
            set_digests(&mut read, &digests)?;
            Some(read)
        };
        assert_eq!(whole(), Some(record.clone()));
        for end in 0..index.len() {
            assert!(read(&index[..end]).is_none(), "cut at {end}");
        }
        let mut again = read(&index).unwrap().0;
        assert!(again.files.iter().any(|file| file.kind == Kind::File && !file.sha256.is_empty()));
        assert!(again.files.iter().all(|file| file.loads || file.sha256.is_empty()));
        assert_eq!(set_digests(&mut again, &digests[..digests.len() - 65]), None);
        assert_eq!(set_digests(&mut again, &[&digests[..], b"\n-"].concat()), None);
        assert!(
            read(b"{\"version\":2,\"folder\":\"/p\",\"at\":1,\"contents\":[],\"digests\":\"\"}").is_none()
        );
    }
}
