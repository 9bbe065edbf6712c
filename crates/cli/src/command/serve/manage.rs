//! Manages the daemon from outside: its status, stopping and restarting it.

use std::time::{Duration, Instant};

use crosier::Json;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier_serve::{Conversation, Key, NoSocket, SocketPath};

use super::borrow;
use crate::exit::{Exit, Failed, Result};
use crate::homes::Homes;
use crate::print;

/// How long a daemon may take to start or to end.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for the daemon's status.
const STATUS_WITHIN: Duration = Duration::from_secs(2);

/// The state of the daemon.
#[derive(Debug)]
pub(crate) enum Daemon {
    Running {
        version: String,
        pid: String,
    },
    /// None is running: the next Python hook starts one.
    NotRunning,
    /// Why none can be used: each call of a Python hook starts an interpreter.
    Unusable(String),
}

impl Daemon {
    pub(crate) fn find(homes: &Homes) -> Self {
        let asked = super::socket(homes).and_then(|socket| {
            let status = Conversation::open(&socket)?.request("status", "{}", STATUS_WITHIN);
            status.map_err(|error| NoSocket::Unusable(error.to_string()))
        });
        match (asked, homes.state.as_deref().map(Key::read)) {
            (Ok(_), Some(Err(error))) => Self::Unusable(error.to_string()),
            (Ok(status), _) => Self::Running { version: get(&status, "version"), pid: get(&status, "pid") },
            (Err(NoSocket::NotRunning), _) => Self::NotRunning,
            (Err(error), _) => Self::Unusable(error.to_string()),
        }
    }

    /// The state as text.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Running { version, pid } => format!("running, version {version}, pid {pid}"),
            Self::NotRunning => "not running; the next Python hook starts one".to_owned(),
            Self::Unusable(why) => format!("cannot be used: {}", print::one_line(why)),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Running { version, pid } => {
                json!({"state": "running", "version": version.as_str(), "pid": pid.parse::<u32>().ok(), "why": Value::Null})
            }
            Self::NotRunning => {
                json!({"state": "not running", "version": Value::Null, "pid": Value::Null, "why": Value::Null})
            }
            Self::Unusable(why) => {
                json!({"state": "unusable", "version": Value::Null, "pid": Value::Null, "why": why.as_str()})
            }
        }
    }
}

pub(super) fn status(socket: std::result::Result<SocketPath, NoSocket>, homes: &Homes, json: bool) -> Result {
    let asked = socket.and_then(|socket| {
        let mut daemon = Conversation::open(&socket)?;
        let status = daemon.request("status", "{}", STATUS_WITHIN);
        status.map_err(|error| NoSocket::Unusable(error.to_string()))
    });
    match asked {
        Ok(status) => {
            print::data(&if json { status.text().to_owned() } else { text(&status) })?;
            if let Some(Err(error)) = homes.state.as_deref().map(Key::read) {
                print::note(&format!("crosier: no hook uses this daemon: {error}"));
            }
        }
        Err(NoSocket::NotRunning) if json => {
            print::data(&Daemon::NotRunning.to_json().to_string())?;
            return Ok(Exit::Failed);
        }
        Err(error) if json => {
            print::data(&Daemon::Unusable(error.to_string()).to_json().to_string())?;
            return Ok(Exit::Failed);
        }
        Err(NoSocket::NotRunning) => {
            return Err(Failed::new(Exit::Failed, "no daemon is running; the next Python hook starts one"));
        }
        Err(error) => return Err(Failed::new(Exit::Failed, format!("no daemon can be used: {error}"))),
    }
    Ok(Exit::Done)
}

/// A field of the daemon's status, as text.
fn get(status: &Json, key: &str) -> String {
    status.get(key).map(|value| value.plain().into_owned()).unwrap_or_default()
}

fn text(status: &Json) -> String {
    let get = |key: &str| get(status, key);
    let millis = |key: &str| get(key).parse().map(Duration::from_millis).unwrap_or_default().as_secs();
    let megabytes = get("rss_bytes").parse::<u64>().unwrap_or_default() / (1 << 20);
    let workers = status.get("workers").and_then(|workers| workers.to_value());
    let workers = workers.as_ref().and_then(|workers| workers.as_array()).map_or(0, Vec::len);
    let http = status.get("http").map(|url| format!("\nagents can post to {}", url.plain()));
    format!(
        "crosier {} has been running as process {} for {} s, idle for {} s\n{} connections, {} events, {workers} Python workers, {megabytes} MB{}",
        get("version"),
        get("pid"),
        millis("uptime_ms"),
        millis("idle_ms"),
        get("connections"),
        get("fires"),
        http.unwrap_or_default()
    )
}

pub(super) fn stop(socket: &SocketPath) -> Result {
    match end(socket)? {
        true => print::note("crosier: the daemon has ended"),
        false => print::note("crosier: no daemon is running"),
    }
    Ok(Exit::Done)
}

/// Ends the daemon. Returns false when none is running.
fn end(socket: &SocketPath) -> std::result::Result<bool, Failed> {
    let mut daemon = match Conversation::open(socket) {
        Ok(daemon) => daemon,
        Err(NoSocket::NotRunning) => return Ok(false),
        Err(error) => return Err(Failed::new(Exit::Failed, error.to_string())),
    };
    let asked = daemon.request("shutdown", "{}", Duration::from_secs(600));
    asked.map_err(|error| Failed::new(Exit::Failed, format!("the daemon does not end: {error}")))?;
    drop(daemon);
    wait_until("the daemon does not end", || matches!(socket.check(), Err(NoSocket::NotRunning)))?;
    Ok(true)
}

pub(super) fn restart(socket: &SocketPath, homes: &Homes) -> Result {
    end(socket)?;
    borrow::start(socket, homes)
        .map_err(|error| Failed::new(Exit::Failed, format!("the daemon cannot be started: {error}")))?;
    wait_until("the daemon does not answer", || Conversation::open(socket).is_ok())?;
    print::note("crosier: a new daemon is running");
    Ok(Exit::Done)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) -> std::result::Result<(), Failed> {
    let over = Instant::now() + CHANGE_TIMEOUT;
    while !is_so() {
        if Instant::now() > over {
            return Err(Failed::new(Exit::Failed, format!("{what}, {} s later", CHANGE_TIMEOUT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
