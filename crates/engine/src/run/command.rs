//! Command hooks: the event as JSON on stdin, the reply on stdout or as an exit code.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crosier_protocol::reply::{CommandExit, Output, answer_of};
use crosier_protocol::{Answer, Event, Failure, FailureKind, Reply};

use super::blocking::{BlockingRun, check_sources};
use super::notifier::ProcessOutput;
use super::process::{self, Exit, ProcessEnd, ProcessRun, Start, Stop};
use super::shell_error::shell_error;
use crate::registry::{CommandSpec, Cwd, Program};

/// Runs the command within its deadline.
pub(super) fn run(spec: &CommandSpec, run: &mut BlockingRun) -> Answer {
    let exit = match run_process(spec, run) {
        Ok(exit) => exit,
        Err(failure) => return failure.into(),
    };
    let answer = answer(spec, run, &exit);
    if let Some(notifier) = &mut run.notifier {
        let exit_code = match exit.ended {
            ProcessEnd::Exited { code, .. } => code,
            ProcessEnd::TimedOut | ProcessEnd::Cancelled => None,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&exit.stdout), text(&exit.stderr));
        notifier.set_output(ProcessOutput { exit_code, stdout, stderr });
        if exit.ended == ProcessEnd::Cancelled {
            notifier.set_cancelled();
        }
    }
    answer
}

fn run_process(spec: &CommandSpec, run: &BlockingRun) -> Result<Exit, Failure> {
    let BlockingRun { resources, deadline, timeout, notifier, .. } = run;
    if resources.processes.is_shut_down() {
        return Err(Failure::error("the engine is shut down"));
    }
    let input = run.event.wire().map_err(Failure::clone)?;
    resources.environment.check_depth()?;
    let Some(_slot) = resources.processes.acquire_slot(*deadline) else {
        if resources.processes.is_shut_down() {
            return Err(Failure::error("the engine is shut down"));
        }
        let detail = format!("too many other hooks were running for the whole {timeout:?}");
        return Err(Failure::new(FailureKind::Timeout, detail));
    };
    let start = start_of(spec, run)?;
    check_sources(&run.hook)?;
    // Without this descriptor a shutdown could not stop the process, so it is not started.
    let shutdown = resources.processes.shutdown_fd().map_err(|error| {
        Failure::new(FailureKind::Spawn, format!("no file descriptors are left to watch it: {error}"))
    })?;
    let progress = |stdout, stderr| {
        if let Some(notifier) = notifier {
            notifier.progress(stdout, stderr);
        }
    };
    process::run(&ProcessRun {
        start,
        input,
        deadline: *deadline,
        grace: spec.grace,
        stop: Stop { cancel: run.cancel_fd(), shutdown: Some(shutdown) },
        guard: resources.processes.guard.as_ref(),
        progress: notifier.is_some().then_some(&progress),
    })
}

fn answer(spec: &CommandSpec, run: &BlockingRun, exit: &Exit) -> Answer {
    let row = run.event.kind();
    let failure = match exit.ended {
        ProcessEnd::Exited { code, signal } => {
            let (stdout, stderr) = (&exit.stdout[..], &exit.stderr[..]);
            if code == Some(2)
                && let Some(failure) = shell_error(spec, stderr)
            {
                return failure.into();
            }
            let command_exit = CommandExit { code, signal, stdout, oversize: exit.oversize, stderr };
            return answer_of(&command_exit, spec.output, row);
        }
        ProcessEnd::TimedOut => {
            let detail = format!("it did not finish within {:?} and was killed", run.timeout);
            Failure::new(FailureKind::Timeout, detail)
        }
        ProcessEnd::Cancelled => Failure::error("the fire was cancelled, and it was killed"),
    };
    // A denial that was complete before the kill counts; nothing else in the reply does.
    let complete = exit.oversize.is_none() && spec.output == Output::Reply;
    let reply = complete.then(|| Reply::decode(&exit.stdout, row).ok()).flatten();
    Answer::failed(reply.and_then(Reply::denial_only).unwrap_or_default(), failure)
}

fn start_of(spec: &CommandSpec, run: &BlockingRun) -> Result<Start, Failure> {
    let mut env = run.resources.environment.of_run(spec, run.call());
    for (name, value) in run.hook.sources.iter().flat_map(|sources| sources.variables()) {
        env.retain(|(other, _)| *other != name);
        env.push((name, value));
    }
    let (program, args): (PathBuf, Vec<OsString>) = match &spec.program {
        Program::Shell(line) => ("/bin/sh".into(), vec!["-c".into(), line.into()]),
        Program::Argv(words) => {
            let (program, args) =
                words.split_first().ok_or_else(|| Failure::new(FailureKind::Spawn, "its `argv` is empty"))?;
            let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
            (find_program(program, path)?, args.iter().map(OsString::from).collect())
        }
    };
    Ok(Start { program, args, cwd: folder(&spec.cwd, &run.event), env })
}

fn folder(cwd: &Cwd, event: &Event) -> PathBuf {
    match cwd {
        Cwd::Folder(folder) => folder.clone(),
        Cwd::Event => PathBuf::from(event.cwd()),
    }
}

/// The path of a program. A name without a slash is looked up in `PATH`. Relative entries of `PATH` are
/// ignored: an agent could write a program into the current folder.
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
