//! Virtual environments in a trusted project.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{Machine, event};

#[test]
fn a_virtual_environment_is_one_unit() {
    let machine = Machine::new();
    let project = machine.path("project");
    let made =
        Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(project.join(".venv")).status();
    assert!(made.unwrap().success());
    let packages = fs::read_dir(project.join(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    let module = packages.join("site-packages/words.py");
    fs::write(&module, "REASON = 'the guard says no'\n").unwrap();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, type: python, handler: policy.check, python: .venv/bin/python}]}\n",
    );
    machine.write(
        "project/policy.py",
        "import words\ndef check(event): return {'decision': 'deny', 'reason': words.REASON}\n",
    );
    machine.trust("project").says(".venv  (a virtual environment, as one unit)");
    machine.is_guarded("project");
    machine.run("project", &["status"]).exits(0);
    fs::write(&module, "REASON = 'something else'\n").unwrap();
    machine.is_closed("project", ".venv changed since you trusted it");
    machine.run("project", &["status"]).exits(1).says(".venv changed");
    machine.trust("project");
    assert_eq!(machine.decision("project").1, "something else");
    fs::write(module.with_file_name("more.py"), "").unwrap();
    machine.is_closed("project", ".venv changed since you trusted it");
}

/// A project whose guard runs from a virtual environment in it, trusted; and the module with the guard's words.
fn with_virtual_environment(machine: &Machine) -> PathBuf {
    let project = machine.path("project");
    let made =
        Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(project.join(".venv")).status();
    assert!(made.unwrap().success());
    let packages = fs::read_dir(project.join(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    let module = packages.join("site-packages/inner/words.py");
    fs::create_dir(module.parent().unwrap()).unwrap();
    fs::write(&module, "REASON = 'the guard says no'\n").unwrap();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, matcher: Bash, type: python, handler: policy.check, python: .venv/bin/python}]}\n",
    );
    machine.write(
        "project/policy.py",
        "import inner.words as words\ndef check(event): return {'decision': 'deny', 'reason': words.REASON}\n",
    );
    machine.trust("project");
    module
}

/// What becomes of a call of a tool on which the project has no hook.
fn write_in(machine: &Machine) -> String {
    let mut write = event("PreToolUse", "");
    write["tool_name"] = "Write".into();
    write["tool_input"] = serde_json::json!({"file_path": "a.txt", "content": "x"});
    machine.hook("project", &["claude"], &write, &[]).exits(0).stdout
}

#[test]
fn a_virtual_environment_that_is_gone_or_changed_closes_the_project() {
    let machine = Machine::new();
    let module = with_virtual_environment(&machine);
    let prompt = || machine.hook("project", &["claude"], &event("UserPromptSubmit", ""), &[]).exits(0).stdout;
    machine.is_guarded("project");
    assert_eq!((write_in(&machine), prompt()), (String::new(), String::new()));
    // Something new where installers write.
    let new = module.parent().unwrap().with_file_name("new.pth");
    fs::write(&new, "").unwrap();
    assert!(write_in(&machine).contains(".venv changed"));
    fs::remove_file(&new).unwrap();
    assert_eq!(write_in(&machine), "");
    // A change within a package is found before a hook runs, and when the person is told; from then on always.
    fs::write(&module, "REASON = 'other'\n").unwrap();
    machine.is_closed("project", ".venv changed");
    assert!(prompt().contains(".venv changed"));
    assert!(write_in(&machine).contains(".venv changed"));
    machine.trust("project");
    assert_eq!((write_in(&machine), prompt()), (String::new(), String::new()));
    fs::rename(machine.path("project/.venv"), machine.path("away")).unwrap();
    assert!(write_in(&machine).contains(".venv is gone"));
    assert!(prompt().contains(".venv is gone"));
    machine.run("project", &["status"]).exits(1);
}

#[test]
fn a_digest_covers_the_virtual_environment() {
    let machine = Machine::new();
    let module = with_virtual_environment(&machine);
    let digest = || machine.run("project", &["trust", "--digest"]).exits(0).stdout;
    let before = digest();
    assert_eq!(before, digest());
    fs::write(module, "REASON = 'other'\n").unwrap();
    assert_ne!(before, digest());
}
