//! Attacks on the files of a trusted project.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Machine;

#[test]
fn a_file_that_is_gone_or_another_kind_of_thing_is_closed() {
    let machine = Machine::trusted();
    let guard = machine.path("project/guard.sh");
    let away = machine.path("project/guard.away");
    fs::rename(&guard, &away).unwrap();
    machine.is_closed("project", "guard.sh is gone");
    symlink("guard.away", &guard).unwrap();
    machine.is_closed("project", "guard.sh is a link, unlike when you trusted it");
    fs::remove_file(&guard).unwrap();
    fs::create_dir(&guard).unwrap();
    machine.is_closed("project", "guard.sh");
    fs::remove_dir(&guard).unwrap();
    assert!(Command::new("mkfifo").arg(&guard).status().unwrap().success());
    machine.is_closed("project", "guard.sh");
    fs::remove_file(&guard).unwrap();
    fs::rename(&away, &guard).unwrap();
    machine.is_guarded("project");
}

#[test]
fn the_executable_bit_counts() {
    let machine = Machine::trusted();
    machine.set_mode("project/guard.sh", 0o644);
    machine.is_closed("project", "guard.sh is not executable");
    machine.set_mode("project/guard.sh", 0o755);
    machine.is_guarded("project");
}

#[test]
fn a_link_is_followed_and_its_target_counts() {
    let machine = Machine::new();
    fs::rename(machine.path("project/guard.sh"), machine.path("elsewhere.sh")).unwrap();
    symlink(machine.path("elsewhere.sh"), machine.path("project/guard.sh")).unwrap();
    machine.trust("project");
    machine.is_guarded("project");
    machine.write("elsewhere.sh", "#!/bin/sh\n");
    machine.is_closed("project", "guard.sh changed");
}

#[test]
fn a_configuration_that_is_removed_or_joined_by_another_is_closed() {
    let machine = Machine::trusted();
    machine.write("project/crosier.local.yaml", "hooks: {Stop: [{command: 'true'}]}");
    machine.is_closed("project", "crosier.local.yaml is new");
    fs::remove_file(machine.path("project/crosier.local.yaml")).unwrap();
    machine.is_guarded("project");
    fs::remove_file(machine.path("project/crosier.yaml")).unwrap();
    machine.is_closed("project", "crosier.yaml is gone");
}

#[test]
fn the_same_size_and_time_do_not_hide_a_change() {
    let machine = Machine::trusted();
    let guard = machine.path("project/guard.sh");
    machine.is_guarded("project");
    let before = fs::metadata(&guard).unwrap().modified().unwrap();
    let text = fs::read_to_string(&guard).unwrap().replace("deny", "DENY");
    fs::write(&guard, text).unwrap();
    fs::File::options().write(true).open(&guard).unwrap().set_modified(before).unwrap();
    machine.is_closed("project", "guard.sh changed");
}

#[test]
fn a_huge_or_endless_configuration_of_an_untrusted_project_is_only_looked_for() {
    let machine = Machine::new();
    let config = machine.path("project/crosier.yaml");
    fs::File::create(&config).unwrap().set_len(1 << 40).unwrap();
    machine.is_never_trusted("project");
    fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    machine.is_never_trusted("project");
    machine.run("project", &["trust", "--yes"]).exits(78).complains("not a file");
    fs::remove_file(&config).unwrap();
    symlink("/dev/zero", &config).unwrap();
    machine.is_never_trusted("project");
}

#[test]
fn nothing_of_an_untrusted_project_is_imported_or_quoted() {
    let machine = Machine::new();
    machine.write("project/crosier.yaml", "hooks: {Stop: [{type: python, handler: policy.check}]}");
    machine.write("project/policy.py", "open('ran', 'w').close()\ndef check(event): pass\n");
    machine.run("project", &["check"]).exits(0).says("this project is not trusted");
    machine.run("project", &["doctor"]);
    machine.fire("project");
    assert!(!machine.path("project/ran").exists());
    let secret = machine.write("home/secret", "hunter2: [");
    fs::remove_file(machine.path("project/crosier.yaml")).unwrap();
    symlink(secret, machine.path("project/crosier.yaml")).unwrap();
    let ran = machine.run("project", &["check"]);
    assert!(
        !ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn python_runs_from_recorded_sources_only() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, type: python, handler: policy.check}]}",
    );
    let deny = "def check(event): return {'decision': 'deny', 'reason': 'the guard says no'}\n";
    machine.write("project/policy.py", &format!("import helper\n{deny}"));
    machine.write("project/helper.py", "");
    machine.trust("project");
    machine.is_guarded("project");
    machine.write("project/helper.py", "import sys; sys.modules['policy'] = None\n");
    machine.is_closed("project", "helper.py changed");
    machine.write("project/helper.py", "");
    machine.is_guarded("project");
    // A package beside the module would come first.
    machine.write("project/policy/__init__.py", "def check(event): pass\n");
    let said = machine.fire("project");
    assert!(said.code == Some(78) || said.json()["decision"] == "deny", "{} {}", said.stdout, said.stderr);
    fs::remove_dir_all(machine.path("project/policy")).unwrap();
    // So would a module of the standard library's name.
    machine.write("project/json.py", "raise SystemExit\n");
    let (decision, reason) = machine.decision("project");
    assert_eq!(decision, "deny", "{reason}");
}

