//! `crosier serve`: one process that keeps Python workers warm, and is a host for programs in any language.

mod borrow;
mod detach;
mod host;
mod log_writer;
mod manage;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use crosier_serve::{HttpAddress, Key, NoSocket, Server, Settings, SocketPath, Stopper, http_token};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::homes::{HomeArgs, Homes};
use crate::{environment, print};
use host::ServeHost;
use log_writer::LogWriter;

pub(crate) use borrow::runner;
pub(crate) use manage::Daemon;

/// The version of this program, which is part of the socket's name.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long a daemon runs without use.
const IDLE: Duration = Duration::from_secs(600);

#[derive(Debug, Args)]
#[command(after_help = "Without an option it serves programs of the same user on a Unix socket, until it is
stopped or was idle for ten minutes. `crosier hook` and `crosier fire` start it when they run a
Python hook (`daemon: off` in your own configuration prevents that). The protocol is described in
docs/protocol.md.

Example:
  crosier serve --status
  crosier serve --http 127.0.0.1:0")]
pub(crate) struct ServeArgs {
    /// Serve the program that started this one, on stdin and stdout
    #[arg(long, conflicts_with_all = ["http", "status", "stop", "restart"])]
    stdio: bool,
    /// Also serve agents that send their events by HTTP, on a loopback address; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Print whether a daemon is running, and its statistics
    #[arg(long, conflicts_with_all = ["stop", "restart"])]
    status: bool,
    /// End the daemon when it has finished what it is doing
    #[arg(long, conflicts_with = "restart")]
    stop: bool,
    /// End the daemon and start another one
    #[arg(long)]
    restart: bool,
    /// End after this many seconds without use; 0 means never
    #[arg(long, value_name = "SECONDS")]
    idle: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homes: HomeArgs,
    /// Detach from the process that started this one
    #[arg(long, hide = true)]
    detached: bool,
    /// The socket
    #[arg(long, hide = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The home folder of the person
    #[arg(long, hide = true, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl Run for ServeArgs {
    fn run(&self) -> Result {
        if self.detached {
            detach::leave_everything();
        }
        let homes = self.find_homes();
        if self.stdio {
            return self.serve_stdio(homes);
        }
        let socket = match &self.socket {
            Some(path) => SocketPath::at(path.clone()),
            None => socket(&homes),
        };
        match (self.status, self.stop, self.restart) {
            (true, ..) => manage::status(socket, &homes, self.json),
            (_, true, _) => manage::stop(&socket.map_err(unusable)?),
            (.., true) => manage::restart(&socket.map_err(unusable)?, &homes),
            _ => self.serve_socket(&socket.map_err(unusable)?, homes),
        }
    }
}

/// The socket of this version.
pub(super) fn socket(homes: &Homes) -> std::result::Result<SocketPath, NoSocket> {
    let runtime = environment::folder("XDG_RUNTIME_DIR");
    SocketPath::find(runtime.as_deref(), homes.state.as_deref(), VERSION)
}

/// The key with which a daemon proves its identity, or why there is none.
fn key(homes: &Homes) -> std::result::Result<Key, String> {
    let Some(state) = &homes.state else {
        return Err(
            "there is no state folder for the daemon's key: name one with --state-home DIR".to_owned()
        );
    };
    let made = borrow::make_private_folder(state).and_then(|()| Key::read_or_make(state));
    made.map_err(|error| format!("the daemon's key cannot be used: {error}"))
}

fn unusable(error: NoSocket) -> Failed {
    Failed::new(Exit::Failed, format!("no daemon can be reached: {error}"))
}

impl ServeArgs {
    fn find_homes(&self) -> Homes {
        let mut homes = self.homes.find();
        if let Some(home) = &self.home {
            homes.home = Some(home.clone());
        }
        homes
    }

    fn settings(&self, homes: &Homes) -> Settings {
        let mut settings = Settings::default();
        settings.idle = match self.idle {
            Some(0) => None,
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => Some(IDLE),
        };
        settings.key = key(homes).ok();
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        settings.environment = environment::all().into_iter().filter_map(text).collect();
        settings
    }

