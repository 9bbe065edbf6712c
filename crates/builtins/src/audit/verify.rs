//! Checks that a log is unchanged since it was written.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::anchor::{Anchors, Head};
use super::chain::{GENESIS, LENGTH, MARK, RecordHasher, links, split};
use super::log::numbered;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The files that were checked, the oldest first.
    pub files: Vec<PathBuf>,
    /// Records that are as they were written, up to the first problem.
    pub records: u64,
    /// The number of the first record, when it is not 1: older files are gone.
    pub begins_at: Option<u64>,
    /// The hash of the last good record.
    pub last_hash: Option<String>,
    /// Bytes after the last complete record: a process was stopped while it wrote.
    pub torn_bytes: u64,
    /// Records that were never finished, with others after them.
    pub torn_records: u64,
    /// What protects the chain.
    pub protection: Protection,
    /// Whether one of the good records has the hash that was asked for.
    pub contains: Option<bool>,
    /// The first thing that is wrong.
    pub problem: Option<Problem>,
}

/// What protects the chain of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// Only its hashes: whoever can write to the file can write a chain that verifies, or cut off its end.
    None,
    /// A key.
    Key,
    /// A key, and a separately stored end.
    KeyAndHead,
}

impl Protection {
    /// One word for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Key => "key",
            Self::KeyAndHead => "key_and_head",
        }
    }
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
    pub kind: ProblemKind,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The line does not have the form of a record.
    NotARecord,
    /// The line does not match its hash.
    Changed,
    /// It does not follow the record before it: one was removed, inserted, or rewritten.
    Broken {
        /// The number of the record before it.
        after: u64,
        /// Its own number.
        found: u64,
    },
    /// It verifies only without a key: written by somebody who does not have the key, or on another machine.
    NoKey,
    /// The log begins later than it should: records at its beginning are gone.
    BeginsLate {
        /// The number of the first record that must be there.
        first: u64,
        /// The number of the first record that is.
        found: u64,
    },
    /// The log ends earlier than it should: records at its end are gone, or were rewritten.
    EndsEarly {
        /// The number of the last record that was written.
        last: u64,
    },
    /// The end of this log is not stored anywhere, so it cannot be told whether it was cut off.
    NoHead,
}

impl ProblemKind {
    /// One word for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotARecord => "not_a_record",
            Self::Changed => "changed",
            Self::Broken { .. } => "broken",
            Self::NoKey => "no_key",
            Self::BeginsLate { .. } => "begins_late",
            Self::EndsEarly { .. } => "ends_early",
            Self::NoHead => "no_head",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, offset, record, .. } = self;
        write!(f, "{}, line {line}, record {record} (byte {offset}): ", self.file.display())?;
        match &self.kind {
            ProblemKind::NotARecord => f.write_str("this is not a record"),
            ProblemKind::Changed => f.write_str("this record was changed after it was written"),
            ProblemKind::Broken { after, found } => {
                write!(
                    f,
                    "record {found} does not follow record {after}: one was removed, inserted or rewritten"
                )
            }
            ProblemKind::NoKey => f.write_str(
                "this record was not made with the key of this machine: it was forged, or written on another machine",
            ),
            ProblemKind::BeginsLate { first, found } => {
                write!(f, "the log begins with record {found}; records {first} to {} are gone", found - 1)
            }
            ProblemKind::EndsEarly { last } => {
                write!(f, "the log had records up to {last}: its end was removed or rewritten")
            }
            ProblemKind::NoHead => f.write_str(
                "the end of this log is not known here (it was moved, or the state folder was), so it may have been cut",
            ),
        }
    }
}

/// Checks a log with its renamed files. `contains` is a hash that must be in it. With anchors, every record must be
/// made with their key, and the log must be as long as they say.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(path: &Path, contains: Option<&str>, anchors: Option<&Anchors>) -> io::Result<Verified> {
    let hasher = anchors.map(Anchors::hasher).transpose()?.flatten();
    let head = match (anchors, &hasher) {
        (Some(anchors), Some(hasher)) => anchors.head(path, hasher)?,
        _ => None,
    };
    let mut files: Vec<PathBuf> = numbered(path)?.into_iter().map(|(_, path)| path).collect();
    // A log that was deleted counts as cut off.
    let is_gone = !path.exists() && files.is_empty() && head.is_some();
    if path.exists() || (files.is_empty() && !is_gone) {
        files.push(path.to_owned());
    }
    let protection = match (&hasher, &head) {
        (None, _) => Protection::None,
        (Some(_), None) => Protection::Key,
        (Some(_), Some(_)) => Protection::KeyAndHead,
    };
    let mut walk = Verifier {
        verified: Verified {
            files: files.clone(),
            records: 0,
            begins_at: None,
            last_hash: None,
            torn_bytes: 0,
            torn_records: 0,
            protection,
            contains: contains.map(|_| false),
            problem: None,
        },
        is_keyed: hasher.is_some(),
        hasher: hasher.unwrap_or(RecordHasher::Plain),
        head_hash: None,
        head,
        wanted: contains,
        lines: 0,
        offset: 0,
        seq: 0,
        torn: None,
    };
    for (index, file) in files.iter().enumerate() {
        let place = if index + 1 == files.len() { FilePosition::Last } else { FilePosition::Before };
        walk.file(file, place)?;
        if walk.verified.problem.is_some() {
            break;
        }
    }
    if walk.verified.problem.is_none() {
        let file = files.last().map_or(path, PathBuf::as_path);
        if let Some(kind) = walk.compare_with_head() {
            walk.problem(file, walk.lines, walk.offset, kind)?;
        }
    }
    Ok(walk.verified)
}