#[test]
fn a_module_that_a_hook_loads_late_and_nobody_recorded_denies() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, type: python, handler: policy.check}]}",
    );
    let check =
        "def check(event):\n    import importlib; return importlib.import_module('late').check(event)\n";
    machine.write("project/policy.py", check);
    machine.trust("project");
    machine.write("project/late.py", "def check(event): return None\n");
    let (decision, reason) = machine.decision("project");
    assert_eq!(decision, "deny", "{reason}");
    assert!(reason.contains("late.py"), "{reason}");
}

#[test]
fn a_package_beside_a_module_that_a_hook_loads_late_denies() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, type: python, handler: policy.check}]}",
    );
    let check =
        "def check(event):\n    import late\n    return {'decision': 'deny', 'reason': late.REASON}\n";
    machine.write("project/policy.py", check);
    machine.write("project/late.py", "REASON = 'the guard says no'\n");
    machine.trust("project");
    machine.is_guarded("project");
    machine.write("project/late/__init__.py", "");
    machine.is_closed("project", "both");
}

#[test]
fn files_that_globs_name_are_recorded_and_new_ones_close() {
    let machine = Machine::new();
    machine.write("project/crosier.yaml", &format!("trust: ['rules/*.txt']\n{}", super::CONFIG));
    machine.write("project/rules/a.txt", "a");
    machine.write("project/rules/b.md", "b");
    machine.trust("project").says("rules/a.txt");
    machine.is_guarded("project");
    machine.write("project/rules/b.md", "changed");
    machine.is_guarded("project");
    machine.write("project/rules/c.txt", "c");
    machine.is_closed("project", "rules/c.txt is new");
    fs::remove_file(machine.path("project/rules/c.txt")).unwrap();
    machine.write("project/rules/a.txt", "b");
    machine.is_closed("project", "rules/a.txt changed");
}

#[test]
fn a_new_file_closes_also_when_its_folder_was_listed_before() {
    let machine = Machine::new();
    machine.write("project/crosier.yaml", &format!("trust: ['rules/**']\n{}", super::CONFIG));
    machine.write("project/rules/deep/a.txt", "a");
    machine.trust("project");
    // The listing is remembered as soon as the folders are older than the clock's resolution.
    let is_remembered = || {
        machine.is_guarded("project");
        let record = super::record::records(&machine).remove(0);
        fs::read_to_string(record).unwrap().contains("\"listed\":2")
    };
    assert!((0..1000).any(|_| is_remembered()));
    machine.is_guarded("project");
    machine.write("project/rules/deep/b.txt", "b");
    machine.is_closed("project", "rules/deep/b.txt is new");
    fs::remove_file(machine.path("project/rules/deep/b.txt")).unwrap();
    machine.is_guarded("project");
    machine.write("project/rules/other/c.txt", "c");
    machine.is_closed("project", "rules/other/c.txt is new");
    fs::remove_dir_all(machine.path("project/rules/other")).unwrap();
    fs::rename(machine.path("project/rules"), machine.path("project/before")).unwrap();
    machine.write("project/rules/deep/a.txt", "a");
    machine.write("project/rules/new.txt", "n");
    machine.is_closed("project", "rules/new.txt is new");
}

#[test]
fn a_command_does_not_load_a_compiled_module_that_somebody_put_beside_its_source() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, matcher: Bash, argv: [python3, guard.py]}]}\n",
    );
    machine.write("project/guard.py", "import rules\nrules.check()\n");
    machine.write(
        "project/rules.py",
        "import sys\ndef check():\n    sys.stderr.write('the guard says no')\n    sys.exit(2)\n",
    );
    machine.trust("project");
    machine.is_guarded("project");
    // It claims to be compiled from the source as it is.
    let forge = "import importlib.util, os, sys\n\
        from importlib._bootstrap_external import _code_to_timestamp_pyc as pyc\n\
        source = os.stat('rules.py')\n\
        path = importlib.util.cache_from_source('rules.py')\n\
        os.makedirs(os.path.dirname(path), exist_ok=True)\n\
        code = compile('def check(): pass', 'rules.py', 'exec')\n\
        open(path, 'wb').write(pyc(code, int(source.st_mtime), source.st_size))\n\
        import rules; rules.check(); print('loaded')\n";
    let mut python = std::process::Command::new("python3");
    python.args(["-c", forge]).current_dir(machine.path("project")).env_remove("PYTHONPYCACHEPREFIX");
    let ran = python.env_remove("PYTHONDONTWRITEBYTECODE").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "loaded\n", "{}", String::from_utf8_lossy(&ran.stderr));
    machine.is_guarded("project");
}