    fn serve_stdio(&self, homes: Homes) -> Result {
        let log = LogWriter::start();
        let server = Server::new(ServeHost::new(homes.clone(), log.clone()), self.settings(&homes));
        run(&log, async {
            let signal = watch_signals(server.stopper())?;
            server.run_stdio().await.map_err(|error| Failed::new(Exit::Failed, error.to_string()))?;
            Ok(signal.exit())
        })
    }

    fn serve_socket(&self, socket: &SocketPath, homes: Homes) -> Result {
        let address = self.http.as_deref().map(str::parse::<HttpAddress>).transpose();
        let address = address.map_err(|why| Failed::new(Exit::Usage, format!("--http: {why}")))?;
        let bound = socket.bind().map_err(|error| Failed::new(Exit::Failed, error.to_string()))?;
        let mut settings = self.settings(&homes);
        settings.key = Some(key(&homes).map_err(|why| Failed::new(Exit::Failed, why))?);
        detach::allow_many_files();
        let log = LogWriter::start();
        let server = Server::new(ServeHost::new(homes.clone(), log.clone()), settings);
        run(&log, async {
            let signal = watch_signals(server.stopper())?;
            if let (Some(address), Some(state)) = (address, &homes.state) {
                let failed = |what: &str, error: std::io::Error| {
                    Failed::new(Exit::Failed, format!("{what} cannot be used: {error}"))
                };
                let token = http_token(state).map_err(|error| failed("the token", error))?;
                let url = server.listen_http(&address, token).await;
                print::data(&url.map_err(|error| failed("the address", error))?)?;
            }
            if !self.detached {
                print::note(&format!("crosier: serving at {}", print::shown_path(socket.path())));
            }
            // As a task: the thread that learns of a connection accepts it and reads from it, and need not wake the
            // first one.
            let served = tokio::spawn(async move { server.run_socket(bound).await });
            served.await.map_err(|_| Failed::new(Exit::Failed, "the server failed"))?;
            Ok(signal.exit())
        })
    }
}

/// Runs a server, on a few threads, and writes its log to the end.
fn run(log: &LogWriter, serve: impl Future<Output = Result>) -> Result {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| Failed::new(Exit::Failed, format!("it cannot be started: {error}")))?;
    let result = runtime.block_on(serve);
    // Do not wait for a hook that hangs.
    runtime.shutdown_timeout(Duration::from_millis(500));
    log.finish();
    result
}

/// The signal that arrived, if any.
struct Signal(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Signal {
    fn exit(&self) -> Exit {
        match u8::try_from(self.0.load(std::sync::atomic::Ordering::SeqCst)) {
            Ok(number) if number > 0 => Exit::Signal(number),
            _ => Exit::Done,
        }
    }
}

/// Makes signals end the server and everything that it runs.
fn watch_signals(stopper: Stopper) -> std::result::Result<Signal, Failed> {
    let failed =
        |error: std::io::Error| Failed::new(Exit::Failed, format!("signals cannot be handled: {error}"));
    let seen = std::sync::Arc::default();
    let (woken, wakes) = std::os::unix::net::UnixStream::pair().map_err(failed)?;
    for number in [SIGHUP, SIGINT, SIGTERM] {
        let which = usize::try_from(number).unwrap_or_default();
        signal_hook::flag::register_usize(number, std::sync::Arc::clone(&seen), which).map_err(failed)?;
        let wakes = wakes.try_clone().map_err(failed)?;
        signal_hook::low_level::pipe::register(number, wakes).map_err(failed)?;
    }
    woken.set_nonblocking(true).map_err(failed)?;
    let woken = tokio::net::UnixStream::from_std(woken).map_err(failed)?;
    tokio::spawn(async move {
        if woken.readable().await.is_ok() {
            stopper.stop_now();
        }
    });
    Ok(Signal(seen))
}
