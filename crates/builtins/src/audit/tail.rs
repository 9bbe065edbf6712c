//! The end of a log: where the chain goes on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::chain::{GENESIS, RecordHasher, links, split};

/// How far back the last record is looked for at first.
const TAIL: u64 = 64 << 10;

/// The end of the chain.
#[derive(Debug, Clone)]
pub(super) struct Last {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// Bytes of a record that was never finished.
    pub(super) torn: u64,
    /// Whether the last line lacks its line break, finished or not.
    pub(super) open: bool,
}

impl Last {
    /// The end of an empty chain.
    pub(super) fn genesis() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned(), torn: 0, open: false }
    }
}

/// The last complete record of a file, and what is after it. None when there is no complete record.
pub(super) fn last(file: &mut File, length: u64, hasher: &RecordHasher) -> io::Result<Option<Last>> {
    let mut reach = TAIL.min(length);
    loop {
        let mut bytes = vec![0; usize::try_from(reach).unwrap_or(usize::MAX)];
        file.seek(SeekFrom::Start(length - reach))?;
        file.read_exact(&mut bytes)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (complete, tail) = bytes.split_at(end);
        let whole = reach == length;
        // A record that only lacks its line break is complete.
        if (end > 0 || whole)
            && let Some((seq, own)) = record(tail, hasher)
        {
            return Ok(Some(Last { seq, hash: own.to_owned(), torn: 0, open: true }));
        }
        let lines = complete.strip_suffix(b"\n").unwrap_or_default();
        let start = lines.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let start = start.or((whole && !complete.is_empty()).then_some(0));
        if let Some(start) = start {
            let line = &lines[start..];
            // A whole line that is not a record was tampered with; the chain continues, and `verify` finds the place.
            let (seq, hash) = record(line, hasher)
                .map_or_else(|| (0, hasher.hash(line)), |(seq, own)| (seq, own.to_owned()));
            let torn = u64::try_from(tail.len()).unwrap_or(0);
            return Ok(Some(Last { seq, hash, torn, open: torn > 0 }));
        }
        if reach == length {
            return Ok(None);
        }
        reach = (reach * 4).min(length);
    }
}

/// The number of the first record of a file.
pub(super) fn first(path: &Path) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    Ok(split(line).and_then(|(body, _)| links(body)).map(|(seq, _)| seq))
}

/// The number and the hash of a record.
fn record<'a>(line: &'a [u8], hasher: &RecordHasher) -> Option<(u64, &'a str)> {
    let (body, own) = split(line)?;
    let (seq, _) = links(body)?;
    (hasher.hash(body) == own).then_some((seq, own))
}
