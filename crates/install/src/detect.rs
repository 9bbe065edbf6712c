//! Which agents are on the machine.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::places::Places;
use crate::table::Row;

/// How an agent was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detection {
    /// Its program is on the search path.
    Program(PathBuf),
    /// Its folder exists.
    Folder(PathBuf),
}

impl Row {
    /// Whether this agent is on the machine, and how it was found.
    #[must_use]
    pub fn detect(&self, places: &Places) -> Option<Detection> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        let all =
            places.search_path.iter().flat_map(|folder| self.programs.iter().map(|name| folder.join(name)));
        let program = { all }.find(is_program).map(Detection::Program);
        let folder = || Some(self.folder.of(places)).filter(|folder| folder.is_dir()).map(Detection::Folder);
        program.or_else(folder)
    }
}
