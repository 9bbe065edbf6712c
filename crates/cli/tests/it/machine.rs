//! `crosier doctor` and `crosier completions`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::lab::Lab;

#[test]
fn doctor_names_what_hooks_will_find() {
    let lab = Lab::with("hooks: {Stop: [{reply: {}}]}");
    let ran = lab.run(&["doctor"]).exits(0);
    ran.says(env!("CARGO_PKG_VERSION"))
        .says("platform")
        .says("the end of a hook's process is noticed with ")
        .says("/bin/sh");
    ran.says("python3").says("git").says("crosier.yaml: 1 hook, no problems").says("no hook is switched off");
}

#[test]
fn doctor_starts_a_worker_and_imports_python_hooks() {
    let lab = Lab::with(
        "hooks: {Stop: [{type: python, handler: guard.check}, {type: python, handler: guard.check}]}",
    );
    lab.write("guard.py", "def check(event): pass");
    let ran = lab.run(&["doctor"]).exits(0);
    ran.says("ok  worker").says("answers after ").says("2 python hooks imported by ");
    lab.write("guard.py", "import missing_here");
    lab.run(&["doctor"]).exits(1).says("2 errors; `crosier check` shows them");
}

#[test]
fn doctor_without_a_configuration_is_no_alarm() {
    Lab::new().run(&["doctor"]).exits(0).says("--  config").says("there is no crosier.yaml");
}

#[test]
fn doctor_is_1_when_something_is_odd() {
    let lab = Lab::with("hooks: {Stop: [{comand: x}]}");
    lab.run(&["doctor"]).exits(1).says("bad config").says("2 errors; `crosier check` shows them");
    let lab = Lab::with("hooks: {Stop: [{name: one, reply: {}}]}");
    lab.run(&["disable", "one"]).exits(0);
    lab.run(&["doctor"]).exits(0).says("switched off: one");
    let open = |name: &str, mode| fs::set_permissions(lab.path(name), Permissions::from_mode(mode)).unwrap();
    open("crosier.yaml", 0o666);
    lab.run(&["doctor"]).exits(1).says("everybody can change");
}

#[test]
fn doctor_sees_a_machine_without_python() {
    let lab = Lab::new();
    let mut command = lab.command(&["doctor", "--json"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let python = found.as_array().unwrap().iter().find(|finding| finding["what"] == "python3").unwrap();
    assert_eq!(
        (python["judged"].as_str(), python["says"].as_str()),
        (Some("--"), Some("not found in PATH; Python hooks cannot run"))
    );
}

#[test]
fn completions_know_every_command_and_hide_what_is_hidden() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lab.run(&["completions", shell]).exits(0).stdout;
        for word in ["fire", "explain", "completions", "exit-code", "junit"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        assert!(!script.contains("panic"), "{shell}");
    }
    let script = lab.write("crosier.bash", &lab.run(&["completions", "bash"]).stdout);
    let checked = std::process::Command::new("bash").arg("-n").arg(script).status().unwrap();
    assert!(checked.success());
}
