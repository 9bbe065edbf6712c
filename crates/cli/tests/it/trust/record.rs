//! Attacks on what is remembered: records, their key, the list, the state folder.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde_json::json;

use super::{Machine, copy_folder, event, feed};

pub(super) fn records(machine: &Machine) -> Vec<PathBuf> {
    let folder = machine.path("home/.local/state/crosier/trust");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}

#[test]
fn records_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::trusted();
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = machine.path("home/.local/state/crosier/trust");
    assert_eq!(
        (mode(&folder), mode(&folder.join("key")), mode(&records(&machine)[0])),
        (0o700, 0o600, 0o600)
    );
    machine.set_mode("home/.local/state/crosier/trust/key", 0o644);
    machine.is_closed("project", "others can read it");
}

#[test]
fn a_forged_damaged_copied_or_missing_record_is_closed() {
    let machine = Machine::trusted();
    machine.write("other/crosier.yaml", "hooks: {Stop: [{command: 'true'}]}");
    let record = records(&machine).remove(0);
    let good = fs::read_to_string(&record).unwrap();
    let digest = good.split([' ', '\n']).filter(|word| word.len() == 64).nth(2).unwrap().to_owned();
    for bad in [
        good.replace(&digest, &"0".repeat(64)),
        good[..good.len() / 2].to_owned(),
        String::new(),
        "{}\n{}".to_owned(),
    ] {
        fs::write(&record, bad).unwrap();
        machine.is_closed("project", "is not valid");
    }
    // The record of another project, whose HMAC fits.
    machine.trust("other");
    let other = records(&machine).into_iter().find(|path| *path != record).unwrap();
    fs::copy(&other, &record).unwrap();
    machine.is_closed("project", "record of another folder");
    fs::remove_file(&record).unwrap();
    machine.is_closed("project", "its trust record is gone");
    fs::remove_dir_all(machine.path("home/.local/state")).unwrap();
    machine.is_closed("project", "its trust record is gone");
    machine.trust("project");
    machine.is_guarded("project");
}

#[test]
fn another_machines_records_and_key_do_not_fit_each_other() {
    let (mine, theirs) = (Machine::trusted(), Machine::trusted());
    let key = "home/.local/state/crosier/trust/key";
    fs::copy(theirs.path(key), mine.path(key)).unwrap();
    mine.is_closed("project", "is not valid");
}

#[test]
fn a_list_that_is_gone_takes_no_record_away_and_one_that_is_damaged_is_closed() {
    let machine = Machine::trusted();
    let list = machine.path("home/.config/crosier/trusted.json");
    assert!(fs::read_to_string(&list).unwrap().contains("project"));
    fs::write(&list, "{").unwrap();
    machine.is_closed("project", "list of trusted projects");
    fs::remove_file(&list).unwrap();
    machine.is_guarded("project");
    machine.write("project/guard.sh", "#!/bin/sh\n");
    machine.is_closed("project", "guard.sh changed");
}

#[test]
fn also_keeps_what_was_trusted_before() {
    let machine = Machine::trusted();
    let old = fs::read_to_string(machine.path("project/guard.sh")).unwrap();
    machine.write(
        "project/guard.sh",
        "#!/bin/sh\necho '{\"decision\": \"deny\", \"reason\": \"another branch\"}'\n",
    );
    machine.run("project", &["trust", "--yes", "--also"]).exits(0);
    assert_eq!(machine.decision("project").1, "another branch");
    machine.write("project/guard.sh", &old);
    machine.is_guarded("project");
    // Without it, the newest content alone counts.
    machine.run("project", &["trust", "--yes"]).exits(0);
    machine.write(
        "project/guard.sh",
        "#!/bin/sh\necho '{\"decision\": \"deny\", \"reason\": \"another branch\"}'\n",
    );
    machine.is_closed("project", "guard.sh changed");
}

#[test]
fn a_state_or_configuration_folder_in_the_project_is_refused() {
    let machine = Machine::trusted();
    copy_folder(&machine.path("home/.local/state"), &machine.path("project/state"));
    let named = [
        ("XDG_STATE_HOME", "project/state"),
        ("XDG_CONFIG_HOME", "project/config"),
        ("XDG_CONFIG_HOME", "project/nothing"),
    ];
    for (name, folder) in named {
        machine.write("project/config/crosier/crosier.yaml", "self_guard: off\n");
        let folder = machine.path(folder);
        let ran = machine.hook(
            "project",
            &["claude"],
            &event("PreToolUse", "ls"),
            &[(name, folder.to_str().unwrap())],
        );
        assert!(ran.stdout.contains("deny") && ran.stdout.contains("refused"), "{name}: {}", ran.stdout);
    }
    // Nothing is written there, neither by an agent that names its project nor by one that does not.
    for agent in ["claude", "codex"] {
        let mut call = event("PreToolUse", "ls");
        call["cwd"] = json!(machine.path("project"));
        let folder = machine.path("project/new");
        let more = [("XDG_STATE_HOME", folder.to_str().unwrap())];
        let ran = machine.hook("project", &[agent], &call, &more);
        assert!(ran.stdout.contains("refused") && !folder.exists(), "{agent}: {}", ran.stdout);
    }
    // The line that is installed names both folders, so that variables do not count.
    let (config, state) = (machine.path("home/.config/crosier"), machine.path("home/.local/state/crosier"));
    let words =
        ["claude", "--config-home", config.to_str().unwrap(), "--state-home", state.to_str().unwrap()];
    let more = [("XDG_STATE_HOME", "/nowhere"), ("XDG_CONFIG_HOME", "/nowhere"), ("HOME", "/nowhere")];
    let ran = machine.hook("project", &words, &event("PreToolUse", "ls"), &more);
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
}