#[test]
fn scripts_packs_and_rules_are_recorded() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "extends: ./team.yaml\nscripts: [hooks.arma]\nhooks: {PreToolUse: [{name: guard, matcher: Bash, command: 'sh guard.sh < words.txt'}]}\n",
    );
    machine.write("project/team.yaml", "hooks: {Stop: [{name: team, argv: [python3, tool.py]}]}\n");
    machine.write("project/tool.py", "import lib.a\n");
    machine.write("project/lib/__init__.py", "");
    machine.write("project/lib/a.py", "");
    machine.write("project/words.txt", "");
    machine.write("project/hooks.arma", "hook post:tool --name note /log info done\n");
    let shown = machine.trust("project");
    for file in ["team.yaml", "hooks.arma", "guard.sh", "words.txt", "tool.py", "lib/a.py", "lib/__init__.py"]
    {
        shown.says(file);
        let before = fs::read_to_string(machine.path("project").join(file)).unwrap();
        machine.write(&format!("project/{file}"), &format!("{before}\n#"));
        machine.is_closed("project", &format!("{file} changed"));
        machine.write(&format!("project/{file}"), &before);
    }
    machine.is_guarded("project");
}

#[test]
fn a_program_that_is_not_there_yet_closes_when_it_appears() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: maybe, command: 'test -x ./late.sh && ./late.sh'}]}",
    );
    machine.trust("project").says("late.sh  (not there)");
    machine.write("project/late.sh", "#!/bin/sh\n");
    machine.is_closed("project", "late.sh is new");
}

/// A second process swaps the guard for one that allows, and back, as fast as it can. The guard that was trusted denies;
/// whatever the moment, nothing else is ever the answer.
#[test]
fn a_race_never_lets_another_guard_answer() {
    let machine = Machine::trusted();
    let guard = machine.path("project/guard.sh");
    let good = fs::read(&guard).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = machine.path("project/other.sh");
            while !stop.load(Ordering::Relaxed) {
                for content in [b"#!/bin/sh\necho '{\"decision\": \"allow\"}'\n".as_slice(), &good] {
                    fs::write(&other, content).unwrap();
                    machine.set_mode("project/other.sh", 0o755);
                    fs::rename(&other, &guard).unwrap();
                }
            }
        });
        for _ in 0..20 {
            let ran = machine.fire("project").exits(0);
            assert_eq!(ran.json()["decision"], "deny", "{}", ran.stdout);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_script_that_runs_what_is_not_recorded_is_warned_of() {
    let machine = Machine::new();
    machine.write("project/guard.sh", "#!/bin/sh\n. ./lib.sh\n");
    machine.write("project/lib.sh", ":\n");
    machine.run("project", &["check"]).says("it runs lib.sh, but `crosier trust` does not record that file");
    machine.write("project/crosier.yaml", &format!("trust: [lib.sh]\n{}", super::CONFIG));
    let ran = machine.run("project", &["check"]);
    assert!(!ran.stdout.contains("not recorded"), "{}", ran.stdout);
}

#[test]
fn python_and_node_scripts_that_run_what_is_not_recorded_are_warned_of() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: p, argv: [python3, run.py]}, {name: n, argv: [node, run.js]}]}\n",
    );
    machine
        .write("project/run.py", "import subprocess, mine\nsubprocess.run(['./tool'])\nopen('data.txt')\n");
    machine.write("project/run.js", "const h = require('./helper'); import('./more.mjs')\n");
    for file in ["mine.py", "tool", "data.txt", "helper.js", "more.mjs"] {
        machine.write(&format!("project/{file}"), "");
    }
    let ran = machine.run("project", &["check"]);
    for file in ["tool", "helper.js", "more.mjs"] {
        ran.says(&format!("it runs {file}, but `crosier trust` does not record that file"));
    }
    for file in ["mine.py", "data.txt"] {
        assert!(!ran.stdout.contains(&format!("it runs {file}")), "{}", ran.stdout);
    }
}

