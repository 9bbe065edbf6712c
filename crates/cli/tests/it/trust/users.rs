//! Files of other users, groups, and the managed layer. These need root: elsewhere they have nothing to show.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{BASH, Machine, event, feed};
use crate::lab::{CROSIER, Ran};

/// Ids that no account has.
const ANN: u32 = 61_001;
const BO: u32 = 61_002;
const TEAM: u32 = 61_003;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A machine whose person is not root.
struct Ann(Machine);

impl Ann {
    fn new() -> Self {
        let machine = Machine::new();
        machine.set_mode("", 0o755);
        // The program may be where only root can look. Another process writes the copy: one that this process had open
        // for writing could not be started while another test forks.
        assert!(Command::new("cp").arg(CROSIER).arg(machine.path("crosier")).status().unwrap().success());
        let ann = Self(machine);
        ann.0.write("home/.config/crosier/crosier.yaml", "hooks: {Stop: [{name: s, command: 'true'}]}\n");
        for folder in ["home", "project"] {
            let of = format!("{ANN}:{ANN}");
            assert!(
                Command::new("chown").args(["-R", &of]).arg(ann.0.path(folder)).status().unwrap().success()
            );
        }
        for file in ["home/.config/crosier/crosier.yaml", "project/crosier.yaml"] {
            ann.0.set_mode(file, 0o644);
        }
        for folder in ["home", "home/.config", "home/.config/crosier", "project"] {
            ann.0.set_mode(folder, 0o755);
        }
        ann.run(&["trust", "--yes"], "").exits(0);
        ann
    }

