//! Background hooks outlive `fire`: a copy of this program owns each of them and enforces its deadline.
//!
//! The copy gets the event on stdin, reads the same configuration, and runs the one hook that it is given. It
//! has its own session, so that no terminal or shell ends it together with `fire`, and holds none of its pipes,
//! so that their readers do not wait for it.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use crosier::{BackgroundJob, Event, Failure, FailureKind, Message, MessageKind, Received};
use crosier_policy::Request;

use super::super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::setup;
use crate::signals::Signals;

/// The path of the running program, even if its file was replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

// Hidden: only `fire` starts it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier background PreToolUse --hook audit -c hooks.yaml < event.json")]
pub(crate) struct BackgroundArgs {
    /// The event
    event: String,
    /// The hook, by its display name
    #[arg(long)]
    hook: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// The project folder
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

/// Passes a hook to a copy of this program.
pub(crate) fn launcher(
    request: &Request,
) -> impl Fn(&BackgroundJob) -> std::result::Result<(), Failure> + use<> {
    let request = request.clone();
    move |job| {
        let event = job.event.wire().map_err(Clone::clone)?;
        let myself = if Path::new(OWN_PROGRAM).exists() {
            Ok(PathBuf::from(OWN_PROGRAM))
        } else {
            std::env::current_exe()
        };
        let start = myself.and_then(|myself| {
            let mut command = Command::new(myself);
            command.arg0("crosier").args(["background", job.event.name()]);
            // Joined with `=`, so that a name or a path that begins with `-` is not an option.
            command.arg(joined("--hook=", OsStr::new(&*job.hook)));
            command.args(request.named.iter().map(|file| joined("--config=", file.as_os_str())));
            command.arg(joined("--project=", request.project.as_os_str()));
            let homes = &request.homes;
            command.args(homes.config.iter().map(|folder| joined("--config-home=", folder.as_os_str())));
            command.args(request.trust.iter().map(|digest| joined("--trust=", OsStr::new(digest))));
            command.args(homes.state.iter().map(|folder| joined("--state-home=", folder.as_os_str())));
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        let cannot = |what: &str, error: std::io::Error| {
            Failure::new(
                FailureKind::Spawn,
                format!("the program that owns the background hook {what}: {error}"),
            )
        };
        let mut child = start.map_err(|error| cannot("cannot be started", error))?;
        match child.stdin.take() {
            Some(mut stdin) => {
                stdin.write_all(event.as_bytes()).map_err(|error| cannot("did not take the event", error))
            }
            None => Ok(()),
        }
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

impl Run for BackgroundArgs {
    fn run(&self) -> Result {
        // This fails only for the leader of a process group, which then already has its own group.
        let _ = rustix::process::setsid();
        let kind = super::find(&self.event)?;
        let input = super::read_all().map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
        let event =
            Event::from_json(kind, &input).map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
        let mut request = self.config.request();
        request.project = self.project.clone().unwrap_or(request.project);
        let engine = setup::hooks(&request, |builder| builder)?.engine;
        for other in engine.entries().iter().filter(|entry| *entry.name != *self.hook) {
            engine.unregister(&other.name);
        }
        let signals = Signals::watch()?;
        signals.kill(&engine);
        let listener = engine.subscribe(16 * 1024);
        let is_end = |heard: &Received| {
            matches!(heard, Received::Message(Message { kind: MessageKind::Response { .. }, .. }))
        };
        let ended = signals.during("the hook was killed", || {
            if engine.fire_blocking(&event).reports.is_empty() {
                return false;
            }
            // The engine enforces the hook's deadline, and reports when the hook has ended.
            loop {
                if listener.next_within(Duration::from_secs(1)).as_ref().is_some_and(is_end) {
                    return true;
                }
            }
        })?;
        Ok(if ended { Exit::Done } else { Exit::Failed })
    }
}