#[test]
fn a_package_without_init_is_recorded_and_runs() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, type: python, handler: policies.guard.check}]}",
    );
    machine.write(
        "project/policies/guard.py",
        "from policies.deep import rules\ndef check(event): return {'decision': 'deny', 'reason': rules.REASON}\n",
    );
    machine.write("project/policies/deep/rules.py", "REASON = 'the guard says no'\n");
    machine.trust("project").says("policies/guard.py").says("policies/deep/rules.py");
    machine.is_guarded("project");
    machine.write("project/policies/deep/rules.py", "REASON = 'other'\n");
    machine.is_closed("project", "policies/deep/rules.py changed");
    machine.write("project/policies/deep/rules.py", "REASON = 'the guard says no'\n");
    machine.write("project/policies/deep/rules/__init__.py", "");
    machine.is_closed("project", "both");
}

#[test]
fn cases_of_an_untrusted_project_quote_no_file_of_the_person_and_have_a_limit() {
    let machine = Machine::new();
    machine.write("home/secret", "hunter2: [oops\n");
    symlink(machine.path("home/secret"), machine.path("project/link.yaml")).unwrap();
    machine.write("project/real/own.yaml", "- own case: [oops\n");
    symlink("real/own.yaml", machine.path("project/own.yaml")).unwrap();
    let ran = machine.run("project", &["test", "."]);
    assert!(!(ran.stdout.clone() + &ran.stderr).contains("hunter2"), "{}", ran.stderr);
    ran.complains("link.yaml: a link out of the project").complains("own case");
    let large = fs::File::create(machine.path("project/large.yaml")).unwrap();
    large.set_len(1 << 40).unwrap();
    machine.run("project", &["test", "."]).exits(65).complains("larger than 4 MiB");
}

#[test]
fn hostile_names_are_shown_escaped_everywhere() {
    let machine = Machine::new();
    let hidden = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{ad}'];
    let folder = "project/e\u{1b}]0;x\u{7}\u{202e}vil";
    fs::create_dir_all(machine.path(folder)).unwrap();
    let name = "g\u{9b}31m\u{202e}\u{200b}\u{ad}x";
    let deny = "reply: {decision: deny, reason: x}";
    machine
        .write("project/crosier.yaml", &format!("hooks: {{PreToolUse: [{{name: \"{name}\", {deny}}}]}}\n"));
    machine.trust("project");
    for (folder, words) in [
        (folder, &["history", "list"][..]),
        ("project", &["try", "--json", "ls"]),
        ("project", &["try", "ls"]),
        ("project", &["log", "--json"]),
        ("project", &["log"]),
    ] {
        machine.hook("project", &["claude"], &super::event("PreToolUse", "ls"), &[]);
        let ran = machine.run(folder, words);
        let text = ran.stdout + &ran.stderr;
        assert!(!text.contains(hidden) && !text.is_empty(), "{words:?}: {text:?}");
    }
    machine
        .write("project/crosier.yaml", &format!("hooks: {{PreToolUse: [{{name: \"{name}\", oops: 1}}]}}\n"));
    let ran = machine.run("project", &["check"]);
    assert!(!(ran.stdout + &ran.stderr).contains(hidden));
}

#[test]
fn files_that_an_untrusted_project_names_elsewhere_are_not_quoted() {
    let machine = Machine::new();
    let secret = machine.write("home/secret", "hunter2: [\n");
    symlink(&secret, machine.path("project/link.yaml")).unwrap();
    for config in [
        format!("extends: {}.yaml", secret.display()),
        format!("extends: ../home/../{}", "home/secret.yaml"),
        "extends: ./link.yaml".to_owned(),
        format!("scripts: [{}]", secret.display()),
        "scripts: [link.yaml]".to_owned(),
        "hooks: {PreToolUse: [{type: builtin, handler: block-commands, options: {also: [../home/secret]}}]}"
            .to_owned(),
        "hooks: {PreToolUse: [{type: builtin, handler: block-commands, options: {also: link.yaml}}]}"
            .to_owned(),
    ] {
        fs::copy(&secret, machine.path("home/secret.yaml")).unwrap();
        machine.write("project/crosier.yaml", &config);
        for command in [
            &["check"][..],
            &["check", "--json"],
            &["trust"],
            &["trust", "--digest"],
            &["config"],
            &["doctor"],
        ] {
            let ran = machine.run("project", command);
            assert!(!(ran.stdout + &ran.stderr).contains("hunter2"), "{config}: {command:?}");
        }
        machine.run("project", &["check"]).exits(78).says("it is outside the project");
    }
    // What is wrong with the project's own files is shown.
    machine.write("project/crosier.yaml", "extends: ./own.yaml");
    machine.write("project/own.yaml", "hooks: [oops");
    machine.run("project", &["check"]).says("oops");
}
