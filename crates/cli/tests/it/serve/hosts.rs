//! The hosts in other languages, as in `examples/10-host-in-any-language`.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::lab::{CROSIER, Lab};

/// Runs a host, if its language is on this machine.
fn run(words: &[&str], host: &str) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/10-host-in-any-language");
    let lines = std::fs::read_to_string(example.join(host)).unwrap().lines().count();
    assert!(lines < 80, "{host} has {lines} lines");
    let path =
        format!("{}:{}", Path::new(CROSIER).parent().unwrap().display(), std::env::var("PATH").unwrap());
    if Command::new("sh")
        .args(["-c", &format!("command -v {}", words[0])])
        .output()
        .is_ok_and(|ran| !ran.status.success())
    {
        let _ = writeln!(std::io::stderr(), "NOT RUN: {} is not on this machine", words[0]);
        return;
    }
    let lab = Lab::new();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(host).current_dir(&example).env("PATH", path).env("PWD", &example);
    command
        .env("GOCACHE", lab.path("go"))
        .env("GOFLAGS", "-mod=mod")
        .env("XDG_STATE_HOME", lab.path("state"));
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success() && said.contains("Read .env -> deny no-secrets"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn a_host_in_python() {
    run(&["python3"], "host.py");
}

#[test]
fn a_host_in_typescript() {
    run(&["node"], "host.ts");
}

#[test]
fn a_host_in_go() {
    run(&["go", "run"], "host.go");
}
