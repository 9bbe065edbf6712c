//! The daemon that an event starts.

use std::fs;
use std::path::Path;

use super::Home;
use crate::lab::{is_alive, wait_until};

pub(super) const POLICY: &str = "
import os, time
def check(event, context):
    command = event['tool_input'].get('command', '')
    if command == 'pid': return {'decision': 'deny', 'reason': str(os.getpid())}
    if command == 'env': return {'decision': 'deny', 'reason': os.environ.get('MARK', '-') + os.environ.get('CROSIER_ATTEMPT', '')}
    if command == 'die' and not os.environ.get('CROSIER_ATTEMPT'): os._exit(1)
    if command == 'sleep': time.sleep(60)
    if command == 'slow': time.sleep(float(event['tool_input']['for']))
    if command.startswith('rm'): return {'decision': 'deny', 'reason': 'no rm' + os.environ.get('CROSIER_ATTEMPT', '')}
";
pub(super) const CONFIG: &str = "
hooks:
  PreToolUse:
    - {name: policy, type: python, handler: policy.check, timeout: 20s, on_error: abort}
";

impl Home {
    pub(super) fn with_policy() -> Self {
        let home = Self::new();
        home.lab.write("project/hooks.yaml", CONFIG);
        home.lab.write("project/policy.py", POLICY);
        home
    }

    /// Fires an event at the Python hook; the decision and the reason.
    pub(super) fn fire(&self, input: &str, vars: &[(&str, &str)]) -> (serde_json::Value, String) {
        use std::io::Write;
        let mut command = self.command(&["fire", "PreToolUse", "-c", "hooks.yaml"]);
        let mut child =
            command.envs(vars.iter().copied()).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let event = format!(r#"{{"tool_name":"Bash","tool_input":{input}}}"#);
        child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        let ran = child.wait_with_output().unwrap();
        let outcome: serde_json::Value = serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
        let reason = outcome["reason"].as_str().unwrap_or_default().to_owned();
        (outcome, reason)
    }

    /// Waits until a daemon that an event started can be used.
    pub(super) fn wait_for_daemon(&self) {
        wait_until("a daemon was started", || {
            self.command(&["serve", "--status"]).output().is_ok_and(|ran| ran.status.success())
        });
    }
}

#[test]
fn an_event_starts_a_daemon_that_keeps_nothing_of_it() {
    let home = Home::with_policy();
    let (_, cold) = home.fire(r#"{"command":"pid"}"#, &[("CALLERS_OWN", "x")]);
    home.wait_for_daemon();
    let pid = home.pid().unwrap();
    let proc = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap();
    assert_eq!(proc("environ"), b"");
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
    let stat = String::from_utf8(proc("stat")).unwrap();
    let session = stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().to_owned();
    assert_eq!(session, pid.to_string());
    assert!(String::from_utf8(proc("status")).unwrap().contains("Umask:\t0077"));
    for fd in fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let to = fs::read_link(fd.unwrap().path()).unwrap_or_default();
        assert!(!to.to_string_lossy().contains("pipe:"), "{to:?} is the caller's");
    }
    let (_, warm) = home.fire(r#"{"command":"pid"}"#, &[]);
    let (_, again) = home.fire(r#"{"command":"pid"}"#, &[]);
    assert!(warm != cold && warm == again, "{cold} {warm} {again}");
    // Each call has the variables of its own caller, in the same worker.
    assert_eq!(home.fire(r#"{"command":"env"}"#, &[("MARK", "one")]).1, "one");
    assert_eq!(home.fire(r#"{"command":"env"}"#, &[]).1, "-");
    assert_eq!(home.fire(r#"{"command":"env"}"#, &[("MARK", "two")]).1, "two");
    assert_eq!(home.fire(r#"{"command":"pid"}"#, &[("MARK", "two")]).1, again);
    // A file that changed is not answered from memory.
    home.lab.write("project/policy.py", "def check(event): return {'decision': 'deny', 'reason': 'changed'}");
    assert_eq!(home.fire(r#"{"command":"ls"}"#, &[]).1, "changed");
}

#[test]
fn a_daemon_is_shown_stopped_and_started_again() {
    let home = Home::new();
    let run = |args: &[&str]| home.command(args).output().unwrap();
    assert_eq!(run(&["serve", "--status"]).status.code(), Some(1));
    assert_eq!(run(&["serve", "--restart"]).status.code(), Some(0));
    let first = home.pid().unwrap();
    let status = run(&["serve", "--status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["pid"], first);
    assert_eq!(run(&["serve", "--restart"]).status.code(), Some(0));
    assert_ne!(home.pid().unwrap(), first);
    assert_eq!(run(&["serve", "--stop"]).status.code(), Some(0));
    wait_until("it ends", || !is_alive(&home.pid().unwrap().to_string()));
    assert_eq!(run(&["serve", "--status"]).status.code(), Some(1));
}

#[test]
fn a_daemon_that_nobody_uses_ends() {
    let mut home = Home::new();
    let child = home.command(&["serve", "--idle", "1"]).spawn().unwrap();
    let pid = child.id().to_string();
    home.daemon = Some(child);
    wait_until("it ends", || !is_alive(&pid));
    assert!(!home.socket().exists());
}

#[test]
fn daemon_off_starts_none() {
    let home = Home::with_policy();
    home.lab.write("config/crosier/crosier.yaml", "daemon: off\nhooks: {Stop: [{run: '/log info x'}]}");
    fs::write(home.lab.path("project/hooks.yaml"), format!("daemon: off\n{CONFIG}")).unwrap();
    assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
    assert!(!home.socket().exists());
    // The user's own file says so for files that are named too, and so does one that cannot be read.
    home.lab.write("project/hooks.yaml", CONFIG);
    for own in ["daemon: off\nhooks: {Stop: [{run: '/log info x'}]}", "daemon: off\nhooks: ["] {
        home.lab.write("config/crosier/crosier.yaml", own);
        assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!home.lab.path("run/crosier").exists(), "{own}");
    }
}
