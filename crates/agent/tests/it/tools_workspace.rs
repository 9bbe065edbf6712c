//! Nothing outside the workspace is read or written, whatever the path.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crosier_agent::tool::Workspace;
use crosier_agent::tool::workspace::Refusal;
use serde_json::json;
use tempfile::TempDir;

use crate::tools::Lab;

struct Place {
    outer: TempDir,
    workspace: Workspace,
}

impl Place {
    /// `outer/secret`, `outer/work/{a, sub/b}`.
    fn new() -> Self {
        let outer = TempDir::new().unwrap();
        fs::create_dir_all(outer.path().join("work/sub")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(outer.path().join("work/a"), "a").unwrap();
        fs::write(outer.path().join("work/sub/b"), "b").unwrap();
        let workspace = Workspace::open(&outer.path().join("work")).unwrap();
        Self { outer, workspace }
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.outer.path().join("work").join(at)).unwrap();
    }

    fn read(&self, path: &str) -> Result<String, Refusal> {
        self.workspace.read_text(path).map_err(|error| error.refusal)
    }

    fn write(&self, path: &str) -> Result<(), Refusal> {
        let checked = self.workspace.check_write(path, b"new").map(drop).map_err(|error| error.refusal);
        let written = self.workspace.write(path, b"new").map_err(|error| error.refusal);
        assert_eq!(checked, written, "{path}: the check says what the write does");
        written
    }

    fn secret_is_untouched(&self) {
        assert_eq!(fs::read_to_string(self.outer.path().join("secret")).unwrap(), "secret");
    }
}

#[test]
fn paths_that_leave_the_workspace_are_refused() {
    let place = Place::new();
    let secret = place.outer.path().join("secret");
    let sibling = place.outer.path().join("workshop");
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("x"), "x").unwrap();
    for path in [
        "../secret",
        "sub/../../secret",
        "./../secret",
        "..",
        "/etc/passwd",
        "/",
        secret.to_str().unwrap(),
        sibling.join("x").to_str().unwrap(),
    ] {
        assert!(matches!(place.read(path), Err(Refusal::Outside { .. })), "read {path}");
        assert!(matches!(place.write(path), Err(Refusal::Outside { .. })), "write {path}");
    }
    for path in ["", "a\0b"] {
        assert!(matches!(place.read(path), Err(Refusal::BadPath { .. })), "{path:?}");
        assert!(matches!(place.write(path), Err(Refusal::BadPath { .. })), "{path:?}");
    }
    assert_eq!(place.read("sub/../a").unwrap(), "a");
    assert_eq!(place.read(&format!("{}/./a", place.workspace.root().display())).unwrap(), "a");
    place.secret_is_untouched();
}

#[test]
fn symlinks_out_of_the_workspace_are_refused() {
    let place = Place::new();
    place.link("../secret", "relative");
    place.link(place.outer.path().join("secret"), "absolute");
    place.link("..", "up");
    place.link("relative", "twice");
    place.link("/proc/self/root", "magic");
    for path in ["relative", "absolute", "up/secret", "twice", "magic/etc/passwd"] {
        assert_eq!(place.read(path), Err(Refusal::SymlinkOut), "read {path}");
        assert!(matches!(place.write(path), Err(Refusal::Symlink { .. })), "write {path}");
    }
    let error = place.workspace.write("up/secret", b"x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`up/secret` leads through the symlink `up` (to `..`); name the real path instead"
    );
    place.secret_is_untouched();
}

#[test]
fn symlinks_inside_are_read_and_not_written() {
    let place = Place::new();
    place.link("sub", "folder");
    place.link("a", "file");
    place.link("nowhere", "dangling");
    place.link("circle", "circle");
    assert_eq!(place.read("folder/b").unwrap(), "b");
    assert_eq!(place.read("file").unwrap(), "a");
    assert_eq!(place.read("dangling"), Err(Refusal::Missing));
    assert!(place.read("circle").is_err());
    for path in ["folder/b", "folder/new", "file", "dangling", "circle"] {
        assert!(matches!(place.write(path), Err(Refusal::Symlink { .. })), "write {path}");
    }
    assert_eq!(place.read("a").unwrap(), "a");
    assert!(!place.outer.path().join("work/nowhere").exists());
}

