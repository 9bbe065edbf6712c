//! The folders of a project that can have a configuration.

use std::path::{Path, PathBuf};

use crate::discover::Places;
use crate::owner;

/// The folders between the project folder and the root of its repository, the outermost first.
///
/// Without a repository, only the project folder. A folder that a person has trusted applies to everything below
/// it, even across a repository in between. The home folder, `/` and folders that others can write to never count:
/// a file there would apply to everything.
#[must_use]
pub fn project_folders(places: &Places) -> Vec<PathBuf> {
    let (project, home) = (places.real_project(), places.real_home());
    let is_trusted = |folder: &Path| places.trusted.iter().any(|trusted| trusted == folder);
    let all: Vec<&Path> = project.ancestors().collect();
    let repository = all.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    let trusted = all.iter().rposition(|folder| is_trusted(folder)).unwrap_or(0);
    let outermost = repository.max(trusted);
    let usable = |folder: &&Path| {
        folder.parent().is_some() && home.as_deref() != Some(*folder) && !owner::is_writable_by_others(folder)
    };
    let mut folders: Vec<PathBuf> =
        all.iter().take(outermost + 1).copied().filter(usable).map(Path::to_owned).collect();
    folders.reverse();
    folders
}
