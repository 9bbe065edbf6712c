//! Who may use the socket, and where it may be.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use serde_json::json;

use super::Home;
use crate::lab::wait_until;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn one_server_has_the_lock_and_only_its_owner_can_use_it() {
    let mut home = Home::new();
    let pid = home.start();
    assert_eq!((mode(&home.socket()), mode(home.socket().parent().unwrap())), (0o600, 0o700));
    let second = home.command(&["serve"]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains(&pid.to_string()));
    // The first one is none the worse for it.
    home.connect().hello();
}

#[test]
fn a_folder_that_is_not_ones_own_is_no_place_for_a_socket() {
    let home = Home::new();
    let folder = home.lab.path("run/crosier");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let status = |home: &Home| {
        let ran = home.command(&["serve", "--status"]).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, said) = status(&home);
    assert!(code == Some(1) && said.contains("0700"), "{said}");
    std::fs::remove_dir(&folder).unwrap();
    std::fs::create_dir(home.lab.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.lab.path("elsewhere"), &folder).unwrap();
    let (code, said) = status(&home);
    assert!(code == Some(1) && said.contains("link"), "{said}");
    let served = home.command(&["serve"]).output().unwrap();
    assert_eq!(served.status.code(), Some(1));
}

#[test]
fn what_is_wrong_with_the_key_or_the_lock_is_said_with_the_remedy() {
    let mut home = Home::new();
    home.start();
    let key = home.lab.path("state/crosier/daemon.key");
    let run = |args: &[&str]| {
        let ran = home.command(args).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
    };
    // An answer shows that the daemon has made its key.
    assert_eq!(run(&["serve", "--status"]).0, Some(0));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, said) = run(&["serve", "--status"]);
    assert!(code == Some(0) && said.contains("daemon.key") && said.contains("644"), "{said}");
    assert_eq!(run(&["serve", "--stop"]).0, Some(0));
    std::fs::write(&key, "short").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (code, said) = run(&["serve"]);
    assert!(code == Some(1) && said.contains("daemon.key") && said.contains("remove it"), "{said}");
    let lock = home.socket().with_extension("lock");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&key, &lock).unwrap();
    let (code, said) = run(&["serve"]);
    assert!(code == Some(1) && said.contains(".lock"), "{said}");
}

#[test]
fn without_a_daemon_the_status_is_json_as_well() {
    let home = Home::new();
    let status = |runtime: &str| {
        let mut command = home.command(&["serve", "--status", "--json"]);
        let ran = command.env("XDG_RUNTIME_DIR", home.lab.path(runtime)).output().unwrap();
        assert_eq!(ran.status.code(), Some(1));
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap()["state"].clone()
    };
    assert_eq!(status("run"), "not running");
    assert_eq!(status(&"x".repeat(100)), "unusable");
}

#[test]
fn a_place_that_is_refused_is_not_made() {
    let home = Home::new();
    // Never the folder of somebody else, who may have made it already.
    if std::path::Path::new("/tmp/crosier").exists() {
        return;
    }
    let ran = home.command(&["serve"]).env("XDG_RUNTIME_DIR", "/tmp").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(!std::path::Path::new("/tmp/crosier").exists());
}

#[test]
fn a_path_that_is_too_long_is_said() {
    let home = Home::new();
    let long = home.lab.path(&"x".repeat(100));
    let ran = home.command(&["serve", "--status"]).env("XDG_RUNTIME_DIR", long).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("too long"));
}

#[test]
fn a_socket_that_was_left_behind_is_replaced() {
    let mut home = Home::new();
    std::fs::create_dir(home.lab.path("run/crosier")).unwrap();
    std::fs::set_permissions(home.lab.path("run/crosier"), std::fs::Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    assert!(UnixStream::connect(home.socket()).is_err());
    home.start();
    home.connect().hello();
}

#[test]
fn a_confined_client_is_refused() {
    let mut home = Home::new();
    home.start();
    let script = r#"
import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile("rw")
f.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {"protocols": [1], "config": []}}) + "\n"); f.flush()
line = f.readline(); print(line.strip()); print(repr(f.readline() if "error" in line else ""))
"#;
    let socket = home.socket();
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["python3", "-c", script]).arg(&socket);
        command.output().ok().filter(|ran| ran.status.success())
    };
    let free = run(&["env"]).unwrap();
    assert!(String::from_utf8_lossy(&free.stdout).contains("\"result\""));
    // Not every machine lets a test confine itself.
    let ways: [&[&str]; 3] =
        [&["setpriv", "--no-new-privs"], &["unshare", "--mount"], &["unshare", "--user"]];
    for confined in ways.iter().filter_map(|way| run(way)) {
        let said = String::from_utf8_lossy(&confined.stdout).into_owned();
        assert!(said.contains("-32008") && said.contains("confined") && said.ends_with("''\n"), "{said}");
    }
}

#[test]
fn on_the_socket_only_files_that_are_in_force_may_be_named() {
    let mut home = Home::new();
    let stray = home.lab.write("stray/hooks.yaml", "hooks: {Stop: [{run: '/log info x'}]}");
    home.start();
    let mut client = home.connect();
    let answer = client.call("hello", json!({"protocols": [1], "config": [stray]}));
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["kind"]),
        (&json!(-32006), &json!("untrusted"))
    );
}

#[test]
fn a_daemon_whose_socket_is_gone_ends() {
    let mut home = Home::new();
    home.start();
    std::fs::remove_file(home.socket()).unwrap();
    let mut daemon = home.daemon.take().unwrap();
    wait_until("it ends", || {
        std::fs::read_to_string(format!("/proc/{}/stat", daemon.id())).is_ok_and(|stat| stat.contains(") Z"))
    });
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
}
