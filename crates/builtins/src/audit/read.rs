//! The records of a log, for people.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crosier::protocol::ordered::Value;

use super::log::numbered;

/// One line of a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A record as JSON.
    Record(Value),
    /// A line that is not a record.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
    },
}

/// Reads a log with its renamed files, the oldest record first. `each` returns false to stop.
///
/// # Errors
/// When a file cannot be read.
pub fn read(path: &Path, mut each: impl FnMut(Entry) -> bool) -> io::Result<()> {
    let mut files: Vec<PathBuf> = numbered(path)?.into_iter().map(|(_, path)| path).collect();
    if path.exists() || files.is_empty() {
        files.push(path.to_owned());
    }
    for file in files {
        let mut reader = BufReader::new(File::open(&file)?);
        let mut bytes = Vec::new();
        let mut line = 0;
        loop {
            bytes.clear();
            if reader.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            line += 1;
            let entry = match serde_json::from_slice(&bytes) {
                Ok(value @ Value::Object(_)) => Entry::Record(value),
                _ => Entry::Unreadable { file: file.clone(), line },
            };
            if !each(entry) {
                return Ok(());
            }
        }
    }
    Ok(())
}
