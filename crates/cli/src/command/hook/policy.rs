//! The policy in force for an event: which files, and what they come to.

use std::path::{Path, PathBuf};

use crate::command::fire::background;
use crate::exit::Failed;
use crate::setup::{self, DEFAULT_CONFIG, Hooks};

/// What judges an event.
#[derive(Debug)]
pub(super) enum Policy {
    /// These hooks.
    Loaded(Box<Hooks>),
    /// Nothing: there is no configuration.
    None,
    /// Nothing can be judged, for this reason.
    Closed(String),
}

/// Loads the policy: the named files, or those of the project.
pub(super) fn in_force(named: &[PathBuf], project: &Path) -> Policy {
    let files = if named.is_empty() { of_project(project) } else { named.to_vec() };
    if files.is_empty() {
        return Policy::None;
    }
    let launch = background::launcher(&files);
    match setup::hooks(&files, |builder| builder.folder(project).launcher(launch)) {
        Ok(hooks) => Policy::Loaded(Box::new(hooks)),
        Err(failed) => Policy::Closed(one_line(&failed, &files)),
    }
}

/// Every file from the project's folder up to the root of its repository, outermost first; without a repository, that
/// of the folder.
fn of_project(project: &Path) -> Vec<PathBuf> {
    let root = project.ancestors().find(|folder| folder.join(".git").exists());
    let mut files = Vec::new();
    for folder in project.ancestors() {
        let file = folder.join(DEFAULT_CONFIG);
        // What cannot be looked at is there: it is refused when it is read.
        if file.try_exists().unwrap_or(true) {
            files.push(file);
        }
        if root.is_none_or(|root| root == folder) {
            break;
        }
    }
    files.reverse();
    files
}

/// The first thing that is wrong, in one line that a person can act on.
fn one_line(failed: &Failed, files: &[PathBuf]) -> String {
    let first: Vec<&str> =
        failed.message.lines().map(str::trim).filter(|line| !matches!(*line, "" | "|")).take(2).collect();
    let files: Vec<String> = files.iter().map(|file| format!(" -c {}", file.display())).collect();
    format!("{}; run: crosier check{}", first.join(" "), files.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_project_are_those_up_to_the_root_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repo");
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        for place in [folder.path(), &root, &root.join("a")] {
            std::fs::write(place.join(DEFAULT_CONFIG), "").unwrap();
        }
        assert_eq!(of_project(&inner), Vec::<PathBuf>::new(), "without a repository: the folder alone");
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(of_project(&inner), [root.join(DEFAULT_CONFIG), root.join("a").join(DEFAULT_CONFIG)]);
    }
}
