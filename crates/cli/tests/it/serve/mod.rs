//! `crosier serve`: the protocol, the daemon, its clients.

mod chaos;
mod daemon;
mod hosts;
mod http;
mod impostor;
mod limits;
mod python;
mod rules;
mod soak;
mod socket;
mod transcript;
mod workers;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{CROSIER, Lab, wait_until};

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client: what it sends, and what it hears, line by line.
struct Client {
    out: Option<Box<dyn Write + Send>>,
    heard: Receiver<Value>,
    last: u64,
    /// Lines that were passed over while an answer was waited for.
    passed: Vec<Value>,
    /// Closed with the client: the thread that reads holds a copy.
    socket: Option<UnixStream>,
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }
}

impl Client {
    fn new(input: impl Read + Send + 'static, out: impl Write + Send + 'static) -> Self {
        let (tell, heard) = sync_channel(100_000);
        std::thread::spawn(move || {
            for line in BufReader::new(input).lines() {
                let Ok(line) = line else { return };
                let line = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self { out: Some(Box::new(out)), heard, last: 0, passed: Vec::new(), socket: None }
    }

    fn send_text(&mut self, text: &str) {
        let out = self.out.as_mut().unwrap();
        out.write_all(text.as_bytes())
            .and_then(|()| out.write_all(b"\n"))
            .and_then(|()| out.flush())
            .unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    /// Sends a request; its number.
    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    #[track_caller]
    fn next(&mut self) -> Value {
        if !self.passed.is_empty() {
            return self.passed.remove(0);
        }
        self.heard.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("the server says nothing"))
    }

    /// Waits for the answer to a request.
    #[track_caller]
    fn answer(&mut self, id: u64) -> Value {
        let is_it = |line: &Value| line["id"] == id && line.get("method").is_none();
        if let Some(at) = self.passed.iter().position(is_it) {
            return self.passed.remove(at);
        }
        loop {
            let line = self.heard.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the server does not answer"));
            if is_it(&line) {
                return line;
            }
            self.passed.push(line);
        }
    }

    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The result of a request that must succeed.
    #[track_caller]
    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The code of a request that must fail.
    #[track_caller]
    fn code(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.call(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} did not fail: {answer}"))
    }

    #[track_caller]
    fn hello(&mut self) -> Value {
        self.result("hello", json!({"protocols": [1], "config": [], "cwd": "/"}))
    }

    #[track_caller]
    fn fire(&mut self, command: &str) -> Value {
        let fire = json!({"event": "PreToolUse", "input": {"tool_name": "Bash", "tool_input": {"command": command}}});
        self.result("fire", fire)["outcome"].clone()
    }

    /// Whether the server hangs up.
    fn is_hung_up(&self) -> bool {
        loop {
            match self.heard.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

/// A server of one's own, on stdio.
fn stdio(lab: &Lab) -> (Client, Child) {
    let mut child = lab.command(&["serve", "--stdio"]).stderr(Stdio::inherit()).spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (Client::new(stdout, stdin), child)
}

/// A machine of one's own: folders for state and socket, and a daemon in them.
struct Home {
    lab: Lab,
    daemon: Option<Child>,
}

impl Home {
    fn new() -> Self {
        let lab = Lab::new();
        for folder in ["run", "state", "config", "project"] {
            std::fs::create_dir(lab.path(folder)).unwrap();
            std::fs::set_permissions(lab.path(folder), std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        Self { lab, daemon: None }
    }

    /// The program, in this home.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(CROSIER);
        command.args(args).current_dir(self.lab.path("project")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("XDG_RUNTIME_DIR", self.lab.path("run"));
        command.env("XDG_STATE_HOME", self.lab.path("state")).env("XDG_CONFIG_HOME", self.lab.path("config"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn socket(&self) -> PathBuf {
        self.lab.path(&format!("run/crosier/{}.sock", env!("CARGO_PKG_VERSION")))
    }

    /// Starts a daemon and waits until it can be reached.
    fn start(&mut self) -> u32 {
        let child = self.command(&["serve"]).spawn().unwrap();
        let pid = child.id();
        self.daemon = Some(child);
        wait_until("the daemon serves", || UnixStream::connect(self.socket()).is_ok());
        pid
    }

    fn connect(&self) -> Client {
        let stream = UnixStream::connect(self.socket()).unwrap();
        let mut client = Client::new(stream.try_clone().unwrap(), stream.try_clone().unwrap());
        client.socket = Some(stream);
        client
    }

    /// The process that holds the lock.
    fn pid(&self) -> Option<u32> {
        let lock = self.socket().with_extension("lock");
        std::fs::read_to_string(lock).ok()?.trim().parse().ok()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.command(&["serve", "--stop"]).status();
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
