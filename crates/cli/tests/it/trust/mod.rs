//! Trust, attacked for real: with files, links, processes and variables, against the built program.

mod agent;
mod closed;
mod files;
mod layers;
mod place;
mod question;
mod record;
mod users;
mod venv;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::lab::{CROSIER, Ran, finish};

/// A person's machine: a home with configuration and state, and a project beside it.
pub(crate) struct Machine(tempfile::TempDir);

const GUARD: &str = "#!/bin/sh\necho '{\"decision\": \"deny\", \"reason\": \"the guard says no\"}'\n";
const CONFIG: &str = "hooks: {PreToolUse: [{name: guard, matcher: Bash, command: ./guard.sh}]}\n";

impl Machine {
    /// With a project that has a guard, in a repository.
    pub(crate) fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(machine.path("home")).unwrap();
        machine.write("project/crosier.yaml", CONFIG);
        machine.write("project/guard.sh", GUARD);
        machine.set_mode("project/guard.sh", 0o755);
        fs::create_dir_all(machine.path("project/.git")).unwrap();
        machine
    }

    /// The same, trusted.
    pub(crate) fn trusted() -> Self {
        let machine = Self::new();
        machine.trust("project");
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(CROSIER);
        command.args(args).current_dir(self.path(folder)).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.path("home"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, folder: &str, args: &[&str]) -> Ran {
        feed(self.command(folder, args), "")
    }

    #[track_caller]
    pub(crate) fn trust(&self, folder: &str) -> Ran {
        self.run(folder, &["trust", "--yes"]).exits(0)
    }

    /// Fires a call of Bash in a folder.
    pub(crate) fn fire(&self, folder: &str) -> Ran {
        feed(self.command(folder, &["fire", "PreToolUse"]), BASH)
    }

    /// What becomes of a call of Bash in a folder: who denied it, and why.
    #[track_caller]
    pub(crate) fn decision(&self, folder: &str) -> (String, String) {
        let said = self.fire(folder).exits(0).json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&said["decision"]), text(&said["reason"]))
    }

    /// Fails unless what acts is denied because the project is not as it was trusted.
    #[track_caller]
    pub(crate) fn is_closed(&self, folder: &str, because: &str) {
        let (decision, reason) = self.decision(folder);
        assert_eq!(decision, "deny", "{reason}");
        assert!(reason.contains(because), "{reason}");
        assert!(!reason.contains("the guard says no"), "{reason}");
    }

    /// Fails unless the project's own guard runs.
    #[track_caller]
    pub(crate) fn is_guarded(&self, folder: &str) {
        assert_eq!(self.decision(folder), ("deny".to_owned(), "the guard says no".to_owned()));
    }

    /// Fails unless the project's hooks do not run, and nothing is denied for it.
    #[track_caller]
    pub(crate) fn is_never_trusted(&self, folder: &str) {
        self.fire(folder).exits(78).complains("they are not trusted");
        let ran = self.hook(folder, &["claude"], &event("PreToolUse", "ls"), &[]).exits(0);
        assert!(!ran.stdout.contains("deny"), "{}", ran.stdout);
    }

    /// One event of an agent whose project this folder is.
    pub(crate) fn hook(&self, folder: &str, words: &[&str], event: &Value, more: &[(&str, &str)]) -> Ran {
        let args: Vec<&str> = std::iter::once("hook").chain(words.iter().copied()).collect();
        let mut command = self.command(folder, &args);
        command.env("CLAUDE_PROJECT_DIR", self.path(folder)).envs(more.iter().copied());
        feed(command, &event.to_string())
    }
}

const BASH: &str = r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}}"#;

/// An event of an agent.
pub(crate) fn event(name: &str, command: &str) -> Value {
    let mut event = json!({"session_id": "s1", "hook_event_name": name, "prompt": "x", "source": "startup"});
    event["tool_name"] = json!("Bash");
    event["tool_input"] = json!({"command": command});
    event
}

