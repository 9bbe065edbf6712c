//! G12: the daemon. A hook with a warm Python function, from the start of the process to its end; and a fire over an
//! open connection.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::cli::static_true;
use crate::floor::Raw;
use crate::lab::{Findings, Lab};
use crate::measure::{Group, clock};
use crate::row::{Row, Unit};

const POLICY: &str = "def check(event):\n    if event['tool_input']['command'].startswith('rm'):\n        return {'decision': 'deny'}\n";
pub(super) const EVENT: &str = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls -la"}}"#;

/// Separate folders, with the configurations in them.
pub(super) struct Home {
    pub(super) folder: PathBuf,
}

impl Home {
    pub(super) fn new(lab: &Lab, name: &str) -> Result<Self> {
        let folder = lab.folder().join(name);
        let make = |path: &Path| std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        for part in ["run", "state", "config", "project"] {
            make(&folder.join(part))?;
        }
        std::fs::write(folder.join("policy.py"), POLICY)?;
        let python = "hooks: {PreToolUse: [{name: policy, type: python, handler: policy.check}]}\n";
        std::fs::write(folder.join("python.yaml"), python)?;
        std::fs::write(folder.join("cold.yaml"), format!("daemon: off\n{python}"))?;
        let builtin = "hooks: {PreToolUse: [{name: guard, type: builtin, handler: block-commands}]}\n";
        std::fs::write(folder.join("builtin.yaml"), builtin)?;
        Ok(Self { folder })
    }

    fn part(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// The variables that name the folders.
    pub(super) fn variables(&self) -> [(&'static str, String); 3] {
        [("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")]
            .map(|(name, part)| (name, self.part(part)))
    }

    pub(super) fn hook(&self, cli: &Path, lab: &Lab, config: &str) -> Raw {
        self.call(cli, lab, &["hook", "claude"], config)
    }

    fn call(&self, cli: &Path, lab: &Lab, words: &[&str], config: &str) -> Raw {
        let config = self.part(config);
        // A project of its own: a state folder inside the project would be refused, and nothing logged.
        let raw = Raw::new(cli, &[words, &["-c", &config]].concat(), &lab.path).in_folder(&self.project());
        self.variables().into_iter().fold(raw, |raw, (name, value)| raw.with(name, value))
    }

    pub(super) fn serve(&self, cli: &Path, lab: &Lab) -> Result<Daemon> {
        let mut command = Command::new(cli);
        command.args(["serve", "--idle", "0"]).env_clear().env("PATH", &lab.path);
        command.envs(self.variables());
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().context("crosier serve")?;
        let daemon = Daemon(child);
        wait_until("crosier serve does not answer", || self.connect().is_ok())?;
        Ok(daemon)
    }

    /// Ends a daemon that a hook started.
    fn stop(&self) -> Result<()> {
        wait_until("the hook started no daemon", || self.connect().is_ok())?;
        let mut wire = self.connect()?.hello()?;
        wire.ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}\n", "\"id\":1")?;
        wait_until("the daemon does not end", || self.connect().is_err())
    }

    fn connect(&self) -> Result<Wire> {
        let folder = self.folder.join("run/crosier");
        let mut entries = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
        let socket = entries.find(|path| path.extension().is_some_and(|end| end == "sock"));
        Wire::new(UnixStream::connect(socket.context("no socket")?)?)
    }
}

