//! The list of folders that were ever trusted, in the person's configuration folder.
//!
//! Removing a record from the state folder does not make its project "never trusted": a folder on this list that
//! has no record is closed. Only a person removes it from the list, with `crosier trust --revoke`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crosier_layers::{Person, read_own};

use crate::state;

const FILE: &str = "trusted.json";

/// Where the list is.
pub(crate) fn file(config: &Path) -> PathBuf {
    config.join(FILE)
}

/// The list.
///
/// # Errors
/// When it exists and cannot be read.
pub(crate) fn read(config: Option<&Path>, person: Person) -> Result<Vec<PathBuf>, String> {
    let Some(config) = config else { return Ok(Vec::new()) };
    let path = file(config);
    let failed = |why: String| {
        format!(
            "the list of trusted projects {} {why}; fix it, or remove it and run crosier trust again",
            crate::show::path(&path)
        )
    };
    // If the folder is missing, or is not a folder, there is no list.
    if fs::symlink_metadata(&path).is_err_and(|error| super::stamp::is_missing(&error)) {
        return Ok(Vec::new());
    }
    match read_own(&path, person) {
        Ok(Some(bytes)) => serde_json::from_slice(&bytes).map_err(|_| failed("is not valid".to_owned())),
        Ok(None) => Ok(Vec::new()),
        Err(why) => Err(failed(format!("is refused: {why}"))),
    }
}

/// Puts a folder on the list, or takes it off.
///
/// # Errors
/// When the list cannot be read or written.
pub(crate) fn change(config: &Path, person: Person, folder: &Path, is_on: bool) -> Result<(), String> {
    let failed =
        |error: io::Error| format!("{} cannot be written: {error}", crate::show::path(&file(config)));
    state::make(config).map_err(failed)?;
    let mut list = read(Some(config), person)?;
    if list.iter().any(|other| other == folder) == is_on {
        return Ok(());
    }
    match is_on {
        true => list.push(folder.to_owned()),
        false => list.retain(|other| other != folder),
    }
    list.sort();
    let text = serde_json::to_string_pretty(&list).map_err(|error| error.to_string())?;
    state::write_whole(&file(config), text.as_bytes()).map_err(failed)
}
