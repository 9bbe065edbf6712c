//! Warm workers, as the text describes them: what they load, how many there are, and two versions beside each other.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Client, Home};
use crate::lab::{CROSIER, is_alive, wait_until};

fn digest(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    format!("sha256:{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Calls `policy.check` of a folder, as in the example of the text.
fn call(client: &mut Client, folder: &Path, files: Value) -> Value {
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let params = json!({"handler": "policy.check", "config": folder.join("crosier.yaml"), "layer": "project",
        "python": null, "python_path": [], "dir": folder, "files": files,
        "env": {"PATH": "/usr/local/bin:/usr/bin:/bin", "MARK": "mine"}, "event": event, "deadline_ms": 20000,
        "hook": "policy"});
    client.result("python.call", params)
}

#[test]
fn a_function_is_loaded_from_exactly_the_sources_that_the_caller_knows() {
    let mut home = Home::new();
    home.start();
    let mut client = home.connect();
    client.hello();
    let source = "import os\ndef check(event):\n    print('said')\n    return {'decision': 'deny', 'reason': os.environ['MARK']}\n";
    home.lab.write("project/policy.py", source);
    let folder = home.lab.path("project");
    let reply = json!({"decision": "deny", "reason": "mine"});
    let known = json!({"policy.py": digest(source)});
    let result = call(&mut client, &folder, known.clone());
    assert_eq!((&result["reply"], &result["stdout"]), (&reply, &json!("said\n")));
    let other = call(&mut client, &folder, json!({"policy.py": digest("something else")}));
    assert_eq!(other["failure"]["kind"], "import", "{other}");
    // It changed after it was loaded: it is not answered from memory.
    let changed = source.replace("os.environ['MARK']", "'changed'");
    home.lab.write("project/policy.py", &changed);
    assert_eq!(call(&mut client, &folder, known)["failure"]["kind"], "import");
    let result = call(&mut client, &folder, json!({"policy.py": digest(&changed)}));
    assert_eq!(result["reply"]["reason"], "changed");
    // What it prints is told of a failure too.
    let fails = "def check(event):\n    print('before')\n    raise ValueError('no')\n";
    home.lab.write("project/policy.py", fails);
    let result = call(&mut client, &folder, json!({"policy.py": digest(fails)}));
    assert_eq!(
        (&result["failure"]["kind"], &result["stdout"]),
        (&json!("error"), &json!("before\n")),
        "{result}"
    );
}

#[test]
fn the_least_recently_used_workers_end_when_there_are_too_many_kinds() {
    let mut home = Home::new();
    home.start();
    let mut client = home.connect();
    client.hello();
    let source = "import os\ndef check(event): return {'decision': 'deny', 'reason': str(os.getpid())}\n";
    let mut call = |number: usize| {
        home.lab.write(&format!("project{number}/policy.py"), source);
        let folder = home.lab.path(&format!("project{number}"));
        let result = call(&mut client, &folder, json!({"policy.py": digest(source)}));
        let workers = client.result("status", json!({}))["workers"].as_array().unwrap().len();
        (result["reply"]["reason"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned(), workers)
    };
    let pids: Vec<String> = (0..16).map(|number| call(number).0).collect();
    assert!(pids.iter().all(|pid| is_alive(pid)));
    // The first one is used again, so the second is the least recently used one.
    assert_eq!(call(0), (pids[0].clone(), 16));
    let (_, workers) = call(16);
    assert_eq!(workers, 16);
    wait_until("the least recently used worker ends", || !is_alive(&pids[1]));
    assert!(is_alive(&pids[0]) && pids[2..].iter().all(|pid| is_alive(pid)));
    // It is started again when it is needed.
    let (again, workers) = call(1);
    assert!(again != pids[1] && workers == 16);
}

/// The program as another version of it: the same length, another last digit.
fn another_version(home: &Home) -> (std::path::PathBuf, String) {
    let version = env!("CARGO_PKG_VERSION");
    let (start, last) = version.split_at(version.len() - 1);
    let other = format!("{start}{}", if last == "9" { "8" } else { "9" });
    let mut bytes = std::fs::read(CROSIER).unwrap();
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(&bytes[at..], version.as_bytes()) {
        bytes[at + found..at + found + version.len()].copy_from_slice(other.as_bytes());
        at += found + version.len();
    }
    let path = home.lab.path("another-crosier");
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    (path, other)
}

#[test]
fn two_versions_have_a_daemon_each() {
    let home = Home::with_policy();
    let (program, version) = another_version(&home);
    let mine = home.command(&[]);
    let run = |args: &[&str], input: &str| {
        let mut command = Command::new(&program);
        command.args(args).current_dir(home.lab.path("project")).env_clear();
        command.envs(mine.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    assert!(String::from_utf8_lossy(&run(&["--version"], "").stdout).contains(&version));
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"pid"}}"#;
    let pid = |ran: std::process::Output| {
        let outcome: Value = serde_json::from_slice(&ran.stdout).unwrap();
        outcome["reason"].as_str().unwrap().to_owned()
    };
    let other_pid = || pid(run(&["fire", "PreToolUse", "-c", "hooks.yaml"], event));
    let my_pid = || home.fire(r#"{"command":"pid"}"#, &[]).1;
    my_pid();
    other_pid();
    home.wait_for_daemon();
    wait_until("the other daemon serves", || run(&["serve", "--status"], "").status.success());
    assert!(home.socket().exists() && home.socket().with_file_name(format!("{version}.sock")).exists());
    // Each has warm workers of its own. On a busy machine a call may not wait for its daemon.
    wait_until("each has a warm worker", || (my_pid(), other_pid()) == (my_pid(), other_pid()));
    let (mine, others) = (my_pid(), other_pid());
    assert_ne!(mine, others);
    // One ends; the other goes on.
    assert!(run(&["serve", "--stop"], "").status.success());
    wait_until("my daemon goes on", || my_pid() == mine);
}

#[test]
fn a_daemon_that_accepts_nothing_is_not_waited_for() {
    let home = Home::with_policy();
    let folder = home.lab.path("run/crosier");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let _full = UnixListener::bind(home.socket()).unwrap();
    std::fs::set_permissions(home.socket(), std::fs::Permissions::from_mode(0o600)).unwrap();
    // Its queue is full when a connection would have to wait.
    let mut waiting = Vec::new();
    loop {
        let socket =
            rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None)
                .unwrap();
        rustix::io::ioctl_fionbio(&socket, true).unwrap();
        let address = rustix::net::SocketAddrUnix::new(home.socket()).unwrap();
        if rustix::net::connect(&socket, &address).is_err() {
            break;
        }
        waiting.push(socket);
        assert!(waiting.len() < 10_000);
    }
    let began = Instant::now();
    assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
    let status = home.command(&["serve", "--status"]).output().unwrap();
    assert_eq!(status.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&status.stderr).contains("does not accept"));
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_confined_program_starts_no_daemon() {
    let home = Home::with_policy();
    // Not every machine lets a test confine itself.
    let ways: [&[&str]; 3] =
        [&["setpriv", "--no-new-privs"], &["unshare", "--mount"], &["unshare", "--user", "--map-root-user"]];
    for way in ways {
        let mine = home.command(&[]);
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).arg(CROSIER).args(["fire", "PreToolUse", "-c", "hooks.yaml"]).env_clear();
        command.envs(mine.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(home.lab.path("project")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.stderr(Stdio::null()).spawn() else { continue };
        let event = br#"{"tool_name":"Bash","tool_input":{"command":"rm"}}"#;
        let _ = child.stdin.take().unwrap().write_all(event);
        let ran = child.wait_with_output().unwrap();
        let Ok(outcome) = serde_json::from_slice::<Value>(&ran.stdout) else { continue };
        assert_eq!(outcome["reason"], "no rm", "{way:?}");
        // The folder is the first thing that a daemon makes, and it is started before the hook runs.
        std::thread::sleep(Duration::from_millis(300));
        assert!(!home.lab.path("run/crosier").exists(), "{way:?}");
    }
    // Unconfined it is started.
    home.fire(r#"{"command":"rm"}"#, &[]);
    home.wait_for_daemon();
}
