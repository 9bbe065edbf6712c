//! `crosier config`: the files in force, layer by layer.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab::CROSIER;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.write(".config/crosier/crosier.yaml", "hooks: {Stop: [{name: mine, command: 'true'}]}");
        home.write(
            "project/crosier.yaml",
            "hooks: {Stop: [{name: one, command: 'true'}, {name: two, command: 'true'}]}",
        );
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(CROSIER)
            .arg("config")
            .args(args)
            .current_dir(self.0.path().join("project"))
            .env("HOME", self.0.path())
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap()
    }
}

#[test]
fn the_files_in_force_are_shown_with_their_layer_and_what_they_add() {
    let home = Home::new();
    let ran = home.run(&["--json"]);
    assert_eq!(ran.status.code(), Some(0));
    let shown: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let files: Vec<(&str, u64)> = shown["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["layer"] != "managed")
        .map(|file| (file["layer"].as_str().unwrap(), file["hooks"].as_u64().unwrap()))
        .collect();
    assert_eq!(files, [("user", 1), ("project", 2)]);
    let text = String::from_utf8(home.run(&[]).stdout).unwrap();
    assert!(text.contains("LAYER") && text.contains("2 hooks"), "{text}");
}

#[test]
fn the_hooks_of_a_pack_count_for_the_file_that_extends_it() {
    let home = Home::new();
    home.write("project/crosier.yaml", "extends: crosier:recommended\n");
    let text = String::from_utf8(home.run(&[]).stdout).unwrap();
    assert!(text.contains("5 hooks"), "{text}");
}

#[test]
fn a_refused_file_is_loud() {
    let home = Home::new();
    let file = home.0.path().join(".config/crosier/crosier.yaml");
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    let ran = home.run(&[]);
    assert_eq!(ran.status.code(), Some(78));
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("refused: everybody can write to it (mode 666)"), "{text}");
}

#[test]
fn a_bad_file_is_shown_with_its_problems() {
    let home = Home::new();
    home.write("project/crosier.yaml", "hoks: {}\n");
    let ran = home.run(&[]);
    assert_eq!(ran.status.code(), Some(78));
    assert!(String::from_utf8(ran.stdout).unwrap().contains("did you mean `hooks`?"));
}
