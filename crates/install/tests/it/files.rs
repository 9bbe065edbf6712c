//! Files of people are left as they are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::lab::{Lab, row};

const MINE: &str = "{\n  // my settings\n  \"model\": \"x\", /* the model */\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}, // mine\n    ],\n    \"Odd\": []\n  },\n  \"z\": [1,2,  3]\n}\n";

#[test]
fn everything_else_stays_byte_for_byte() {
    let lab = Lab::new();
    lab.write(".claude/settings.json", MINE);
    lab.install("claude").unwrap();
    let with = lab.read(".claude/settings.json");
    for line in MINE.lines() {
        assert!(with.contains(line.trim_end_matches(['}', ']'])), "{line}\n{with}");
    }
    lab.uninstall("claude");
    assert_eq!(lab.read(".claude/settings.json"), MINE);
}

#[test]
fn a_file_that_was_edited_since_loses_exactly_our_entries() {
    let lab = Lab::new();
    lab.write(".claude/settings.json", MINE);
    lab.install("claude").unwrap();
    let edited = lab.read(".claude/settings.json").replace("\"model\": \"x\"", "\"model\": \"y\"");
    lab.write(".claude/settings.json", &edited);
    lab.uninstall("claude");
    assert_eq!(lab.read(".claude/settings.json"), MINE.replace("\"model\": \"x\"", "\"model\": \"y\""));
}

#[test]
fn an_installation_that_nobody_remembers_is_taken_out_too() {
    let lab = Lab::new();
    lab.write(".claude/settings.json", MINE);
    lab.install("claude").unwrap();
    fs::remove_dir_all(&lab.program.state_home).unwrap();
    lab.uninstall("claude");
    assert_eq!(lab.read(".claude/settings.json"), MINE);
}

#[test]
fn what_the_person_wrote_before_a_second_installation_is_the_original() {
    let lab = Lab::new();
    lab.write(".gemini/settings.json", "{\n  \"a\": 1\n}\n");
    lab.install("gemini").unwrap();
    let edited = lab
        .read(".gemini/settings.json")
        .replace("\"a\": 1", "\"a\": 2")
        .replace("--deadline 595", "--deadline 5");
    lab.write(".gemini/settings.json", &edited);
    assert!(!lab.install("gemini").unwrap().is_empty());
    lab.uninstall("gemini");
    assert_eq!(lab.read(".gemini/settings.json"), "{\n  \"a\": 2\n}\n");
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_kept() {
    for text in [
        "{",
        "[]",
        "3",
        "{\"hooks\": 3}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{a: 1}",
        "{'a': 1}",
        "\u{0}",
        "{\"a\": 1} x",
    ] {
        let lab = Lab::new();
        lab.write(".claude/settings.json", text);
        let refused = lab.install("claude").unwrap_err();
        assert!(refused.to_string().contains("settings.json"), "{refused}");
        assert_eq!(lab.read(".claude/settings.json"), text);
    }
    let lab = Lab::new();
    fs::create_dir_all(lab.home.join(".claude/settings.json")).unwrap();
    assert!(lab.install("claude").is_err());
    lab.write(".kimi/config.toml", "a = ");
    assert!(lab.install("kimi").is_err());
}

#[test]
fn a_link_stays_and_its_target_is_written() {
    let lab = Lab::new();
    let real = lab.write("dotfiles/claude.json", "{}\n");
    fs::create_dir_all(lab.home.join(".claude")).unwrap();
    let link = lab.home.join(".claude/settings.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    lab.install("claude").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("PreToolUse"));
    lab.uninstall("claude");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn a_file_that_is_read_only_is_refused_and_not_remembered() {
    let lab = Lab::new();
    let path = lab.write(".claude/settings.json", "{}");
    let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    set(0o444);
    assert!(lab.install("claude").unwrap_err().to_string().contains("read-only"));
    assert!(lab.read(".claude/settings.json") == "{}" && !lab.store.has_record_of("claude"));
    set(0o644);
    lab.install("claude").unwrap();
    let with = lab.read(".claude/settings.json");
    set(0o444);
    let plan = lab.store.uninstall_plan(row("claude"), &lab.places).unwrap();
    assert!(lab.store.uninstall("claude", &plan).unwrap_err().to_string().contains("read-only"));
    assert!(lab.read(".claude/settings.json") == with && lab.store.has_record_of("claude"));
    set(0o644);
    lab.uninstall("claude");
    assert_eq!(lab.read(".claude/settings.json"), "{}");
}

#[test]
fn toml_with_other_line_ends_stays_as_it_is() {
    let lab = Lab::new();
    let mine = "\u{feff}model = \"x\" # c\r\n\r\n[a]\r\nb = 1\r\n";
    lab.write(".kimi/config.toml", mine);
    lab.write(".codex/config.toml", mine);
    lab.install("kimi").unwrap();
    let mut request = lab.request();
    request.trust = true;
    lab.install_as("codex", &request).unwrap();
    for file in [".kimi/config.toml", ".codex/config.toml"] {
        let with = lab.read(file);
        assert!(with.starts_with(mine) && with != mine, "{with:?}");
        assert_eq!(with.matches('\n').count(), with.matches("\r\n").count(), "{with:?}");
        lab.write(file, &with.replace("b = 1", "b = 2"));
    }
    lab.uninstall("kimi");
    lab.uninstall("codex");
    for file in [".kimi/config.toml", ".codex/config.toml"] {
        assert_eq!(lab.read(file), mine.replace("b = 1", "b = 2"));
    }
}

#[test]
fn the_mode_stays() {
    let lab = Lab::new();
    let path = lab.write(".claude/settings.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    lab.install("claude").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    lab.uninstall("claude");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    lab.install("cline").unwrap();
    let program = lab.home.join(".cline/hooks/PreToolUse");
    assert_eq!(fs::metadata(program).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_hook_of_the_persons_own_is_not_replaced() {
    let lab = Lab::new();
    lab.write(".cline/hooks/PreToolUse", "#!/bin/sh\nmine\n");
    assert!(lab.install("cline").unwrap_err().to_string().contains("your own"));
    assert_eq!(lab.uninstall("cline").changes.len(), 0);
    assert_eq!(lab.read(".cline/hooks/PreToolUse"), "#!/bin/sh\nmine\n");
}

#[test]
fn a_file_that_changed_between_plan_and_deed_is_not_overwritten() {
    let lab = Lab::new();
    lab.write(".claude/settings.json", "{}");
    let plan = row("claude").install_plan(&lab.request()).unwrap();
    lab.write(".claude/settings.json", "{\"new\": 1}");
    assert!(lab.store.install("claude", &plan).is_err());
    assert_eq!(lab.read(".claude/settings.json"), "{\"new\": 1}");
}

#[test]
fn another_program_at_work_on_the_same_line_is_left_alone() {
    let lab = Lab::new();
    let mine = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"crosier hook claude -c my.yaml\"}]}]}}";
    lab.write(".claude/settings.json", mine);
    lab.install("claude").unwrap();
    assert!(lab.read(".claude/settings.json").contains("crosier hook claude -c my.yaml"));
    lab.uninstall("claude");
    assert_eq!(lab.read(".claude/settings.json"), mine);
}