fn wait_until(or_else: &str, is_so: impl Fn() -> bool) -> Result<()> {
    let over = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        if Instant::now() > over {
            bail!("{or_else}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

pub(super) struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One connection, a line at a time.
struct Wire {
    to: UnixStream,
    from: BufReader<UnixStream>,
    line: String,
}

impl Wire {
    fn new(stream: UnixStream) -> Result<Self> {
        Ok(Self { from: BufReader::new(stream.try_clone()?), to: stream, line: String::new() })
    }

    fn send(&mut self, line: &str) -> Result<()> {
        Ok(self.to.write_all(line.as_bytes())?)
    }

    fn read(&mut self) -> Result<&str> {
        self.line.clear();
        self.from.read_line(&mut self.line)?;
        Ok(&self.line)
    }

    fn ask(&mut self, line: &str, wanted: &str) -> Result<()> {
        self.send(line)?;
        let answer = self.read()?;
        if !answer.contains(wanted) {
            bail!("it answered something else: {answer}");
        }
        Ok(())
    }

    fn hello(mut self) -> Result<Self> {
        let hello =
            r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocols":[1],"config":[],"cwd":"/"}}"#;
        self.ask(&format!("{hello}\n"), "\"protocol\":1")?;
        Ok(self)
    }
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let cli = lab.cli()?;
    let home = Home::new(lab, "daemon")?;
    let _daemon = home.serve(cli, lab)?;
    processes(lab, cli, &home, findings)?;
    wires(lab, &home, findings)?;
    many(lab, &home, findings)?;
    memory(&home, findings)?;
    million(lab, &home, findings)?;
    first(lab, cli, findings)
}

fn fire_line() -> String {
    let input = r#"{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let params = format!(r#"{{"event":"PreToolUse","input":{input}}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"fire\",\"params\":{params}}}\n")
}

/// How many connections fire at once, and how many threads of the client use them.
const CONNECTIONS: usize = 64;
const THREADS: usize = 4;

/// 64 connections at once: fires per second, and the 99th percentile.
fn many(lab: &Lab, home: &Home, findings: &mut Findings) -> Result<()> {
    let (line, rounds) = (fire_line(), lab.budget.rounds(2_000));
    let began = Instant::now();
    let taken: Result<Vec<Vec<Duration>>> = std::thread::scope(|scope| {
        let one = || -> Result<Vec<Duration>> {
            let mut wires =
                (0..CONNECTIONS / THREADS).map(|_| home.connect()?.hello()).collect::<Result<Vec<Wire>>>()?;
            let mut taken = Vec::new();
            for _ in 0..rounds {
                let sent: Vec<Instant> = wires
                    .iter_mut()
                    .map(|wire| wire.send(&line).map(|()| Instant::now()))
                    .collect::<Result<_>>()?;
                for (wire, sent) in wires.iter_mut().zip(sent) {
                    if !wire.read()?.contains("\"outcome\"") {
                        bail!("it answered something else: {}", wire.line);
                    }
                    taken.push(sent.elapsed());
                }
            }
            Ok(taken)
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a client failed"))?).collect()
    });
    let mut taken = taken?.concat();
    let rate = taken.len() as f64 / began.elapsed().as_secs_f64();
    taken.sort_unstable();
    let late = taken.get(taken.len() * 99 / 100).copied().unwrap_or_default();
    let work = "fires a second, with 64 connections (the clients run on the same cores)";
    findings.rows.push(Row::counted("G12.rate", work, Unit::Count, rate).at_least(20_000.0));
    let row = Row::counted(
        "G12.p99",
        "a fire, with 64 connections, 99 of 100",
        Unit::Nanoseconds,
        late.as_nanos() as f64,
    );
    findings.rows.push(row.at_most(10_000_000.0));
    Ok(())
}

/// The daemon's own memory, after everything else.
fn memory(home: &Home, findings: &mut Findings) -> Result<()> {
    let work = "memory of the daemon after all of this";
    findings.rows.push(Row::counted("G12.memory", work, Unit::Bytes, rss(home)?).at_most(30e6));
    Ok(())
}

fn rss(home: &Home) -> Result<f64> {
    let mut wire = home.connect()?.hello()?;
    wire.send("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"status\"}\n")?;
    let status: serde_json::Value = serde_json::from_str(wire.read()?)?;
    status["result"]["rss_bytes"].as_f64().context("no rss_bytes")
}

/// How many requests are sent before their answers are read.
const AT_ONCE: usize = 32;

/// What a million fires leave behind in the daemon.
fn million(lab: &Lab, home: &Home, findings: &mut Findings) -> Result<()> {
    let fires = lab.budget.pick(1_000_000, 50_000);
    let (before, line) = (rss(home)?, fire_line().repeat(AT_ONCE));
    let mut wire = home.connect()?.hello()?;
    for _ in 0..fires / AT_ONCE {
        wire.send(&line)?;
        for _ in 0..AT_ONCE {
            if !wire.read()?.contains("\"outcome\"") {
                bail!("it answered something else: {}", wire.line);
            }
        }
    }
    drop(wire);
    let work = format!("what the daemon's memory grows by in {fires} fires");
    findings.rows.push(Row::counted("G12.million", work, Unit::Bytes, rss(home)? - before).at_most(2e6));
    Ok(())
}

/// The call that starts the daemon, against one that never does.
fn first(lab: &Lab, cli: &Path, findings: &mut Findings) -> Result<()> {
    let home = Home::new(lab, "first")?;
    let (first, cold) = (home.hook(cli, lab, "python.yaml"), home.hook(cli, lab, "cold.yaml"));
    let mut group = Group::default();
    let first = group.case("first", || {
        let (time, ran) = clock(|| first.run(EVENT));
        ran.and_then(|_| home.stop()).map(|()| time)
    });
    let cold = group.case("cold", || {
        let (time, ran) = clock(|| cold.run(EVENT));
        ran.map(|_| time)
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(30))?;
    let work = "crosier hook claude, one Python hook, the call that starts the daemon, against a cold one";
    findings.rows.push(Row::ratio("G12.first", work, &samples, first, cold).at_most(1.1));
    Ok(())
}

fn processes(lab: &Lab, cli: &Path, home: &Home, findings: &mut Findings) -> Result<()> {
    let (warm, cold) = (home.hook(cli, lab, "python.yaml"), home.hook(cli, lab, "cold.yaml"));
    let builtin = home.hook(cli, lab, "builtin.yaml");
    let fire = home.call(cli, lab, &["fire", "PreToolUse"], "builtin.yaml");
    let nothing = static_true(lab, findings)?.map(|program| Raw::new(program, &[], &lab.path));
    let timed = |raw: &Raw| {
        let (time, ran) = clock(|| raw.run(EVENT));
        ran.map(|_| time)
    };
    let mut group = Group::default();
    let warm = group.case("warm", || timed(&warm));
    let cold = group.case("cold", || timed(&cold));
    let fire = group.case("fire", || timed(&fire));
    let builtin = group.case("built-in", || timed(&builtin));
    let floor = nothing.as_ref().map(|raw| group.case("static true", || timed(raw)));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(200))?;
    let work = |what: &str| format!("crosier hook claude, {what}");
    if let Some(floor) = floor {
        let row = Row::ratio("G12.warm", work("one warm Python hook"), &samples, warm, floor);
        findings.rows.push(row.at_most(2.0));
        let row = Row::ratio("G12.builtin", work("block-commands"), &samples, builtin, floor);
        findings.rows.push(row.at_most(2.0));
    }
    let row = Row::ratio("G12.hook", work("block-commands, against crosier fire"), &samples, builtin, fire);
    findings.rows.push(row.at_most(1.1));
    let row = Row::under("G12.cold", work("one warm Python hook, under a cold one"), &samples, warm, cold);
    findings.rows.push(row.at_least(25.0));
    Ok(())
}

fn wires(lab: &Lab, home: &Home, findings: &mut Findings) -> Result<()> {
    let mut fires = home.connect()?.hello()?;
    let mut calls = home.connect()?.hello()?;
    let register =
        r#"{"jsonrpc":"2.0","id":1,"method":"hook.register","params":{"name":"h","event":"PreToolUse"}}"#;
    calls.ask(&format!("{register}\n"), "\"hook\":\"h\"")?;
    let path = lab.folder().join("echo.sock");
    let listener = UnixListener::bind(&path)?;
    std::thread::spawn(move || -> Result<()> {
        let mut echo = Wire::new(listener.accept()?.0)?;
        loop {
            let line = echo.read()?.to_owned();
            echo.send(&line)?;
        }
    });
    let mut echo = Wire::new(UnixStream::connect(path)?)?;
    let fire = fire_line();
    let call = |wire: &mut Wire| -> Result<()> {
        wire.send(&fire)?;
        let line = wire.read()?;
        let id = line.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).context("no call")?;
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"result\":null}}\n");
        wire.ask(&answer, "\"outcome\"")
    };
    let mut group = Group::default();
    let floor = group.case("echo", || {
        let (time, done) = clock(|| echo.ask(&fire, "fire"));
        done.map(|()| time)
    });
    let fired = group.case("fire", || {
        let (time, done) = clock(|| fires.ask(&fire, "\"outcome\""));
        done.map(|()| time)
    });
    let called = group.case("callback", || {
        let (time, done) = clock(|| call(&mut calls));
        done.map(|()| time)
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(2_000))?;
    let work = "a fire over an open connection, against an echo";
    let row = Row::ratio("G12.fire", work, &samples, fired, floor);
    findings.rows.push(row.at_most(1.2));
    let row = Row::ratio("G12.call", "a callback to the client, against a fire", &samples, called, fired);
    findings.rows.push(row.at_most(2.5));
    let row = Row::time("G12.time", "a fire over an open connection", &samples, fired);
    findings.rows.push(row.at_most(60_000.0));
    Ok(())
}
