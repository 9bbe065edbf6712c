//! Attacks on which project it is: folders, repositories, clones, modes.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{Machine, copy_folder, event, feed};

#[test]
fn a_folder_below_does_not_get_away() {
    let machine = Machine::trusted();
    fs::create_dir_all(machine.path("project/a/b")).unwrap();
    machine.is_guarded("project/a/b");
    // A repository of its own, a worktree or a submodule.
    fs::create_dir(machine.path("project/a/.git")).unwrap();
    machine.is_guarded("project/a/b");
    fs::remove_dir(machine.path("project/a/.git")).unwrap();
    machine.write("project/a/b/.git", "gitdir: /nowhere\n");
    machine.is_guarded("project/a/b");
    // A nearer configuration that nobody trusts adds nothing and takes nothing away.
    machine.write(
        "project/a/b/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, command: 'touch /tmp/never'}]}",
    );
    machine.is_guarded("project/a/b");
    // No repository at all.
    fs::remove_dir(machine.path("project/.git")).unwrap();
    machine.is_guarded("project/a/b");
}

#[test]
fn every_folder_up_to_the_repository_is_a_layer() {
    let machine = Machine::new();
    machine.write("project/a/crosier.yaml", "hooks: {PreToolUse: [{name: inner, command: 'exit 0'}]}");
    machine.trust("project/a");
    machine.is_guarded("project/a");
    let listed = machine.run("project/a", &["trust", "--list", "--json"]).exits(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    machine.write("project/a/crosier.yaml", "hooks: {PreToolUse: [{name: inner, command: 'exit 1'}]}");
    machine.is_closed("project/a", "crosier.yaml changed");
    machine.is_guarded("project");
}

#[test]
fn clones_and_moved_projects_are_never_trusted() {
    let machine = Machine::trusted();
    copy_folder(&machine.path("project"), &machine.path("clone"));
    machine.is_never_trusted("clone");
    machine.run("clone", &["trust"]).exits(1).says("The same content as").says("trusted on");
    fs::rename(machine.path("project"), machine.path("moved")).unwrap();
    machine.is_never_trusted("moved");
    // The agent still calls the old folder its project.
    let mut command = machine.command("moved", &["hook", "claude"]);
    command.env("CLAUDE_PROJECT_DIR", machine.path("project"));
    let ran = feed(command, &event("PreToolUse", "ls").to_string()).exits(0);
    assert!(ran.stdout.contains("deny") && ran.stdout.contains("is gone"), "{}", ran.stdout);
}

#[test]
fn a_real_worktree_is_a_place_of_its_own() {
    let machine = Machine::new();
    fs::remove_dir(machine.path("project/.git")).unwrap();
    let git = |args: &[&str]| {
        let status = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(args)
            .current_dir(machine.path("project"))
            .env("HOME", machine.path("home"))
            .output()
            .unwrap();
        assert!(status.status.success(), "{args:?}");
    };
    git(&["init", "-q", "."]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    machine.trust("project");
    git(&["worktree", "add", "-q", "../tree"]);
    machine.is_guarded("project");
    machine.is_never_trusted("tree");
    git(&["worktree", "add", "-q", "inside"]);
    machine.is_guarded("project/inside");
}

#[test]
fn a_real_submodule_is_below_its_project() {
    let machine = Machine::new();
    fs::remove_dir(machine.path("project/.git")).unwrap();
    let git = |folder: &str, args: &[&str]| {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "protocol.file.allow=always",
        ]);
        command.args(args).current_dir(machine.path(folder)).env("HOME", machine.path("home"));
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{args:?}: {ran:?}");
    };
    machine.write("part/crosier.yaml", "hooks: {PreToolUse: [{name: part, command: 'touch ran'}]}");
    for folder in ["part", "project"] {
        git(folder, &["init", "-q", "."]);
        git(folder, &["add", "."]);
        git(folder, &["commit", "-qm", "x"]);
    }
    git("project", &["submodule", "add", "-q", machine.path("part").to_str().unwrap(), "vendor/part"]);
    machine.trust("project");
    machine.is_guarded("project/vendor/part");
    machine.fire("project/vendor/part").complains("they are not trusted");
    assert!(!machine.path("project/vendor/part/ran").exists());
    machine.trust("project/vendor/part");
    machine.fire("project/vendor/part");
    machine.is_guarded("project/vendor/part");
    git("project/vendor/part", &["checkout", "-q", "-b", "other"]);
    machine.write("project/vendor/part/crosier.yaml", "hooks: {}");
    machine.is_closed("project/vendor/part", "crosier.yaml changed");
    machine.is_guarded("project");
}

