//! Programs of the same user that bind the socket, and daemons that run hooks as their callers would not.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Home;
use crate::lab::{CROSIER, wait_until};

/// Puts a program at the place of the daemon, which can read no key although there is one; `speak` serves a connection.
fn impostor(home: &Home, speak: impl Fn(UnixStream) + Send + Sync + Clone + 'static) {
    let private = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(home.lab.path("run/crosier")).unwrap();
    private(&home.lab.path("run/crosier"), 0o700);
    let listener = UnixListener::bind(home.socket()).unwrap();
    private(&home.socket(), 0o600);
    std::fs::create_dir_all(home.lab.path("state/crosier")).unwrap();
    std::fs::write(home.lab.path("state/crosier/daemon.key"), [7; 32]).unwrap();
    private(&home.lab.path("state/crosier/daemon.key"), 0o600);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), speak) = (stream, speak.clone()) else { return };
            std::thread::spawn(move || speak(stream));
        }
    });
}

#[test]
fn a_false_daemon_is_not_asked() {
    let home = Home::with_policy();
    impostor(&home, |mut stream| {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocol": 1, "proof": "00".repeat(32),
            "server": {"name": "crosier", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id()}}});
        let _ = stream.write_all(format!("{hello}\n").as_bytes());
        let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"reply\":null}}\n");
        std::thread::sleep(Duration::from_secs(5));
    });
    assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
}

#[test]
fn whoever_never_stops_talking_is_not_listened_to() {
    let ways: [(&'static [u8], Duration); 3] = [
        (&[b'x'; 65536], Duration::ZERO),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"alive\",\"params\":{}}\n", Duration::ZERO),
        (b" ", Duration::from_millis(10)),
    ];
    for (bytes, pause) in ways {
        let home = Home::with_policy();
        impostor(&home, move |mut stream| {
            while stream.write_all(bytes).is_ok() {
                std::thread::sleep(pause);
            }
        });
        let began = Instant::now();
        assert_eq!(home.fire(r#"{"command":"rm"}"#, &[]).1, "no rm");
        for args in [&["serve", "--status"][..], &["serve", "--stop"], &["status"], &["doctor"]] {
            assert!(home.command(args).output().unwrap().status.code().is_some(), "{args:?}");
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
}

#[test]
fn a_daemon_that_is_more_confined_than_its_caller_does_not_get_the_call() {
    let mut home = Home::with_policy();
    let mine = home.command(&[]);
    let mut daemon = Command::new("setpriv");
    daemon.args(["--no-new-privs", CROSIER, "serve"]).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    daemon.envs(mine.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Not every machine has this program.
    let Ok(child) = daemon.spawn() else { return };
    home.daemon = Some(child);
    wait_until("the daemon serves", || UnixStream::connect(home.socket()).is_ok());
    for _ in 0..3 {
        assert_eq!(home.fire(r#"{"command":"env"}"#, &[("MARK", "first")]).1, "first", "no second attempt");
    }
    let mut client = home.connect();
    assert_eq!(client.hello()["confined"], "it has NoNewPrivs");
    assert_eq!(client.result("status", json!({}))["fires"], 0);
}
