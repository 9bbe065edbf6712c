//! Every folder of `examples/`: its README is played in a copy of it, its cases pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{markdown, play::Play, repository};

pub(super) fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(repository().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort_unstable();
    assert!(folders.len() >= 9, "only {folders:?}");
    folders
}

/// Another process writes the copy: a program that this one had open for writing could not be started while another
/// test forks.
fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).status().unwrap();
    assert!(done.success(), "{} could not be copied", from.display());
}

fn play(folder: &Path) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.lines().count() <= 40, "{name}/README.md has more than 40 lines");
    let work = tempfile::tempdir().unwrap();
    copy(folder, work.path());
    let shows_cases = readme.contains("$ crosier test cases.yaml\n");
    assert!(shows_cases && work.path().join("cases.yaml").exists(), "{name} shows and has no cases");
    let commands = Play::new(&format!("examples/{name}/README.md"), work.path()).all(&readme);
    assert!(commands >= 2, "{name}/README.md shows the cases and nothing else");
    for block in markdown::blocks(&readme) {
        assert!(block.file.is_none(), "{name}/README.md writes {:?}: its files lie beside it", block.file);
    }
}

#[test]
fn every_example_does_what_its_readme_shows() {
    std::thread::scope(|scope| {
        let plays: Vec<_> = folders().into_iter().map(|folder| scope.spawn(move || play(&folder))).collect();
        for done in plays {
            done.join().unwrap_or_else(|why| std::panic::resume_unwind(why));
        }
    });
}