pub(crate) fn feed(mut command: Command, input: &str) -> Ran {
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    finish(child, started)
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_project_is_never_trusted_then_trusted_then_closed() {
    let machine = Machine::new();
    machine.is_never_trusted("project");
    machine.trust("project");
    machine.is_guarded("project");
    machine.write("project/guard.sh", "#!/bin/sh\nexit 0\n");
    machine.is_closed("project", "guard.sh changed since you trusted it; to review it: crosier trust --diff");
    machine.run("project", &["trust", "--diff"]).exits(1).says("-echo").says("+exit 0");
    machine.trust("project");
    assert_eq!(machine.decision("project").0, "");
    machine.run("project", &["trust", "--revoke"]).exits(0);
    machine.is_never_trusted("project");
}

#[test]
fn closed_denies_exactly_what_acts_and_tells_the_person() {
    let machine = Machine::trusted();
    machine.write("project/crosier.yaml", "hooks: {}");
    for name in ["PreToolUse", "PermissionRequest"] {
        let ran = machine.hook("project", &["claude"], &event(name, "ls"), &[]).exits(0);
        assert!(
            ran.stdout.contains("deny") && ran.stdout.contains("crosier.yaml changed"),
            "{name}: {}",
            ran.stdout
        );
    }
    for name in ["UserPromptSubmit", "SessionStart"] {
        let ran = machine.hook("project", &["claude"], &event(name, "ls"), &[]).exits(0);
        assert!(ran.json()["systemMessage"].as_str().unwrap().contains("crosier.yaml changed"), "{name}");
        assert!(ran.json()["decision"].is_null(), "{name}: nobody is locked out of typing");
    }
    for name in ["Stop", "PostToolUse", "SessionEnd"] {
        let ran = machine.hook("project", &["claude"], &event(name, "ls"), &[]).exits(0);
        assert_eq!(ran.stdout, "", "{name}");
    }
    let write = r#"{"path": "a", "message": "m", "files": []}"#;
    for (name, input) in [("PreGitWrite", write), ("PreAgentSpawn", "{}")] {
        let said = feed(machine.command("project", &["fire", name]), input);
        assert!(
            said.code == Some(65) || said.json()["decision"] == "deny",
            "{name}: {} {}",
            said.stdout,
            said.stderr
        );
    }
}

#[test]
fn never_trusted_is_told_once_in_a_session_and_its_files_are_not_parsed() {
    let machine = Machine::new();
    machine.write("project/crosier.yaml", "hooks: [this is [not yaml");
    let say = || machine.hook("project", &["claude"], &event("UserPromptSubmit", "ls"), &[]).exits(0);
    assert!(say().json()["systemMessage"].as_str().unwrap().contains("crosier trust"));
    assert_eq!(say().stdout, "");
    let start = |source: &str| {
        let mut start = event("SessionStart", "ls");
        start["source"] = json!(source);
        machine.hook("project", &["claude"], &start, &[]).exits(0).stdout
    };
    assert_eq!(start("compact"), "", "it is the same session");
    assert!(start("resume").contains("crosier trust"));
    machine.fire("project").exits(78).complains("they are not trusted");
}

#[test]
fn trust_shows_everything_and_records_nothing_without_a_word() {
    let machine = Machine::new();
    machine.write(
        "project/crosier.yaml",
        "hooks:\n  PreToolUse:\n    - {name: guard, matcher: Bash, command: ./guard.sh, env: {LEVEL: high}, env_pass: [MY_TOKEN]}\n    - {name: \"x\\e[2Jy\", type: python, handler: policy.check, python: python3}\n",
    );
    machine.write("project/policy.py", "import helper\ndef check(event): pass\n");
    machine.write("project/helper.py", "");
    let ran = machine.run("project", &["trust"]).exits(1);
    ran.says("PreToolUse Bash: guard").says("./guard.sh").says("env LEVEL=high").says("env_pass MY_TOKEN");
    ran.says("python python3").says("policy.py").says("helper.py").says("sha256:").says("x\\u{1b}[2Jy");
    assert!(!ran.stdout.contains('\u{1b}'), "hostile text is escaped");
    ran.complains("nothing was recorded");
    machine.is_never_trusted("project");
    let ran = machine.run("project", &["trust", "--list"]).exits(0);
    ran.says("no project is trusted");
}

#[test]
fn a_digest_trusts_every_clone_and_nothing_else() {
    let machine = Machine::new();
    let digest = machine.run("project", &["trust", "--digest"]).exits(0).stdout.trim().to_owned();
    copy_folder(&machine.path("project"), &machine.path("clone"));
    assert_eq!(machine.run("clone", &["trust", "--digest"]).stdout.trim(), digest);
    let fire = |digest: &str| {
        let mut command = machine.command("clone", &["fire", "PreToolUse"]);
        command.env("CROSIER_TRUST", digest);
        feed(command, BASH).exits(0).json()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(fire(&digest), "the guard says no");
    assert!(fire("sha256:0000").contains("the trusted one is sha256:0000"));
    machine.write("clone/guard.sh", "#!/bin/sh\n");
    assert!(fire(&digest).contains("but the trusted one is"));
    let said = feed(machine.command("project", &["fire", "PreToolUse", "--trust", &digest]), BASH).json();
    assert_eq!(said["reason"], "the guard says no");
    machine.is_never_trusted("clone");
}
