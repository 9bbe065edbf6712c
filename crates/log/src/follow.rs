//! Follows a log as it grows, across rotations.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::lines::is_newest;
use crate::log::RECORDS;
use crate::record::Record;

/// How many more times a renamed file is read: a process that had it open may still write to it.
const READS_AFTER_RENAME: u32 = 3;

/// The end of the log, as it grows.
#[derive(Debug)]
pub struct Follow {
    folder: PathBuf,
    file: Option<File>,
    /// A renamed file, and how many more times it is read.
    old: Option<(File, Vec<u8>, u32)>,
    /// The beginning of a line that is not complete yet.
    begun: Vec<u8>,
}

impl Follow {
    pub(crate) fn new(folder: PathBuf) -> io::Result<Self> {
        let mut file = RECORDS.open_newest(&folder)?;
        if let Some(file) = &mut file {
            file.seek(SeekFrom::End(0))?;
        }
        Ok(Self { folder, file, old: None, begun: Vec::new() })
    }

    /// The records that were written since the last call. The caller waits between two calls.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn look(&mut self) -> io::Result<Vec<Record>> {
        let mut found = Vec::new();
        if let Some((mut file, mut begun, looks)) = self.old.take() {
            take(&mut file, &mut begun, &mut found)?;
            self.old = looks.checked_sub(1).map(|looks| (file, begun, looks));
        }
        match self.file.take() {
            None => self.file = RECORDS.open_newest(&self.folder)?,
            Some(file) => {
                // Checked before reading: what is written later is read when the file counts as renamed.
                let is_newest = is_newest(&RECORDS, &self.folder, &file).or_else(gone)?;
                let mut file = file;
                take(&mut file, &mut self.begun, &mut found)?;
                if is_newest {
                    self.file = Some(file);
                } else {
                    self.old = Some((file, std::mem::take(&mut self.begun), READS_AFTER_RENAME));
                    self.file = RECORDS.open_newest(&self.folder)?;
                }
            }
        }
        if let Some(file) = &mut self.file {
            take(file, &mut self.begun, &mut found)?;
        }
        Ok(found)
    }
}

/// A folder that does not exist has no newest file.
fn gone(error: io::Error) -> io::Result<bool> {
    if error.kind() == io::ErrorKind::NotFound { Ok(false) } else { Err(error) }
}

/// Reads the complete lines that a file has now.
fn take(file: &mut File, begun: &mut Vec<u8>, found: &mut Vec<Record>) -> io::Result<()> {
    file.read_to_end(begun)?;
    let Some(last) = begun.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
    let rest = begun.split_off(last + 1);
    let lines = std::mem::replace(begun, rest);
    let text = String::from_utf8_lossy(&lines);
    found.extend(text.lines().filter_map(Record::parse));
    Ok(())
}
