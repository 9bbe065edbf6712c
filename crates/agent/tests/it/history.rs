//! The shadow repository, with the real git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crosier_agent::history::{EntryKind, History, HistoryConfig, HistoryError, Restored, ShadowGit};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(crate) fn config(&self) -> HistoryConfig {
        HistoryConfig::new(self.folder.path().join("work"), self.folder.path().join("state/history"))
    }

    pub(crate) async fn open(&self) -> ShadowGit {
        ShadowGit::open(self.config()).await.unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("work").join(path)
    }

    pub(crate) fn file(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let repository = self.folder.path().join("state/history");
        let ran = Command::new("git").arg("--git-dir").arg(repository).args(args).output().unwrap();
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }
}

async fn listed(history: &ShadowGit, path: Option<&str>) -> Vec<(EntryKind, String, String)> {
    let entries = history.list(path, 100).await.unwrap();
    entries.into_iter().map(|entry| (entry.kind, entry.path, entry.message)).collect()
}

#[tokio::test]
async fn a_write_is_written_and_kept() {
    let place = Place::new();
    let history = place.open().await;
    assert_eq!(history.list(None, 10).await.unwrap(), []);
    let first = history.write("src/a.rs", b"one\n", "Write src/a.rs").await.unwrap();
    assert_eq!(place.text("src/a.rs"), "one\n");
    let second = history.write("./src/a.rs", b"two\n", "Edit\n\nwith more").await.unwrap();
    assert_ne!(first, second);
    assert_eq!(
        listed(&history, None).await,
        [
            (EntryKind::Written, "src/a.rs".to_owned(), "Edit\n\nwith more".to_owned()),
            (EntryKind::Written, "src/a.rs".to_owned(), "Write src/a.rs".to_owned()),
        ]
    );
    let diff = history.diff(second.as_str()).await.unwrap();
    assert!(diff.contains("--- a/src/a.rs\n+++ b/src/a.rs\n") && diff.contains("\n-one\n+two\n"), "{diff}");
    assert!(
        history.diff(first.short()).await.unwrap().contains("\n+one\n"),
        "the first commit has a diff too"
    );
    assert_eq!(history.show(first.as_str(), "src/a.rs").await.unwrap(), b"one\n");
    let author = place.git(&["log", "-1", "--format=%an <%ae> %cn"]);
    assert_eq!(author, "Crosier <crosier@localhost> Crosier\n");
    assert_eq!(place.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[tokio::test]
async fn what_was_there_before_is_kept_once() {
    let place = Place::new();
    place.file("a.txt", "the user's\n");
    let history = place.open().await;
    history.write("a.txt", b"agent 1\n", "1").await.unwrap();
    history.write("a.txt", b"agent 2\n", "2").await.unwrap();
    place.file("a.txt", "the user's again\n");
    history.write("a.txt", b"agent 3\n", "3").await.unwrap();
    // Another session knows what the history has.
    let history = place.open().await;
    history.write("a.txt", b"agent 4\n", "4").await.unwrap();
    let entries = history.list(Some("a.txt"), 100).await.unwrap();
    let kinds: Vec<EntryKind> = entries.iter().rev().map(|entry| entry.kind).collect();
    use EntryKind::{Kept, Written};
    assert_eq!(kinds, [Kept, Written, Written, Kept, Written, Written]);
    let versions = entries.iter().rev().map(|entry| entry.commit.as_str());
    let mut contents = Vec::new();
    for version in versions {
        contents.push(String::from_utf8(history.show(version, "a.txt").await.unwrap()).unwrap());
    }
    assert_eq!(
        contents,
        ["the user's\n", "agent 1\n", "agent 2\n", "the user's again\n", "agent 3\n", "agent 4\n"]
    );
}

#[tokio::test]
async fn files_are_restored_and_nothing_is_lost_by_it() {
    let place = Place::new();
    place.file("a.txt", "the user's\n");
    fs::set_permissions(place.path("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let history = place.open().await;
    let written = history.write("a.txt", b"agent\n", "w").await.unwrap();
    let kept = history.list(None, 10).await.unwrap().pop().unwrap();
    assert_eq!(kept.kind, EntryKind::Kept);
    place.file("a.txt", "unsaved work\n");
    fs::set_permissions(place.path("a.txt"), fs::Permissions::from_mode(0o644)).unwrap();
    let restored = history.restore(kept.commit.short(), "a.txt").await.unwrap();
    assert!(matches!(restored, Restored::Written(_)));
    assert_eq!(place.text("a.txt"), "the user's\n");
    assert_eq!(fs::metadata(place.path("a.txt")).unwrap().permissions().mode() & 0o777, 0o755);
    let kinds: Vec<_> = listed(&history, None).await.into_iter().map(|(kind, ..)| kind).collect();
    use EntryKind::{Kept, Restored as Back, Written};
    assert_eq!(kinds, [Back, Kept, Written, Kept], "unsaved work is kept before it is replaced");
    // Also when the file is gone meanwhile.
    fs::remove_file(place.path("a.txt")).unwrap();
    history.restore(written.as_str(), "a.txt").await.unwrap();
    assert_eq!(place.text("a.txt"), "agent\n");
}

#[tokio::test]
async fn a_file_that_the_agent_made_goes_again_and_one_of_the_user_does_not() {
    let place = Place::new();
    let history = place.open().await;
    let early = history.write("first.txt", b"x", "1").await.unwrap();
    history.write("made.txt", b"made\n", "2").await.unwrap();
    place.file("users.txt", "precious\n");
    history.write("users.txt", b"agent\n", "3").await.unwrap();
    assert!(matches!(history.restore(early.as_str(), "made.txt").await.unwrap(), Restored::Removed(_)));
    assert!(!place.path("made.txt").exists());
    let entries = listed(&history, Some("made.txt")).await;
    assert_eq!(entries[0].0, EntryKind::Removed);
    let error = history.restore(early.as_str(), "users.txt").await.unwrap_err();
    assert!(matches!(&error, HistoryError::NoFile { first: Some(_), .. }), "{error}");
    assert!(error.to_string().contains("its first version is in"), "{error}");
    assert_eq!(place.text("users.txt"), "agent\n");
    let error = history.restore(early.as_str(), "never.txt").await.unwrap_err();
    assert!(matches!(error, HistoryError::NoFile { first: None, .. }), "{error}");
    // And back once more.
    let made = history.list(Some("made.txt"), 9).await.unwrap();
    history.restore(made[1].commit.as_str(), "made.txt").await.unwrap();
    assert_eq!(place.text("made.txt"), "made\n");
}

#[tokio::test]
async fn odd_names_and_bytes_survive() {
    let place = Place::new();
    let history = place.open().await;
    for path in [
        "a b",
        "\u{e4}\u{1f600}",
        "q\"uote",
        "new\nline",
        "back\\slash",
        "-dash",
        ":(glob)*",
        "*.rs",
        "x/ y/z ",
    ] {
        let content = [b"bytes \xff\x00 of ".as_slice(), path.as_bytes()].concat();
        let commit = history.write(path, &content, "odd").await.unwrap();
        assert_eq!(fs::read(place.path(path)).unwrap(), content, "{path:?}");
        assert_eq!(history.show(commit.as_str(), path).await.unwrap(), content, "{path:?}");
        let entries = listed(&history, Some(path)).await;
        assert_eq!(entries, [(EntryKind::Written, path.to_owned(), "odd".to_owned())]);
        history.restore(commit.as_str(), path).await.unwrap();
    }
    history.write("empty", b"", "").await.unwrap();
    assert_eq!(place.text("empty"), "");
    assert_eq!(place.git(&["fsck", "--strict", "--no-dangling"]), "");
}