    fn run(&self, args: &[&str], input: &str) -> Ran {
        let mut command = Command::new("setpriv");
        command.args([&format!("--reuid={ANN}"), &format!("--regid={ANN}"), "--clear-groups"]);
        command.arg(self.0.path("crosier")).args(args).current_dir(self.0.path("project")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.0.path("home"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        feed(command, input)
    }

    fn reason(&self) -> String {
        let said: Value = self.run(&["fire", "PreToolUse"], BASH).exits(0).json();
        said["reason"].as_str().unwrap_or_default().to_owned()
    }

    fn give(&self, name: &str, user: u32, group: u32, mode: u32) {
        chown(self.0.path(name), Some(user), Some(group)).unwrap();
        self.0.set_mode(name, mode);
    }
}

#[test]
fn files_of_the_person_that_others_can_write_are_closed() {
    if !is_root() {
        return;
    }
    let ann = Ann::new();
    let file = "home/.config/crosier/crosier.yaml";
    for (name, user, group, mode, because) in [
        (file, ANN, ANN, 0o664, ""),
        (file, 0, 0, 0o644, ""),
        (file, ANN, TEAM, 0o644, ""),
        (file, ANN, TEAM, 0o664, "group 61003 can write to it"),
        (file, ANN, ANN, 0o646, "everybody can write to it"),
        (file, BO, BO, 0o644, "it belongs to user 61002"),
        ("home/.config/crosier", ANN, ANN, 0o775, ""),
        ("home/.config/crosier", ANN, TEAM, 0o775, "group 61003 can write to it"),
        ("home/.config", BO, BO, 0o755, "it belongs to user 61002"),
        ("home/.config", ANN, ANN, 0o777, "everybody can write to it"),
        ("home/.config/crosier/trusted.json", ANN, ANN, 0o666, "everybody can write to it"),
        ("home/.local/state/crosier", BO, BO, 0o755, "it belongs to user 61002"),
        ("home/.local/state/crosier", 0, 0, 0o755, "it belongs to user 0"),
        ("home/.local/state/crosier", ANN, TEAM, 0o770, "others can write to it"),
        ("project", ANN, ANN, 0o775, ""),
        ("project", ANN, TEAM, 0o775, "others can write to the trusted folder"),
        ("project", ANN, ANN, 0o777, "others can write to the trusted folder"),
    ] {
        let before = fs::metadata(ann.0.path(name)).unwrap();
        ann.give(name, user, group, mode);
        let reason = ann.reason();
        let wanted = if because.is_empty() { "the guard says no" } else { because };
        assert!(reason.contains(wanted), "{name} {user}:{group} {mode:o}: {reason}");
        ann.give(name, ANN, ANN, before.mode() & 0o7777);
    }
    assert_eq!(ann.reason(), "the guard says no");
    // A link to a file of somebody else, and one to nothing.
    let own = ann.0.path(file);
    fs::remove_file(&own).unwrap();
    ann.0.write("theirs.yaml", "hooks: {}\n");
    ann.give("theirs.yaml", BO, BO, 0o644);
    std::os::unix::fs::symlink(ann.0.path("theirs.yaml"), &own).unwrap();
    assert!(ann.reason().contains("it belongs to user 61002"));
    fs::remove_file(ann.0.path("theirs.yaml")).unwrap();
    assert!(ann.reason().contains("a dangling symlink"));
}

#[test]
fn files_behind_the_persons_configuration_that_others_can_write_are_closed() {
    if !is_root() {
        return;
    }
    let ann = Ann::new();
    let own = "home/.config/crosier";
    ann.0.write(
        &format!("{own}/crosier.yaml"),
        "extends: ./team.yaml\nscripts: [s.arma]\nhooks:\n  PreToolUse:\n    - {name: a, matcher: Never, command: \"sh ./a.sh < words.txt\"}\n    \
         - {name: b, matcher: Never, argv: [~/bin/b, x]}\n    - {name: c, matcher: Never, type: python, handler: pol.check}\n    \
         - {name: d, matcher: Never, type: builtin, handler: block-commands, options: {also: more.yaml}}\n",
    );
    let stop = "hooks: {Stop: [{name: team, command: 'true'}]}\n";
    let bin = ann.0.path("home/bin/b").display().to_string();
    let config = ann.0.path(&format!("{own}/crosier.yaml"));
    let text = fs::read_to_string(&config).unwrap().replace("~/bin/b", &bin);
    fs::write(&config, text).unwrap();
    for (name, text, mode) in [
        ("team.yaml", stop, 0o644),
        ("s.arma", "hook post:tool --name note /log info done\n", 0o644),
        ("a.sh", "#!/bin/sh\n", 0o755),
        ("words.txt", "", 0o644),
        ("../../bin/b", "#!/bin/sh\n", 0o755),
        ("pol.py", "def check(event): return None\n", 0o644),
        ("near.py", "", 0o644),
        ("more.yaml", "commands: []\n", 0o644),
    ] {
        let path = format!("{own}/{name}");
        ann.0.write(&path, text);
        ann.give(&path, ANN, ANN, mode);
    }
    for folder in ["home/bin", own] {
        ann.give(folder, ANN, ANN, 0o755);
    }
    ann.give(&format!("{own}/crosier.yaml"), ANN, ANN, 0o644);
    assert_eq!(ann.reason(), "the guard says no");
    for name in ["team.yaml", "s.arma", "a.sh", "words.txt", "../../bin/b", "pol.py", "near.py", "more.yaml"]
    {
        let path = format!("{own}/{name}");
        let before = fs::metadata(ann.0.path(&path)).unwrap().mode() & 0o7777;
        for (user, group, mode, because) in [
            (ANN, ANN, before | 0o022, "everybody can write to it"),
            (BO, BO, before, "it belongs to user 61002"),
            (ANN, TEAM, before | 0o020, "group 61003 can write to it"),
        ] {
            ann.give(&path, user, group, mode);
            let reason = ann.reason();
            assert!(reason.contains("refused") && reason.contains(because), "{name} {mode:o}: {reason}");
        }
        ann.give(&path, ANN, ANN, before);
    }
    ann.give("home/bin", ANN, ANN, 0o777);
    assert!(ann.reason().contains("the folder"), "{}", ann.reason());
    ann.give("home/bin", ANN, ANN, 0o755);
    assert_eq!(ann.reason(), "the guard says no");
}

#[test]
fn a_project_that_cannot_be_looked_at_says_so() {
    if !is_root() {
        return;
    }
    let ann = Ann::new();
    ann.give("project", ANN, ANN, 0o000);
    let folder = ann.0.path("project").display().to_string();
    let call = r#"{"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={ANN}"), &format!("--regid={ANN}"), "--clear-groups"]);
    command.arg(ann.0.path("crosier")).args(["hook", "claude"]).current_dir("/").env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", ann.0.path("home")).env("CLAUDE_PROJECT_DIR", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = feed(command, call).exits(0);
    ann.give("project", ANN, ANN, 0o755);
    assert!(ran.stdout.contains("deny") && ran.stdout.contains("Permission denied"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("is new"), "{}", ran.stdout);
}

#[test]
fn a_folder_of_a_team_is_no_project_and_says_so() {
    if !is_root() {
        return;
    }
    let ann = Ann::new();
    ann.run(&["trust", "--revoke"], "").exits(0);
    fs::remove_file(ann.0.path("home/.config/crosier/crosier.yaml")).unwrap();
    ann.give("project", ANN, TEAM, 0o775);
    ann.run(&["fire", "PreToolUse"], BASH).exits(78).complains("others can write to this folder");
    ann.run(&["trust", "--yes"], "").exits(78).complains("others can write");
}

/// Runs a script in a mount namespace with an `/etc/crosier` of its own.
fn with_managed(machine: &Machine, script: &str) -> Option<Ran> {
    fs::create_dir_all(machine.path("etc/crosier/conf.d")).unwrap();
    Command::new("cp").arg("-a").arg("/etc/.").arg(machine.path("etc")).output().ok()?;
    let all = format!(
        "mount --make-rprivate / && mount --bind {etc} /etc || exit 77\n{script}",
        etc = machine.path("etc").display()
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &all]).current_dir(machine.path("project")).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", machine.path("home")).env("CROSIER", CROSIER);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = feed(command, "");
    (!matches!(ran.code, Some(77 | 1))).then_some(ran)
}

#[test]
fn the_managed_layer_holds_whatever_the_person_names() {
    if !is_root() {
        return;
    }
    let machine = Machine::trusted();
    machine.write(
        "etc/crosier/crosier.yaml",
        "hooks: {PreToolUse: [{name: guard, matcher: Bash, command: \"echo '{\\\"decision\\\": \\\"deny\\\", \\\"reason\\\": \\\"managed\\\"}'\"}], PostToolUse: [{name: after, command: \"echo '{\\\"additionalContext\\\": \\\"still managed\\\"}'\"}]}\n",
    );
    machine.write("own.yaml", "hooks: {Stop: [{name: x, command: 'true'}]}\n");
    let call = event("PreToolUse", "ls").to_string();
    let mut after = event("PostToolUse", "ls");
    after["tool_response"] = "x".into();
    let script = format!(
        r#"
fire() {{ echo '{call}' | $CROSIER fire "$@"; }}
echo 1; fire PreToolUse; echo 2; fire PreToolUse -c {own}
echo 3; $CROSIER disable managed:guard; $CROSIER disable after; fire PreToolUse
echo 4; $CROSIER config
echo '#' >> guard.sh
echo 5; echo '{after}' | $CROSIER fire PostToolUse; echo '{after}' | CLAUDE_PROJECT_DIR=$PWD $CROSIER hook claude
echo 6; chown 61001 /etc/crosier/crosier.yaml; fire PreToolUse; chown 0 /etc/crosier/crosier.yaml
echo 7; chmod 664 /etc/crosier/crosier.yaml; chgrp 61003 /etc/crosier/crosier.yaml; fire PreToolUse; chgrp 0 /etc/crosier/crosier.yaml
echo 8; chmod 777 /etc/crosier; fire PreToolUse -c {own}; chmod 755 /etc/crosier
echo 11; printf 'extends: ./team.yaml\nhooks: {{PreToolUse: [{{name: g, matcher: Bash, command: ./g.sh}}]}}\n' > /etc/crosier/conf.d/b.yaml
printf 'hooks: {{Stop: [{{name: t, command: "true"}}]}}\n' > /etc/crosier/conf.d/team.yaml
printf '#!/bin/sh\n' > /etc/crosier/conf.d/g.sh; chmod 755 /etc/crosier/conf.d/g.sh
sed -i s/team.yaml/team.json/ /etc/crosier/conf.d/b.yaml; mv /etc/crosier/conf.d/team.yaml /etc/crosier/conf.d/team.json
fire PreToolUse -c {own}
echo 12; chmod 666 /etc/crosier/conf.d/team.json; fire PreToolUse -c {own}; chmod 644 /etc/crosier/conf.d/team.json
echo 13; chown 61001 /etc/crosier/conf.d/g.sh; fire PreToolUse -c {own}; chown 0 /etc/crosier/conf.d/g.sh
echo 14; rm -r /etc/crosier/conf.d/b.yaml
echo 9; ln -s /nowhere /etc/crosier/conf.d/a.yaml; fire PreToolUse -c {own}
exit 0
"#,
        own = machine.path("own.yaml").display(),
    );
    let Some(ran) = with_managed(&machine, &script) else { return };
    let said = format!("{}\n{}", ran.stdout, ran.stderr);
    let part = |number: u32| {
        let from = ran.stdout.split_once(&format!("{number}\n")).unwrap_or_else(|| panic!("{said}")).1;
        from.split_once(&format!("\n{}\n", number + 1)).map_or(from, |(part, _)| part).to_owned()
    };
    for number in [1, 2, 3] {
        assert!(part(number).contains(r#""reason":"managed""#), "{number}: {said}");
    }
    assert!(part(1).contains(r#""by":"managed:guard""#), "{said}");
    assert!(ran.stderr.contains("is a managed hook"), "{said}");
    assert!(part(4).contains("managed") && part(4).contains("/etc/crosier/crosier.yaml"), "{said}");
    let after: Vec<bool> = part(5).lines().map(|line| line.contains("still managed")).collect();
    assert_eq!(after, [true, true], "closed switches nothing off: {said}");
    assert!(part(6).contains("it belongs to user 61001"), "{said}");
    assert!(part(7).contains("group 61003 can write to it"), "{said}");
    assert!(part(8).contains("the folder /etc/crosier: everybody can write to it"), "{said}");
    assert!(part(11).contains(r#""reason":"managed""#), "{said}");
    assert!(part(12).contains("team.json") && part(12).contains("everybody can write to it"), "{said}");
    assert!(part(13).contains("g.sh") && part(13).contains("it belongs to user 61001"), "{said}");
    assert!(ran.stderr.contains("conf.d/a.yaml is refused: it is a dangling symlink"), "{said}");
}
