//! Compares a trust record with the files as they are now.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::glob;
use super::record::{Record, RecordedFile};
use super::stamp::{self, Finder, Kind, Stamp};
use crate::request::Venvs;

/// A difference from a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The path, relative to the folder of the record.
    pub(crate) path: String,
    /// What is different, to be read after the path: `changed since you trusted it`, `is gone since you trusted it`.
    pub(crate) what: String,
}

/// The maximum number of folders whose stamps are kept.
const MAX_LISTED: usize = 1000;

/// What a comparison found: the folder has this content of the record.
#[derive(Debug)]
pub(crate) struct Compared {
    /// Which content matches: 0 is the newest.
    pub(crate) content: usize,
    /// The stamps of its files, in their order.
    pub(crate) stamps: Vec<Option<Stamp>>,
    /// Whether new digests were computed that should be stored.
    pub(crate) learned: bool,
}

/// Compares a folder with its record: with the newest content, then with the older ones.
///
/// # Errors
/// The first difference from the newest content.
pub(crate) fn compare(record: &mut Record, venvs: Venvs) -> Result<Compared, Difference> {
    let folder = PathBuf::from(&record.folder);
    let first =
        match compare_content(&folder, &mut record.files, &record.globs, Some(&mut record.listed), venvs) {
            Ok(compared) => return Ok(compared),
            Err(difference) => difference,
        };
    for (at, files) in record.older.iter_mut().enumerate() {
        let globs = record.older_globs.get(at).map(Vec::as_slice).unwrap_or_default();
        if let Ok(compared) = compare_content(&folder, files, globs, None, venvs) {
            return Ok(Compared { content: at + 1, ..compared });
        }
    }
    Err(first)
}

/// Compares a folder with the stamps of the newest content only; returns them when nothing differs. Otherwise it is not
/// known whether a file differs.
pub(crate) fn compare_stamps(record: &Record, venvs: Venvs) -> Option<Vec<Option<Stamp>>> {
    let folder = Path::new(&record.folder);
    if !record.globs.is_empty() && !is_as_listed(folder, &record.listed) {
        return None;
    }
    let mut finder = Finder::new(folder);
    for file in &record.files {
        if file.kind == Kind::Venv {
            let by_stamp = venvs == Venvs::ByStamp && file.seen.is_some();
            if by_stamp && stamp::of_venv(&folder.join(&file.path)) == file.seen {
                continue;
            }
            return None;
        }
        let is_same = match (file.kind, finder.find(&file.path).ok()?) {
            (Kind::Absent, found) => found.is_none(),
            (kind, Some(found)) => {
                (found.kind, found.executable, Some(found.stamp)) == (kind, file.executable, file.seen)
            }
            (_, None) => false,
        };
        if !is_same {
            return None;
        }
    }
    Some(record.files.iter().map(|file| file.seen).collect())
}

fn compare_content(
    folder: &Path,
    files: &mut [RecordedFile],
    globs: &[String],
    listed: Option<&mut Vec<(String, Stamp)>>,
    venvs: Venvs,
) -> Result<Compared, Difference> {
    let mut finder = Finder::new(folder);
    let mut stamps = Vec::with_capacity(files.len());
    for file in &*files {
        stamps.push(compare_file(&mut finder, folder, file, venvs)?);
    }
    let mut learned = false;
    if !globs.is_empty() && !listed.as_ref().is_some_and(|listed| is_as_listed(folder, listed)) {
        let now = list(folder, files, globs)?;
        if let Some(listed) = listed {
            learned = now != *listed;
            *listed = now;
        }
    }
    for (file, stamp) in files.iter_mut().zip(&stamps) {
        if *stamp != file.seen && stamp.is_some_and(|stamp| stamp.is_settled()) {
            file.seen = *stamp;
            learned = true;
        }
    }
    Ok(Compared { content: 0, stamps, learned })
}

/// Whether the folders that were listed are unchanged since then.
fn is_as_listed(folder: &Path, listed: &[(String, Stamp)]) -> bool {
    let is_same =
        |(path, stamp): &(String, Stamp)| stamp::of_folder(&folder.join(path)).as_ref() == Some(stamp);
    !listed.is_empty() && listed.iter().all(is_same)
}

/// Looks for files that match a pattern of `trust:` and are not recorded. Returns the folders that were listed, with
/// their stamps; none, if they must be listed again the next time.
fn list(folder: &Path, files: &[RecordedFile], globs: &[String]) -> Result<Vec<(String, Stamp)>, Difference> {
    let known: HashSet<&Path> = files.iter().map(|file| Path::new(&file.path)).collect();
    let mut listed: Option<Vec<(String, Stamp)>> = Some(Vec::new());
    for pattern in globs {
        let mut new: Option<String> = None;
        // The stamp is from before the folder is listed: what is added meanwhile changes it.
        let enter = |path: &Path| {
            let stamp = stamp::of_folder(&folder.join(path)).filter(Stamp::is_settled);
            let entry = path.to_str().map(str::to_owned).zip(stamp);
            listed = listed.take().filter(|listed| listed.len() < MAX_LISTED).zip(entry).map(
                |(mut listed, entry)| {
                    listed.push(entry);
                    listed
                },
            );
        };
        let found = |path: &Path| {
            if new.is_none() && !known.contains(path) {
                new = Some(path.to_string_lossy().into_owned());
            }
        };
        if let Err(why) = glob::each_file(folder, pattern, enter, found) {
            let what = format!("is not as you trusted it: {why}");
            return Err(Difference { path: pattern.clone(), what });
        }
        if let Some(path) = new {
            return Err(Difference { path, what: "is new since you trusted the project".to_owned() });
        }
    }
    Ok(listed.unwrap_or_default())
}

/// Compares one file; returns its current stamp when it matches.
pub(crate) fn compare_file<'a>(
    finder: &mut Finder<'a>,
    folder: &Path,
    file: &'a RecordedFile,
    venvs: Venvs,
) -> Result<Option<Stamp>, Difference> {
    let path = || folder.join(&file.path);
    let differs = |what: String| Difference { path: file.path.clone(), what };
    if file.kind == Kind::Venv {
        // Taken before the files are listed, so that a change meanwhile shows in the next comparison.
        let found = stamp::of_venv(&path());
        if venvs == Venvs::ByStamp && found.is_some() && found == file.seen {
            return Ok(found);
        }
        return match stamp::digest_of_venv(&path()) {
            Ok(digest) if digest == file.sha256 => Ok(found),
            Err(_) if !path().exists() => Err(differs("is gone since you trusted it".to_owned())),
            Ok(_) => Err(differs("changed since you trusted it".to_owned())),
            Err(why) => Err(differs(format!("is not as you trusted it: {why}"))),
        };
    }
    let found = match finder.find(&file.path) {
        Ok(found) => found,
        Err(why) if file.kind == Kind::Absent => {
            return Err(differs(format!("is not as you trusted it: {why}")));
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
        (Some(_), _) => match stamp::read(&path()) {
            Ok((stamp, digest, _)) if digest == file.sha256 => Ok(Some(stamp)),
            Ok(_) => Err(differs("changed since you trusted it".to_owned())),
            Err(why) => Err(differs(format!("is not as you trusted it: {why}"))),
        },
    }
}
