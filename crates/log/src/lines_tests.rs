use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

const SMALL: Lines = Lines { name: "log.jsonl", most_bytes: 4_000, files: 5 };
const LARGE: Lines = Lines { name: "log.jsonl", most_bytes: 100_000, files: 5 };

fn all(lines: &Lines, folder: &Path) -> Vec<String> {
    let mut text = String::new();
    for mut file in lines.open_all(folder).unwrap() {
        file.read_to_string(&mut text).unwrap();
    }
    text.lines().map(str::to_owned).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_bounded_and_for_their_owner_only() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("deep/log");
    for number in 0..2_000 {
        SMALL.append(&folder, &format!("line {number:06}\n")).unwrap();
    }
    assert_eq!(mode(&folder), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        assert_eq!(mode(&entry.path()), 0o600);
        assert!(entry.metadata().unwrap().len() <= SMALL.most_bytes);
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["lock", "log.jsonl", "log.jsonl.1", "log.jsonl.2", "log.jsonl.3", "log.jsonl.4"]);
    let kept = all(&SMALL, &folder);
    assert_eq!(kept.last().unwrap(), "line 001999");
    assert!(kept.is_sorted() && kept.len() > 1_300, "{} lines", kept.len());
}

#[test]
fn forty_writers_lose_nothing_and_mix_nothing_while_files_are_renamed() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("log");
    std::thread::scope(|scope| {
        for writer in 0..40 {
            let folder = &folder;
            scope.spawn(move || {
                for number in 0..100 {
                    LARGE.append(folder, &format!("{writer:02} {number:03} {}\n", "x".repeat(60))).unwrap();
                }
            });
        }
    });
    let lines = all(&LARGE, &folder);
    assert!(lines.iter().all(|line| line.len() == 67), "a line is torn");
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), 4_000);
    assert!(folder.join("log.jsonl.1").exists() && !folder.join("log.jsonl.4").exists());
}

#[test]
fn links_are_not_followed() {
    let state = tempfile::tempdir().unwrap();
    let (folder, other) = (state.path().join("log"), state.path().join("other"));
    fs::create_dir(&other).unwrap();
    symlink(&other, &folder).unwrap();
    SMALL.append(&folder, "x\n").unwrap_err();
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(other.join("file"), "untouched").unwrap();
    symlink(other.join("file"), folder.join("log.jsonl")).unwrap();
    let error = SMALL.append(&folder, "x\n").unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(fs::read_to_string(other.join("file")).unwrap(), "untouched");
    SMALL.open_all(&folder).unwrap_err();
}

#[test]
fn what_others_could_read_is_closed_to_them_and_a_pipe_is_refused() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("log");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(folder.join("log.jsonl"), "").unwrap();
    fs::set_permissions(folder.join("log.jsonl"), fs::Permissions::from_mode(0o666)).unwrap();
    SMALL.append(&folder, "x\n").unwrap();
    assert_eq!((mode(&folder), mode(&folder.join("log.jsonl"))), (0o700, 0o600));
    fs::remove_file(folder.join("log.jsonl")).unwrap();
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(folder.join("log.jsonl")).status();
    assert!(made.unwrap().success());
    SMALL.append(&folder, "x\n").unwrap_err();
}