#[test]
fn a_state_folder_that_others_can_write_is_closed_and_none_is_never_trusted() {
    let machine = Machine::trusted();
    machine.set_mode("home/.local/state/crosier", 0o777);
    machine.is_closed("project", "others can write to it");
    machine.set_mode("home/.local/state/crosier", 0o700);
    machine.is_guarded("project");
    let bare = Machine::new();
    let mut command = bare.command("project", &["fire", "PreToolUse"]);
    command.env_remove("HOME");
    feed(command, super::BASH).exits(78).complains("they are not trusted");
}

#[test]
fn a_state_file_beside_the_configuration_switches_nothing_off() {
    let machine = Machine::trusted();
    machine.write("project/crosier.yaml.state.json", "{\"disabled\": [\"guard\"]}");
    machine.is_guarded("project");
    machine.run("project", &["disable", "guard"]).exits(0);
    assert_eq!(machine.decision("project").0, "", "a person can");
    machine.run("project", &["enable", "guard"]).exits(0);
    machine.is_guarded("project");
}

#[test]
fn a_state_folder_that_leads_into_the_project_is_refused() {
    let machine = Machine::trusted();
    fs::rename(machine.path("home/.local/state/crosier"), machine.path("project/state")).unwrap();
    std::os::unix::fs::symlink(machine.path("project/state"), machine.path("home/.local/state/crosier"))
        .unwrap();
    machine.is_closed("project", "it is inside the project folder");
}

#[test]
fn a_named_pipe_in_the_state_folder_keeps_nobody_waiting() {
    let machine = Machine::trusted();
    for file in ["switches.json", "hook/lock", "trust/lock", "pin/x"] {
        let path = machine.path("home/.local/state/crosier").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for name in ["PreToolUse", "UserPromptSubmit"] {
            let ran = machine.hook("project", &["claude"], &event(name, "ls"), &[]).exits(0);
            assert!(name != "PreToolUse" || ran.stdout.contains("deny"), "{file}: {}", ran.stdout);
        }
        fs::remove_file(&path).unwrap();
    }
}

/// A lock needs no more than reading, which an agent may: it must not make a hook hang, because agents do without a hook
/// that hangs.
#[test]
fn a_lock_that_somebody_holds_keeps_nobody_waiting() {
    let machine = Machine::trusted();
    machine.write("project/inner/crosier.yaml", "hooks: {Stop: [{command: 'true'}]}");
    let hook = |name: &str| machine.hook("project/inner", &["claude"], &event(name, "ls"), &[]).exits(0);
    // The session has something to remember: that the inner folder is not trusted.
    assert!(hook("UserPromptSubmit").stdout.contains("they are not trusted"));
    let locks = ["hook/lock", "trust/lock", "log/lock"].map(|file| {
        let path = machine.path("home/.local/state/crosier").join(file);
        let lock = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        lock.lock().unwrap();
        lock
    });
    // Its time changed, so that its digest is to be remembered anew.
    let guard = fs::File::options().write(true).open(machine.path("project/guard.sh")).unwrap();
    guard.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    drop(guard);
    let ran = hook("PreToolUse");
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
    assert!(ran.took < std::time::Duration::from_secs(20), "{:?}", ran.took);
    drop(locks);
}

#[test]
fn nothing_of_a_refused_state_folder_reaches_the_model() {
    let machine = Machine::trusted();
    // The session of the person, with a text that waits for the model, in a folder that the repository brings along.
    machine.write(
        "home/.config/crosier/crosier.yaml",
        "hooks: {Notification: [{command: 'echo \"{\\\"additionalContext\\\": \\\"from the repository\\\"}\"'}]}",
    );
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o600);
    let hook = |name: &str, more: &[(&str, &str)]| {
        let mut event = event(name, "ls");
        event["message"] = "x".into();
        machine.hook("project", &["claude"], &event, more).exits(0).stdout
    };
    hook("Notification", &[]);
    copy_folder(&machine.path("home/.local/state"), &machine.path("project/state"));
    let waits = fs::read_dir(machine.path("project/state/crosier/hook")).unwrap().flatten();
    let waits: Vec<String> = waits.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    assert!(waits.concat().contains("from the repository"), "{waits:?}");
    let state = machine.path("project/state");
    let said = hook("UserPromptSubmit", &[("XDG_STATE_HOME", state.to_str().unwrap())]);
    assert!(said.contains("refused") && !said.contains("from the repository"), "{said}");
    assert!(hook("UserPromptSubmit", &[]).contains("from the repository"));
}

#[test]
fn a_new_file_is_seen_in_every_content_that_is_trusted_too() {
    let machine = Machine::new();
    let old = format!("trust: ['rules/*.txt']\n{}", super::CONFIG);
    machine.write("project/crosier.yaml", &old);
    machine.write("project/rules/a.txt", "a");
    machine.trust("project");
    machine.write("project/crosier.yaml", super::CONFIG);
    machine.run("project", &["trust", "--yes", "--also"]).exits(0);
    machine.is_guarded("project");
    machine.write("project/rules/b.txt", "b");
    machine.is_guarded("project");
    machine.write("project/crosier.yaml", &old);
    machine.is_closed("project", "crosier.yaml changed");
    fs::remove_file(machine.path("project/rules/b.txt")).unwrap();
    // Once its files are older than the clock's resolution, an event does not write the record again.
    let inode = || fs::metadata(records(&machine).remove(0)).unwrap().ino();
    let is_left_alone = || {
        let before = inode();
        machine.is_guarded("project");
        inode() == before
    };
    assert!((0..1000).any(|_| is_left_alone()));
}
