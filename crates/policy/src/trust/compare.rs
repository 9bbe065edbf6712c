//! Compares a trust record with the files as they are now.

use std::path::Path;

use super::glob;
use super::record::{Record, RecordedFile};
use super::stamp::{self, Kind, Stamp};

/// A difference from a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The path, relative to the folder of the record.
    pub(crate) path: String,
    /// What happened to it: `changed`, `is gone`.
    pub(crate) what: String,
}

/// When to compare virtual environments, which can have thousands of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Venvs {
    /// With everything else.
    Now,
    /// Right before a hook runs.
    Later,
}

/// What a comparison found.
#[derive(Debug)]
pub(crate) struct Compared {
    /// The files that match, each with its stamp; virtual environments have none.
    pub(crate) files: Vec<(RecordedFile, Option<Stamp>)>,
    /// Whether new digests were computed that should be stored.
    pub(crate) learned: bool,
}

/// Compares a folder with its record: with the newest content, then with the older ones.
///
/// # Errors
/// The first difference from the newest content.
pub(crate) fn compare(record: &mut Record, venvs: Venvs) -> Result<Compared, Difference> {
    let folder = record.folder.clone();
    let first = match compare_files(Path::new(&folder), &mut record.files, venvs) {
        Ok(compared) => match new_file(Path::new(&folder), &record.files, &record.globs) {
            None => return Ok(compared),
            Some(difference) => difference,
        },
        Err(difference) => difference,
    };
    for (at, files) in record.also.iter_mut().enumerate() {
        let globs = record.also_globs.get(at).map(Vec::as_slice).unwrap_or_default();
        if let Ok(compared) = compare_files(Path::new(&folder), files, venvs)
            && new_file(Path::new(&folder), files, globs).is_none()
        {
            return Ok(compared);
        }
    }
    Err(first)
}

/// A file that matches a pattern of `trust:` and is not recorded.
fn new_file(folder: &Path, files: &[RecordedFile], globs: &[String]) -> Option<Difference> {
    for pattern in globs {
        let found = match glob::files(folder, pattern) {
            Ok(found) => found,
            Err(why) => {
                return Some(Difference {
                    path: pattern.clone(),
                    what: format!("is not as you trusted it: {why}"),
                });
            }
        };
        for file in found {
            let path = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
            if !files.iter().any(|known| known.path == path) {
                return Some(Difference { path, what: "is new since you trusted the project".to_owned() });
            }
        }
    }
    None
}

fn compare_files(folder: &Path, files: &mut [RecordedFile], venvs: Venvs) -> Result<Compared, Difference> {
    let mut compared = Compared { files: Vec::with_capacity(files.len()), learned: false };
    for file in files {
        if file.kind == Kind::Venv && venvs == Venvs::Later {
            compared.files.push((file.clone(), None));
            continue;
        }
        let stamp = compare_file(folder, file)?;
        if stamp != file.seen && stamp.is_some_and(|stamp| stamp.is_settled()) {
            file.seen = stamp;
            compared.learned = true;
        }
        compared.files.push((file.clone(), stamp));
    }
    Ok(compared)
}

/// Compares one file; returns its current stamp when it matches.
pub(crate) fn compare_file(folder: &Path, file: &RecordedFile) -> Result<Option<Stamp>, Difference> {
    let path = folder.join(&file.path);
    let differs = |what: String| Difference { path: file.path.clone(), what };
    if file.kind == Kind::Venv {
        return match stamp::digest_of_venv(&path) {
            Ok(digest) if digest == file.sha256 => Ok(None),
            Ok(_) => Err(differs("changed since you trusted it".to_owned())),
            Err(why) => Err(differs(format!("is not as you trusted it: {why}"))),
        };
    }
    let found = match stamp::find(&path) {
        Ok(found) => found,
        Err(_) if file.kind == Kind::Absent => {
            return Err(differs("is new since you trusted the project".to_owned()));
        }
        Err(why) => return Err(differs(format!("changed since you trusted it: {why}"))),
    };
    match (found, file.kind) {
        (None, Kind::Absent) => Ok(None),
        (Some(_), Kind::Absent) => Err(differs("is new since you trusted the project".to_owned())),
        (None, _) => Err(differs("is gone since you trusted it".to_owned())),
        (Some(found), kind) if found.kind != kind => {
            let now = if found.kind == Kind::Link { "a link" } else { "not a link" };
            Err(differs(format!("is {now}, unlike when you trusted it")))
        }
        (Some(found), _) if found.executable != file.executable => {
            let now = if found.executable { "executable" } else { "not executable" };
            Err(differs(format!("is {now}, unlike when you trusted it")))
        }
        (Some(found), _) if file.seen == Some(found.stamp) => Ok(file.seen),
        (Some(_), _) => match stamp::read(&path) {
            Ok((stamp, digest, _)) if digest == file.sha256 => Ok(Some(stamp)),
            Ok(_) => Err(differs("changed since you trusted it".to_owned())),
            Err(why) => Err(differs(format!("is not as you trusted it: {why}"))),
        },
    }
}
