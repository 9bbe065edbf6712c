//! Command hooks: event JSON on stdin, reply on stdout, exit codes.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier_protocol::reply::{Ending, Output, answer_of};
use crosier_protocol::{Answer, Event, Failure, FailureKind, Reply};

use super::errand::{self, Errand};
use super::process::{self, Ended, Order, Start, Stop};
use super::telling::{Said, Telling};
use super::{Run, Setting};
use crate::registry::{Call, CommandSpec, Cwd, Program};

/// Runs the command within its deadline.
pub(super) async fn run(
    spec: &Arc<CommandSpec>,
    call: Call<'_>,
    run: Run,
    setting: &Setting<'_>,
    telling: &mut Option<Telling>,
) -> Answer {
    let spec = Arc::clone(spec);
    let work = move |errand: &Errand, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>| {
        Job { spec: &spec, errand }.run(cancel, telling)
    };
    errand::send(call, run, setting, telling, work).await
}

struct Job<'a> {
    spec: &'a CommandSpec,
    errand: &'a Errand,
}

impl Job<'_> {
    fn run(&self, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>) -> Answer {
        let Errand { host, deadline, timeout, .. } = self.errand;
        let input = match self.errand.input() {
            Ok(input) => input,
            Err(failure) => return failure.into(),
        };
        if host.environment.is_too_deep() {
            let detail = "hooks started agents that started hooks, too many times over";
            return Failure::new(FailureKind::Spawn, detail).into();
        }
        let Some(_place) = host.place(*deadline) else {
            if host.is_shut_down() {
                return Failure::error("the engine is shut down").into();
            }
            let detail = format!("too many other hooks were running for the whole {timeout:?}");
            return Failure::new(FailureKind::Timeout, detail).into();
        };
        let start = match self.start() {
            Ok(start) => start,
            Err(failure) => return failure.into(),
        };
        // What nobody could stop is not started.
        let bell = match host.try_bell() {
            Ok(bell) => Some(bell),
            Err(error) => {
                let detail = format!("no descriptors are left to watch over it: {error}");
                return Failure::new(FailureKind::Spawn, detail).into();
            }
        };
        let tell = |stdout, stderr| {
            if let Some(telling) = &*telling {
                telling.progress(stdout, stderr);
            }
        };
        let order = Order {
            start,
            input,
            deadline: *deadline,
            grace: self.spec.grace,
            stop: Stop { cancel: cancel.map(AsFd::as_fd), bell },
            progress: telling.is_some().then_some(&tell),
        };
        let end = match process::run(&order) {
            Ok(end) => end,
            Err(failure) => return failure.into(),
        };
        let row = self.errand.event.kind();
        let answer = match end.ended {
            Ended::Done { code, signal } => {
                let (stdout, stderr) = (&end.stdout[..], &end.stderr[..]);
                let ending = Ending { code, signal, stdout, oversize: end.oversize, stderr };
                answer_of(&ending, self.spec.output, row)
            }
            Ended::Late | Ended::Cancelled => {
                // A deny is never lost: one that was written in time counts, and nothing else.
                let complete = end.oversize.is_none() && self.spec.output == Output::Reply;
                let reply = complete.then(|| Reply::decode(&end.stdout, row).ok()).flatten();
                let reply = reply.and_then(Reply::denial_only).unwrap_or_default();
                let failure = if end.ended == Ended::Late {
                    let detail = format!("it was not done after {timeout:?} and was killed");
                    Failure::new(FailureKind::Timeout, detail)
                } else {
                    Failure::error("the fire was cancelled, and it was killed")
                };
                Answer::failed(reply, failure)
            }
        };
        if let Some(telling) = telling {
            let exit_code = match end.ended {
                Ended::Done { code, .. } => code,
                Ended::Late | Ended::Cancelled => None,
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            telling.remember(Said { exit_code, stdout: text(&end.stdout), stderr: text(&end.stderr) });
            if end.ended == Ended::Cancelled {
                telling.cancel();
            }
        }
        answer
    }

    fn start(&self) -> Result<Start, Failure> {
        let env = self.errand.host.environment.of_run(self.spec, self.errand.call());
        let (program, args): (PathBuf, Vec<OsString>) = match &self.spec.program {
            Program::Shell(line) => ("/bin/sh".into(), vec!["-c".into(), line.into()]),
            Program::Argv(words) => {
                let (program, args) = words
                    .split_first()
                    .ok_or_else(|| Failure::new(FailureKind::Spawn, "its `argv` is empty"))?;
                let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
                (find_program(program, path)?, args.iter().map(OsString::from).collect())
            }
        };
        Ok(Start { program, args, cwd: folder(&self.spec.cwd, &self.errand.event), env })
    }
}

fn folder(cwd: &Cwd, event: &Event) -> PathBuf {
    match cwd {
        Cwd::Folder(folder) => folder.clone(),
        Cwd::Event => PathBuf::from(event.cwd()),
    }
}

/// The file of a program. A name without a slash is looked up in `PATH`, whose relative entries do not
/// count: the agent writes in the current folder, and could put a program there.
pub(super) fn find_program(program: &str, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    if program.contains('/') {
        return Ok(program.into());
    }
    std::env::split_paths(path.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            Failure::new(FailureKind::Spawn, format!("the program `{program}` is in no folder of its PATH"))
        })
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
