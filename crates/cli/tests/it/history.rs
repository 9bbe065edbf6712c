//! `crosier history` beside a real repository of the user, which it never touches.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::run_lab::Agent;

const WRITES: &str = "
- {tools: [{name: Write, input: {path: src/a.txt, content: \"first\\n\"}}]}
- {tools: [{name: Write, input: {path: old.txt, content: \"the agent's\\n\"}}]}
- {tools: [{name: Edit, input: {path: src/a.txt, old: first, new: second}}]}
- {say: Done.}
";

/// Every file beneath a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A folder with a repository of the user, in which the agent has written.
fn written() -> (Agent, BTreeMap<String, Vec<u8>>) {
    let agent = Agent::new();
    agent.lab.write("old.txt", "the user's\n");
    for args in [&["init", "-q"][..], &["add", "old.txt"]] {
        let status = Command::new("git").args(args).current_dir(agent.lab.path("")).status().unwrap();
        assert!(status.success());
    }
    let git = files(&agent.lab.path(".git"));
    agent.play(WRITES, &["write", "--permission-mode", "acceptEdits"]).exits(0);
    (agent, git)
}

/// The ids of the versions of a file, newest first.
fn versions(agent: &Agent, path: &str) -> Vec<(String, String)> {
    let listed = agent.history(&["list", path, "--json"]).exits(0).json();
    let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(|entry| (text(entry, "commit"), text(entry, "kind"))).collect()
}

#[test]
fn versions_are_listed_shown_compared_and_restored() {
    let (agent, git) = written();
    let ran = agent.history(&["list"]).exits(0);
    ran.says("COMMIT").says("src/a.txt").says("kept").says("main wrote old.txt");
    assert_eq!(ran.stdout.lines().count(), 5, "{}", ran.stdout);
    assert_eq!(agent.history(&["list", "--limit", "2"]).exits(0).stdout.lines().count(), 3);
    let edits = versions(&agent, "src/a.txt");
    let [(second, _), (first, _)] = &edits[..] else { panic!("{edits:?}") };
    assert_eq!(agent.history(&["show", first, "src/a.txt"]).exits(0).stdout, "first\n");
    agent.history(&["diff", second]).exits(0).says("-first").says("+second");
    // The first digits are enough.
    agent.history(&["restore", &first[..10], "src/a.txt"]).exits(0).says("src/a.txt is now as it was");
    assert_eq!(agent.lab.read("src/a.txt"), "first\n");
    let kinds: Vec<String> = versions(&agent, "src/a.txt").into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["restored", "written", "written"]);
    // What was there before the agent came is kept, too.
    let old = versions(&agent, "old.txt");
    assert_eq!(old[1].1, "kept");
    let done = agent.history(&["restore", &old[1].0, "old.txt", "--json"]).exits(0).json();
    assert_eq!((&done["kind"], &done["path"]), (&"restored".into(), &"old.txt".into()));
    assert_eq!(agent.lab.read("old.txt"), "the user's\n");
    // A file that was not there yet goes again.
    agent.history(&["restore", &old[1].0, "src/a.txt"]).exits(0);
    assert_eq!(files(&agent.lab.path(".git")), git, "the user's repository was touched");
}

#[test]
fn what_is_not_the_agents_is_refused() {
    let (agent, git) = written();
    let commit = versions(&agent, "src/a.txt")[0].0.clone();
    let secret = agent.state.write("secret", "secret");
    symlink(&secret, agent.lab.path("link")).unwrap();
    symlink(agent.state.path(""), agent.lab.path("out")).unwrap();
    for path in ["../x", "link", "out/secret", secret.to_str().unwrap(), ".git/config"] {
        let ran = agent.history(&["restore", &commit, path]).exits(1);
        ran.complains(path);
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    for commit in ["zzzz", "HEAD", "0000000000"] {
        agent.history(&["diff", commit]).exits(1).complains("`crosier history list` shows them");
    }
    agent.history(&["show", &commit, "none.txt"]).exits(1).complains("none.txt");
    assert_eq!(files(&agent.lab.path(".git")), git);
}

#[test]
fn no_history_and_no_git_are_said_and_looking_begins_none() {
    let agent = Agent::new();
    for args in [&["list"][..], &["diff", "abc"], &["show", "abc", "x"], &["restore", "abc", "x"]] {
        agent.history(args).exits(1).complains("there is no history of").complains("crosier run");
    }
    assert!(!agent.state.path("history").exists());
    agent.play(WRITES, &["write", "--permission-mode", "acceptEdits"]).exits(0);
    let mut command = agent.command(&["history", "list"]);
    command.env("PATH", "/nowhere");
    agent.start(command).exits(1).complains("history needs git");
    // Without git the agent works, and says what is missing.
    let other = Agent::new();
    other.lab.write("turns.yaml", WRITES);
    let mut command =
        other.command(&["run", "x", "--model", "scripted:turns.yaml", "--permission-mode", "acceptEdits"]);
    command.env("PATH", "/nowhere");
    other.start(command).exits(0).complains("no history is kept: history needs git");
    assert_eq!(other.lab.read("src/a.txt"), "second\n");
}

#[test]
fn every_part_of_it_has_an_example() {
    let agent = Agent::new();
    for part in ["list", "show", "diff", "restore"] {
        agent.lab.run(&["history", part, "--help"]).exits(0).says("Example:\n  crosier history");
    }
    agent.lab.run(&["history"]).exits(64);
    agent.lab.run(&["history", "lst"]).exits(64).complains("list");
}
