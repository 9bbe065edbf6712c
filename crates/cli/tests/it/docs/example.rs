//! Every folder of `examples/`: its README is played in a copy of it, its cases pass.

use std::fs;
use std::path::{Path, PathBuf};

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

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
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