/// Which file of a log it is: only the last one can end in the middle of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilePosition {
    Before,
    Last,
}

struct Verifier<'a> {
    verified: Verified,
    hasher: RecordHasher,
    is_keyed: bool,
    head: Option<Head>,
    /// The hash of the record that has the number of the head.
    head_hash: Option<String>,
    /// How many lines and bytes of the file were read.
    lines: u64,
    offset: u64,
    wanted: Option<&'a str>,
    /// The number of the last good record.
    seq: u64,
    /// A line that is not a record, and where: forgiven when the next record says that it comes after a torn one.
    torn: Option<(u64, u64, u64)>,
}

impl Verifier<'_> {
    fn file(&mut self, path: &Path, place: FilePosition) -> io::Result<()> {
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
            (self.lines, self.offset) = (number, offset);
            let kind = match line.strip_suffix(b"\n") {
                Some(line) => self.line(line, number, at),
                // A partial line. More than one record without a line break was not written by Crosier.
                None if place == FilePosition::Before || holds_more_than_a_record(&line, &self.hasher) => {
                    Some(ProblemKind::NotARecord)
                }
                None => {
                    self.verified.torn_bytes = length;
                    None
                }
            };
            if let Some(kind) = kind {
                return self.problem(path, number, at, kind);
            }
        }
        match self.torn.take() {
            Some((number, at, _)) => self.problem(path, number, at, ProblemKind::NotARecord),
            None => Ok(()),
        }
    }

    /// Whether the log is as long as its stored head says. It may be longer: a process that was killed may have written
    /// a record and not yet the head.
    fn compare_with_head(&self) -> Option<ProblemKind> {
        if !self.is_keyed {
            return None;
        }
        let Some(head) = &self.head else {
            return (self.verified.records > 0).then_some(ProblemKind::NoHead);
        };
        let found = self.verified.begins_at.unwrap_or(1);
        if self.verified.records > 0 && found > head.first {
            return Some(ProblemKind::BeginsLate { first: head.first, found });
        }
        (self.head_hash.as_deref() != Some(&head.hash)).then_some(ProblemKind::EndsEarly { last: head.seq })
    }

    fn problem(&mut self, path: &Path, number: u64, at: u64, kind: ProblemKind) -> io::Result<()> {
        // The torn line before it is the problem.
        let (number, at, kind) = match self.torn.take() {
            Some((line, offset, _)) => (line, offset, ProblemKind::NotARecord),
            None => (number, at, kind),
        };
        let record = self.seq + 1;
        self.verified.problem =
            Some(Problem { file: path.to_owned(), line: number, offset: at, record, kind });
        Ok(())
    }

    fn line(&mut self, line: &[u8], number: u64, at: u64) -> Option<ProblemKind> {
        let length = u64::try_from(line.len()).unwrap_or(0);
        let Some((body, own)) = split(line) else {
            if self.torn.is_some() {
                return Some(ProblemKind::NotARecord);
            }
            self.torn = Some((number, at, length));
            return None;
        };
        if self.hasher.hash(body) != own {
            let is_plain = self.is_keyed && RecordHasher::Plain.hash(body) == own;
            // With another key, all records look changed from the first one on.
            let is_foreign = self.is_keyed && self.verified.records == 0 && self.head.is_none();
            return Some(if is_plain || is_foreign { ProblemKind::NoKey } else { ProblemKind::Changed });
        }
        let Some((seq, prev)) = links(body) else { return Some(ProblemKind::NotARecord) };
        if let Some((_, _, torn)) = self.torn {
            let says = format!(",\"after_torn\":{torn},\"prev\":\"");
            let body = String::from_utf8_lossy(body);
            if !body.contains(&says) {
                return Some(ProblemKind::NotARecord);
            }
            self.torn = None;
            self.verified.torn_records += 1;
        }
        let first = self.verified.last_hash.is_none();
        let expected = self.verified.last_hash.as_deref().unwrap_or(GENESIS);
        if first && seq > 1 {
            self.verified.begins_at = Some(seq);
        } else if prev != expected || seq != self.seq + 1 {
            return Some(ProblemKind::Broken { after: self.seq, found: seq });
        }
        self.seq = seq;
        self.verified.records += 1;
        if self.head.as_ref().is_some_and(|head| head.seq == seq) {
            self.head_hash = Some(own.to_owned());
        }
        if self.wanted == Some(own) {
            self.verified.contains = Some(true);
        }
        self.verified.last_hash = Some(own.to_owned());
        None
    }
}

/// Whether a line that is not finished holds a whole record and something after it.
fn holds_more_than_a_record(line: &[u8], hasher: &RecordHasher) -> bool {
    let mark = MARK.as_bytes();
    let places = line.windows(mark.len()).enumerate().filter(|(_, part)| *part == mark).map(|(at, _)| at);
    places.into_iter().any(|at| {
        let whole = at + mark.len() + LENGTH + 2;
        line.get(..whole)
            .is_some_and(|record| split(record).is_some_and(|(body, own)| hasher.hash(body) == own))
            && line.len() > whole
    })
}