#[test]
fn git_folders_other_kinds_and_large_content_are_not_written() {
    let place = Place::new();
    for path in [".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", "sub/../.git/x"] {
        assert_eq!(place.write(path), Err(Refusal::Protected), "{path}");
    }
    assert_eq!(place.write("sub"), Err(Refusal::NotAFile { what: "a folder" }));
    assert_eq!(place.write("."), Err(Refusal::NotAFile { what: "a folder" }));
    assert_eq!(place.write("new/"), Err(Refusal::NotAFile { what: "a folder" }));
    assert_eq!(place.write("a/b"), Err(Refusal::NotAFolder));
    let small = Workspace::open(place.workspace.root()).unwrap().with_file_limit(2);
    assert_eq!(small.write("a", b"123").unwrap_err().refusal, Refusal::TooLarge { bytes: 3, limit: 2 });
    small.write("a", b"12").unwrap();
    assert_eq!(place.write("x/y/z"), Ok(()));
    assert_eq!(place.write(".gitignore"), Ok(()));
    assert_eq!(place.write("\u{e4}\n\"x"), Ok(()));
}

#[test]
fn permissions_stay_and_a_hard_link_outside_keeps_its_content() {
    let place = Place::new();
    let script = place.outer.path().join("work/run.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    let outside = place.outer.path().join("outside");
    fs::hard_link(&script, &outside).unwrap();
    assert_eq!(place.write("run.sh"), Ok(()));
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_to_string(outside).unwrap(), "old");
    place.workspace.remove("run.sh").unwrap();
    assert_eq!(place.workspace.remove("run.sh").unwrap_err().refusal, Refusal::Missing);
}

/// A symlink that is swapped in again and again never makes a write land outside, or a read come from there.
#[test]
fn a_symlink_swapped_in_while_it_is_used_leads_nowhere() {
    let place = Place::new();
    let work = place.outer.path().join("work");
    fs::create_dir(place.outer.path().join("trap")).unwrap();
    fs::write(place.outer.path().join("trap/b"), "secret").unwrap();
    fs::create_dir(work.join("swap")).unwrap();
    fs::write(work.join("swap/b"), "inside").unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let (work, done) = (work.clone(), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Relaxed) {
                let _ = fs::rename(work.join("swap"), work.join("aside"));
                let _ = symlink("../trap", work.join("swap"));
                let _ = fs::remove_file(work.join("swap"));
                let _ = fs::rename(work.join("aside"), work.join("swap"));
            }
        }
    });
    for _ in 0..2000 {
        if let Ok(text) = place.workspace.read_text("swap/b") {
            assert_ne!(text, "secret");
        }
        let _ = place.workspace.write("swap/b", b"inside");
    }
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    let trapped: Vec<_> = fs::read_dir(place.outer.path().join("trap")).unwrap().collect();
    assert_eq!(trapped.len(), 1);
    assert_eq!(fs::read_to_string(place.outer.path().join("trap/b")).unwrap(), "secret");
}

#[test]
fn two_writers_of_one_new_folder_both_succeed() {
    let place = Place::new();
    for round in 0..20 {
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let workspace = &place.workspace;
                scope.spawn(move || workspace.write(&format!("r{round}/x/y/{writer}"), b"x").unwrap());
            }
        });
    }
}

#[tokio::test]
async fn every_file_tool_keeps_inside() {
    let lab = Lab::new();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("f"), "secret").unwrap();
    symlink(outside.path(), lab.folder.path().join("out")).unwrap();
    let absolute = outside.path().join("f");
    for path in ["out/f", "../f", absolute.to_str().unwrap()] {
        for (tool, input) in [
            ("Read", json!({"path": path})),
            ("Write", json!({"path": path, "content": "x"})),
            ("Edit", json!({"path": path, "old": "secret", "new": "x"})),
            ("Grep", json!({"path": path, "pattern": "secret"})),
            ("Glob", json!({"path": path, "pattern": "*"})),
        ] {
            let error = lab.error(tool, input).await;
            assert!(
                error.contains("outside the workspace") || error.contains("symlink"),
                "{tool} {path}: {error}"
            );
        }
    }
    assert_eq!(lab.ok("Grep", json!({"pattern": "secret"})).await, "[no lines match]");
    assert_eq!(lab.ok("Glob", json!({"pattern": "f"})).await, "[no files match]");
    assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "secret");
}