#[test]
fn a_project_behind_a_link_is_the_project() {
    let machine = Machine::trusted();
    std::os::unix::fs::symlink(machine.path("project"), machine.path("link")).unwrap();
    machine.is_guarded("link");
    let ran = machine.hook("link", &["claude"], &event("PreToolUse", "ls"), &[]).exits(0);
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
    machine.run("home", &["trust", "--revoke", machine.path("link").to_str().unwrap()]).exits(0);
    machine.is_never_trusted("project");
}

#[test]
fn home_root_and_folders_of_others_are_no_projects() {
    let machine = Machine::new();
    machine.write("home/crosier.yaml", super::CONFIG);
    machine.run("home", &["trust", "--yes"]).exits(78);
    machine.set_mode("project", 0o777);
    machine.run("project", &["trust", "--yes"]).exits(78).complains("others can write");
    machine.set_mode("project", 0o755);
    machine.trust("project");
    // Opening it to others does not make the policy vanish.
    machine.set_mode("project", 0o777);
    machine.is_closed("project", "others can write");
}

/// What an agent that only names its current folder gets.
fn call_of_codex(machine: &Machine, session: &str, folder: &str) -> String {
    let mut event = event("PreToolUse", "ls");
    event["session_id"] = json!(session);
    event["cwd"] = json!(machine.path(folder));
    let mut command = machine.command(folder, &["hook", "codex"]);
    command.env_remove("CLAUDE_PROJECT_DIR");
    feed(command, &event.to_string()).exits(0).stdout
}

#[test]
fn an_agent_that_only_says_where_it_is_stays_in_its_project() {
    let machine = Machine::trusted();
    fs::create_dir_all(machine.path("elsewhere")).unwrap();
    let call = |session: &str, folder: &str| call_of_codex(&machine, session, folder);
    assert!(call("one", "project").contains("the guard says no"));
    assert!(call("one", "elsewhere").contains("the guard says no"), "a cd takes nothing away");
    assert_eq!(call("two", "elsewhere"), "");
    assert!(call("two", "project").contains("the guard says no"), "a cd can add a project");
    assert!(call("two", "elsewhere").contains("the guard says no"), "and the next one does not take it away");
    // A folder without a policy is not remembered: there are many of them.
    for number in 0..70 {
        fs::create_dir_all(machine.path(&format!("plain/{number}"))).unwrap();
        call("three", &format!("plain/{number}"));
    }
    call("three", "project");
    assert!(call("three", "elsewhere").contains("the guard says no"));
}

#[test]
fn a_session_that_is_in_use_keeps_its_project() {
    let machine = Machine::trusted();
    fs::create_dir_all(machine.path("elsewhere")).unwrap();
    let call = |session: &str, folder: &str| call_of_codex(&machine, session, folder);
    call("long", "project");
    let pin = machine.path("home/.local/state/crosier/pin/codex-long");
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&pin).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 3600);
    fs::File::options().write(true).open(&pin).unwrap().set_modified(past).unwrap();
    assert!(call("long", "elsewhere").contains("the guard says no"));
    call("other", "elsewhere");
    assert!(call("long", "elsewhere").contains("the guard says no"), "a new session does not remove it");
}

#[test]
fn a_users_file_that_others_can_write_is_closed() {
    let machine = Machine::trusted();
    machine.write("home/.config/crosier/crosier.yaml", "hooks: {Stop: [{command: 'true'}]}");
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o644);
    machine.is_guarded("project");
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o666);
    machine.is_closed("project", "everybody can write to it");
}
