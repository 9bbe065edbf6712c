//! What the shadow repository refuses, what it never touches, and what goes wrong.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crosier_agent::history::{History, HistoryConfig, HistoryError, ShadowGit};

use crate::history::Place;

#[tokio::test]
async fn paths_that_are_not_the_agents_are_refused_and_nothing_is_written() {
    let place = Place::new();
    let secret = place.folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    symlink("../secret", place.path("link")).unwrap();
    symlink("..", place.path("up")).unwrap();
    let history = place.open().await;
    for path in
        ["../secret", "link", "up/secret", secret.to_str().unwrap(), ".git/config", "x/.git/hooks/a", ".", ""]
    {
        let error = history.write(path, b"x", "m").await.unwrap_err();
        assert!(matches!(error, HistoryError::Refused(_)), "{path}: {error}");
        let error = history.record(path, b"x", "m").await.unwrap_err();
        assert!(matches!(error, HistoryError::Refused(_)), "{path}: {error}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(history.list(None, 9).await.unwrap(), []);
    let small = HistoryConfig { file_limit: 4, ..place.config() };
    let small = ShadowGit::open(small).await.unwrap();
    let error = small.write("big", b"12345", "m").await.unwrap_err();
    assert_eq!(error.to_string(), "`big` is too large: 5 bytes, the limit is 4");
    place.file("big", "user's, too large to keep");
    assert!(matches!(small.write("big", b"1", "m").await.unwrap_err(), HistoryError::Refused(_)));
    assert_eq!(place.text("big"), "user's, too large to keep", "what cannot be kept is not overwritten");
}

#[tokio::test]
async fn commits_that_are_none_are_refused() {
    let place = Place::new();
    let history = place.open().await;
    let commit = history.write("a", b"x", "m").await.unwrap();
    for id in
        ["", "main", "HEAD", "--help", "../x", "deadbeef", "zzzz", &"0".repeat(40), &format!("{commit}^")]
    {
        for error in [
            history.diff(id).await.unwrap_err(),
            history.show(id, "a").await.unwrap_err(),
            history.restore(id, "a").await.unwrap_err(),
        ] {
            assert_eq!(error, HistoryError::NoCommit { commit: id.to_owned() });
        }
    }
    let error = history.show(commit.as_str(), "b").await.unwrap_err();
    assert_eq!(error.to_string(), format!("commit {commit} has no file `b`"));
    history.write("d/e", b"x", "m").await.unwrap();
    let commit = history.list(None, 1).await.unwrap().remove(0).commit;
    assert!(history.show(commit.as_str(), "d").await.is_err(), "a folder is no file");
}

#[tokio::test]
async fn without_git_there_is_a_clear_error() {
    let place = Place::new();
    let config = HistoryConfig { search_path: "/nowhere".into(), ..place.config() };
    let error = ShadowGit::open(config).await.unwrap_err();
    assert!(matches!(error, HistoryError::NoGit { .. }), "{error}");
    assert!(error.to_string().starts_with("history needs git, and `git` cannot be started: "), "{error}");
    assert!(!place.folder.path().join("state").exists(), "nothing is left behind");
}

#[tokio::test]
async fn a_repository_in_the_workspace_or_of_somebody_else_is_refused() {
    let place = Place::new();
    let work = place.folder.path().join("work");
    symlink(&work, place.folder.path().join("alias")).unwrap();
    for repository in [
        work.clone(),
        work.join(".git"),
        work.join("x/y"),
        place.folder.path().join("alias/h"),
        place.folder.path().to_owned(),
    ] {
        let error = ShadowGit::open(HistoryConfig { repository: repository.clone(), ..place.config() })
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("it must be outside the workspace"),
            "{}: {error}",
            repository.display()
        );
    }
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
    let foreign = place.folder.path().join("foreign");
    let ran = Command::new("git").args(["init", "--quiet"]).arg(&foreign).status().unwrap();
    assert!(ran.success());
    for repository in [foreign.clone(), foreign.join(".git")] {
        let error = ShadowGit::open(HistoryConfig { repository, ..place.config() }).await.unwrap_err();
        assert!(error.to_string().contains("there is something else in its place"), "{error}");
    }
}

/// A user's repository with hooks, and a user's configuration that would break ours.
#[tokio::test]
async fn the_users_git_is_neither_touched_nor_heard() {
    let place = Place::new();
    let work = place.folder.path().join("work");
    let user = |args: &[&str]| {
        let ran = Command::new("git")
            .current_dir(&work)
            .args(["-c", "user.name=u", "-c", "user.email=u@u"])
            .args(args)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    user(&["init", "--quiet"]);
    place.file("a.txt", "x\n");
    user(&["add", "a.txt"]);
    user(&["commit", "--quiet", "-m", "first"]);
    let hook = "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n";
    for name in ["pre-commit", "post-commit", "reference-transaction", "commit-msg"] {
        let path = work.join(".git/hooks").join(name);
        fs::write(&path, hook).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let snapshot = |folder: &Path| {
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    files.push((path.clone(), fs::read(&path).unwrap()))
                }
            }
        }
        files.sort();
        files
    };
    let before = snapshot(&work.join(".git"));
    let history = place.open().await;
    history.write("a.txt", b"y\n", "m").await.unwrap();
    history.write("b.txt", b"y\n", "m").await.unwrap();
    let entries = history.list(None, 9).await.unwrap();
    history.restore(entries[2].commit.as_str(), "a.txt").await.unwrap();
    history.tidy().await.unwrap();
    assert!(before == snapshot(&work.join(".git")), "not a byte of the user's .git is changed");
    let shadow = place.folder.path().join("state/history");
    assert_eq!(fs::metadata(&shadow).unwrap().permissions().mode() & 0o077, 0, "nobody else may look");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_in_one_process_all_succeed() {
    let place = Place::new();
    let history = Arc::new(place.open().await);
    let writers = (0..12).map(|number| {
        let history = Arc::clone(&history);
        tokio::spawn(async move {
            let own = history.write(&format!("f{number}"), b"x", "own").await.unwrap();
            let shared = history.write("shared", format!("{number}").as_bytes(), "shared").await.unwrap();
            (own, shared)
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let entries = history.list(None, 100).await.unwrap();
    assert_eq!(entries.len(), 24, "nothing is kept twice, nothing is lost");
    let last = history.list(Some("shared"), 1).await.unwrap().remove(0);
    let content = history.show(last.commit.as_str(), "shared").await.unwrap();
    assert_eq!(content, place.text("shared").as_bytes(), "file and history agree on who was last");
}

/// Several histories on one repository stand for several processes: nothing but the repository joins them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_in_several_processes_all_succeed() {
    let place = Place::new();
    let writers = (0..5).map(|number| {
        let config = place.config();
        tokio::spawn(async move {
            let history = ShadowGit::open(config).await.unwrap();
            for round in 0..4 {
                history.write(&format!("w{number}/r{round}"), b"x", "m").await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let history = place.open().await;
    assert_eq!(history.list(None, 100).await.unwrap().len(), 20);
    assert_eq!(place.git(&["fsck", "--strict", "--no-dangling"]), "");
    assert_eq!(place.git(&["rev-list", "--count", "--merges", "main"]), "0\n");
}

#[tokio::test]
async fn a_write_that_cannot_be_kept_says_that_it_is_written() {
    let place = Place::new();
    let history = place.open().await;
    history.write("a", b"1", "m").await.unwrap();
    let shadow = place.folder.path().join("state/history");
    fs::rename(shadow.join("objects"), shadow.join("gone")).unwrap();
    let error = history.write("a", b"2", "m").await.unwrap_err();
    assert!(matches!(error, HistoryError::NotKept { .. }), "{error}");
    assert!(error.to_string().starts_with("`a` is written, but not kept in the history: git "), "{error}");
    assert_eq!(place.text("a"), "2");
    // What nobody has kept yet is not overwritten.
    place.file("b", "precious");
    assert!(history.write("b", b"2", "m").await.is_err());
    assert_eq!(place.text("b"), "precious");
}
