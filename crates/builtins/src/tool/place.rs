//! The folder in which a call runs, when it names one.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crosier::Json;

use super::lowercase;
use crate::path::Places;

/// Fields that say where a command runs.
const FOLDERS: &[&str] = &[
    "workdir",
    "cwd",
    "working_directory",
    "working_dir",
    "workingdirectory",
    "workingdir",
    "work_dir",
    "dir",
    "directory",
    "dir_path",
    "dirpath",
    "current_dir",
    "current_directory",
    "currentdirectory",
    "start_dir",
    "folder",
];

/// The folder in which a call runs: the one that it names, or that of the event.
pub(super) fn folder<'a>(fields: &[(String, Json)], cwd: &'a Path) -> Cow<'a, Path> {
    named(fields, cwd).next().map_or(Cow::Borrowed(cwd), Cow::Owned)
}

/// Every folder in which a call can run. It is not known which of several fields a tool uses.
pub(crate) fn folders(input: &Json, cwd: &Path) -> Vec<PathBuf> {
    let fields = input.entries().unwrap_or_default();
    let found: Vec<PathBuf> = named(&fields, cwd).collect();
    if found.is_empty() { vec![cwd.to_owned()] } else { found }
}

fn named<'f>(fields: &'f [(String, Json)], cwd: &'f Path) -> impl Iterator<Item = PathBuf> + 'f {
    fields.iter().filter(|(name, _)| FOLDERS.contains(&&*lowercase(name))).filter_map(move |(_, value)| {
        let text = value.as_str().filter(|text| !text.is_empty())?;
        Some(Places { cwd, home: None }.lexical(&text))
    })
}
