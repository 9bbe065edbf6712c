//! Where records are stored.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::filter::Filter;
use crate::follow::Follow;
use crate::lines::Lines;
use crate::record::Record;
use crate::stored_event::StoredEvent;

pub(crate) const RECORDS: Lines = Lines { name: "log.jsonl", most_bytes: 10_000_000, files: 5 };
const EVENTS: Lines = Lines { name: "events.jsonl", most_bytes: 4_000_000, files: 2 };

/// The log of one person on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    folder: PathBuf,
}

impl Log {
    /// The log in the folder `log` of this folder, which need not exist yet.
    #[must_use]
    pub fn in_folder(state: &Path) -> Self {
        Self { folder: state.join("log") }
    }

    /// The folder of the log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When it cannot be written: a full disk, a folder of another user, a link. No decision may depend on it.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        RECORDS.append(&self.folder, &record.line())
    }

    /// Appends several records at once.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn append_all(&self, records: &[Record]) -> io::Result<()> {
        RECORDS.append(&self.folder, &records.iter().map(Record::line).collect::<String>())
    }

    /// Stores a whole event.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn store_event(&self, event: &StoredEvent) -> io::Result<()> {
        let mut line = serde_json::to_string(event)?;
        line.push('\n');
        EVENTS.append(&self.folder, &line)
    }

    /// The records that match a filter, oldest first; with `last`, only that many of the newest.
    ///
    /// # Errors
    /// When a file cannot be read. A missing file is not an error.
    pub fn read(&self, filter: &Filter, last: Option<usize>) -> io::Result<Vec<Record>> {
        let mut found = VecDeque::new();
        self.each(|record| {
            if !filter.matches(&record) {
                return;
            }
            if last.is_some_and(|last| found.len() == last) {
                found.pop_front();
            }
            if last != Some(0) {
                found.push_back(record);
            }
        })?;
        Ok(found.into())
    }

    /// Calls `look` with every record, oldest first. Lines that are not records are skipped.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn each(&self, mut look: impl FnMut(Record)) -> io::Result<()> {
        each_line(RECORDS.open_all(&self.folder)?, |line| Record::parse(line).into_iter().for_each(&mut look))
    }

    /// The stored events, oldest first.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn stored_events(&self) -> io::Result<Vec<StoredEvent>> {
        let mut all = Vec::new();
        each_line(EVENTS.open_all(&self.folder)?, |line| {
            all.extend(serde_json::from_str::<StoredEvent>(line).ok())
        })?;
        Ok(all)
    }

    /// Follows what is written from now on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn follow(&self) -> io::Result<Follow> {
        Follow::new(self.folder.clone())
    }
}

fn each_line(files: Vec<File>, mut look: impl FnMut(&str)) -> io::Result<()> {
    let mut line = Vec::new();
    for file in files {
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            look(&String::from_utf8_lossy(&line));
        }
    }
    Ok(())
}
