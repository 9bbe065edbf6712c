//! Command hooks: event JSON on stdin, reply on stdout, exit codes.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier_protocol::reply::{Ending, Output, answer_of};
use crosier_protocol::{Answer, Event, Failure, FailureKind, Reply};

use super::process::{self, Ended, Order, Start};
use super::telling::{Said, Telling};
use super::{Host, Means, Run, Setting, os, thread};
use crate::registry::{Call, CommandSpec, Cwd, Program};

/// Runs the command: here, or on a thread whose cancellation is the drop of the future.
pub(super) async fn run(
    spec: &Arc<CommandSpec>,
    call: Call<'_>,
    run: Run,
    setting: &Setting<'_>,
    telling: &mut Option<Telling>,
) -> Answer {
    let deadline = Instant::now() + run.timeout;
    if setting.means == Means::InPlace {
        return Job { spec, call, host: setting.host, deadline, timeout: run.timeout }.run(None, telling);
    }
    let (cancelled, rope) = match os::pipe() {
        Ok(ends) => ends,
        Err(error) => return spawn_failure(format!("no descriptors are left: {error}")),
    };
    let spec = Arc::clone(spec);
    let (event, hook, host) = (call.event.clone(), Arc::clone(call.hook), Arc::clone(setting.host));
    let mut theirs = telling.take();
    let second = call.second;
    let work = move || {
        let call = Call { event: &event, hook: &hook, second };
        let job = Job { spec: &spec, call, host: &host, deadline, timeout: run.timeout };
        let answer = job.run(Some(&cancelled), &mut theirs);
        (answer, theirs)
    };
    match thread::spawn("crosier-command", work) {
        Ok(pending) => {
            let (answer, theirs) = pending.await;
            // Held until here: had the future been dropped, so had this, and the process been killed.
            drop(rope);
            *telling = theirs;
            answer
        }
        Err(error) => spawn_failure(format!("no thread could be started for it: {error}")),
    }
}

fn spawn_failure(detail: String) -> Answer {
    Failure::new(FailureKind::Spawn, detail).into()
}

struct Job<'a> {
    spec: &'a CommandSpec,
    call: Call<'a>,
    host: &'a Host,
    deadline: Instant,
    timeout: Duration,
}

impl Job<'_> {
    fn run(&self, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>) -> Answer {
        let input = match self.call.event.wire() {
            Ok(wire) => wire,
            Err(failure) => return failure.clone().into(),
        };
        if self.host.is_shut_down() {
            return Failure::error("the engine is shut down").into();
        }
        if self.host.environment.is_too_deep() {
            return spawn_failure("hooks started agents that started hooks, too many times over".to_owned());
        }
        let Some(_place) = self.host.place(self.deadline) else {
            let detail = format!("too many other hooks were running for the whole {:?}", self.timeout);
            return Failure::new(FailureKind::Timeout, detail).into();
        };
        let start = match self.start() {
            Ok(start) => start,
            Err(failure) => return failure.into(),
        };
        let tell = |stdout, stderr| {
            if let Some(telling) = &*telling {
                telling.progress(stdout, stderr);
            }
        };
        let order = Order {
            start,
            input,
            deadline: self.deadline,
            grace: self.spec.grace,
            cancel: cancel.map(AsFd::as_fd),
            bell: self.host.bell(),
            progress: telling.is_some().then_some(&tell),
        };
        let end = match process::run(&order) {
            Ok(end) => end,
            Err(failure) => return failure.into(),
        };
        let row = self.call.event.kind();
        let answer = match end.ended {
            Ended::Done { code, signal } => {
                let (stdout, stderr) = (&end.stdout[..], &end.stderr[..]);
                let ending = Ending { code, signal, stdout, oversize: end.oversize, stderr };
                answer_of(&ending, self.spec.output, row)
            }
            Ended::Late => {
                // A deny is never lost: one that was written before the deadline counts, and nothing else.
                let complete = end.oversize.is_none() && self.spec.output == Output::Reply;
                let reply = complete.then(|| Reply::decode(&end.stdout, row).ok()).flatten();
                let reply = reply.and_then(Reply::only_its_denial).unwrap_or_default();
                let detail = format!("it was not done after {:?} and was killed", self.timeout);
                Answer { reply, failure: Some(Failure::new(FailureKind::Timeout, detail)) }
            }
            Ended::Cancelled => Failure::error("the fire was cancelled, and it was killed").into(),
        };
        if let Some(telling) = telling {
            let exit_code = match end.ended {
                Ended::Done { code, .. } => code,
                Ended::Late | Ended::Cancelled => None,
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            telling.remember(Said { exit_code, stdout: text(&end.stdout), stderr: text(&end.stderr) });
        }
        answer
    }

    fn start(&self) -> Result<Start, Failure> {
        let env = self.host.environment.of_run(self.spec, self.call);
        let (program, args): (PathBuf, Vec<OsString>) = match &self.spec.program {
            Program::Shell(line) => ("/bin/sh".into(), vec!["-c".into(), line.into()]),
            Program::Argv(words) => {
                let (program, args) = words
                    .split_first()
                    .ok_or_else(|| Failure::new(FailureKind::Spawn, "its `argv` is empty"))?;
                let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
                (resolve(program, path)?, args.iter().map(OsString::from).collect())
            }
        };
        Ok(Start { program, args, cwd: folder(&self.spec.cwd, self.call.event), env })
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
fn resolve(program: &str, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
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
