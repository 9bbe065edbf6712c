//! Whether a log is as it was written.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::chain::{GENESIS, LENGTH, MARK, hash, links, split};
use super::log::numbered;

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The files that were looked at, the oldest first.
    pub files: Vec<PathBuf>,
    /// Records that are as they were written, up to the first problem.
    pub records: u64,
    /// The number of the first record, when it is not 1: older files are gone.
    pub begins_at: Option<u64>,
    /// The hash of the last good record.
    pub last_hash: Option<String>,
    /// Bytes behind the last complete record: somebody was stopped while writing.
    pub torn_bytes: u64,
    /// Records that were never finished, with others behind them.
    pub torn_records: u64,
    /// Whether the hash that was asked for is among those of the good records.
    pub contains: Option<bool>,
    /// The first thing that is wrong.
    pub problem: Option<Problem>,
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// The number that the record there should have.
    pub record: u64,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The line has not the form of a record.
    NotARecord,
    /// The line is not what its hash says.
    Changed,
    /// It does not follow the record before it: one was removed, inserted, or written anew.
    Broken {
        /// The number of the record before it.
        after: u64,
        /// Its own number.
        found: u64,
    },
}

impl Flaw {
    /// One word for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotARecord => "not_a_record",
            Self::Changed => "changed",
            Self::Broken { .. } => "broken",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, offset, record, .. } = self;
        write!(f, "{}, line {line}, record {record} (byte {offset}): ", self.file.display())?;
        match &self.flaw {
            Flaw::NotARecord => f.write_str("this is not a record"),
            Flaw::Changed => f.write_str("this record was changed after it was written"),
            Flaw::Broken { after, found } => {
                write!(
                    f,
                    "record {found} does not follow record {after}: one was removed, inserted or written anew"
                )
            }
        }
    }
}

/// Checks a log with its renamed files. `contains` is a hash that must be in it.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(path: &Path, contains: Option<&str>) -> io::Result<Verified> {
    let mut files: Vec<PathBuf> = numbered(path)?.into_iter().map(|(_, path)| path).collect();
    if path.exists() || files.is_empty() {
        files.push(path.to_owned());
    }
    let mut walk = Walk {
        verified: Verified {
            files: files.clone(),
            records: 0,
            begins_at: None,
            last_hash: None,
            torn_bytes: 0,
            torn_records: 0,
            contains: contains.map(|_| false),
            problem: None,
        },
        wanted: contains,
        seq: 0,
        torn: None,
    };
    for (index, file) in files.iter().enumerate() {
        let place = if index + 1 == files.len() { Place::Last } else { Place::Before };
        walk.file(file, place)?;
        if walk.verified.problem.is_some() {
            break;
        }
    }
    Ok(walk.verified)
}

/// Which file of a log it is: only the last one can end in the middle of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Last,
}

struct Walk<'a> {
    verified: Verified,
    wanted: Option<&'a str>,
    /// The number of the last good record.
    seq: u64,
    /// A line that is no record, and where: forgiven when the next record says that it comes after a torn one.
    torn: Option<(u64, u64, u64)>,
}

impl Walk<'_> {
    fn file(&mut self, path: &Path, place: Place) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 18, File::open(path)?);
        let (mut number, mut offset) = (0, 0);
        let mut line = Vec::new();
        self.verified.torn_bytes = 0;
        loop {
            line.clear();
            let length = u64::try_from(reader.read_until(b'\n', &mut line)?).unwrap_or(0);
            if length == 0 {
                break;
            }
            number += 1;
            let at = offset;
            offset += length;
            let flaw = match line.strip_suffix(b"\n") {
                Some(line) => self.line(line, number, at),
                // Not finished. More than a whole record without its line break was not written by us.
                None if place == Place::Before || holds_more_than_a_record(&line) => Some(Flaw::NotARecord),
                None => {
                    self.verified.torn_bytes = length;
                    None
                }
            };
            if let Some(flaw) = flaw {
                return self.problem(path, number, at, flaw);
            }
        }
        match self.torn.take() {
            Some((number, at, _)) => self.problem(path, number, at, Flaw::NotARecord),
            None => Ok(()),
        }
    }

    fn problem(&mut self, path: &Path, number: u64, at: u64, flaw: Flaw) -> io::Result<()> {
        // The torn line before it is what is wrong.
        let (number, at, flaw) = match self.torn.take() {
            Some((line, offset, _)) => (line, offset, Flaw::NotARecord),
            None => (number, at, flaw),
        };
        let record = self.seq + 1;
        self.verified.problem =
            Some(Problem { file: path.to_owned(), line: number, offset: at, record, flaw });
        Ok(())
    }

    fn line(&mut self, line: &[u8], number: u64, at: u64) -> Option<Flaw> {
        let length = u64::try_from(line.len()).unwrap_or(0);
        let Some((body, own)) = split(line) else {
            if self.torn.is_some() {
                return Some(Flaw::NotARecord);
            }
            self.torn = Some((number, at, length));
            return None;
        };
        if hash(body) != own {
            return Some(Flaw::Changed);
        }
        let Some((seq, prev)) = links(body) else { return Some(Flaw::NotARecord) };
        if let Some((_, _, torn)) = self.torn {
            let says = format!(",\"after_torn\":{torn},\"prev\":\"");
            let body = String::from_utf8_lossy(body);
            if !body.contains(&says) {
                return Some(Flaw::NotARecord);
            }
            self.torn = None;
            self.verified.torn_records += 1;
        }
        let first = self.verified.last_hash.is_none();
        let expected = self.verified.last_hash.as_deref().unwrap_or(GENESIS);
        if first && seq > 1 {
            self.verified.begins_at = Some(seq);
        } else if prev != expected || seq != self.seq + 1 {
            return Some(Flaw::Broken { after: self.seq, found: seq });
        }
        self.seq = seq;
        self.verified.records += 1;
        if self.wanted == Some(own) {
            self.verified.contains = Some(true);
        }
        self.verified.last_hash = Some(own.to_owned());
        None
    }
}

/// Whether a line that is not finished holds a whole record and something behind it.
fn holds_more_than_a_record(line: &[u8]) -> bool {
    let mark = MARK.as_bytes();
    let places = line.windows(mark.len()).enumerate().filter(|(_, part)| *part == mark).map(|(at, _)| at);
    places.into_iter().any(|at| {
        let whole = at + mark.len() + LENGTH + 2;
        line.get(..whole).is_some_and(|record| split(record).is_some_and(|(body, own)| hash(body) == own))
            && line.len() > whole
    })
}
