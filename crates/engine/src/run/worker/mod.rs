//! Python hooks: functions in warm workers, isolated like processes and killed when they are late.
//!
//! In comes a python hook and an event; out goes its answer. A worker is a long-lived process that runs
//! `worker.py`; there is a pool of them per interpreter, environment and folder. A worker that is late, dies
//! or breaks the protocol is killed with its group and replaced; only the call that it was running is lost.

mod call;
mod connection;
mod interpreter;
mod loaded;
mod pool;
mod process;
mod request;
mod response;

use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, EventRow, Failure, FailureKind, Reply};

use super::blocking::BlockingRun;
use super::notifier::ProcessOutput;
use super::process::Stop;
use super::{Resources, deadline_in};
use crate::registry::PythonSpec;
use call::{CallError, CallLimits, Cause, Stage, without_controls};
pub(super) use pool::Pools;
use response::{Failed, Response};

const SHUT_DOWN: &str = "the engine is shut down";
/// A reply over this is `oversize`.
const MAX_REPLY: usize = 1024 * 1024;

/// Calls the function within its deadline.
pub(super) fn run(spec: &Arc<PythonSpec>, run: &mut BlockingRun) -> Answer {
    let mut printed = Vec::new();
    let called = match call(spec, run, &mut printed) {
        Ok(called) => called,
        Err(failure) => return failure.into(),
    };
    if let Some(notifier) = &mut run.notifier {
        let stdout = String::from_utf8_lossy(&printed).into_owned();
        notifier.set_output(ProcessOutput { exit_code: None, stdout, stderr: String::new() });
        if called.as_ref().is_err_and(|error| matches!(error.cause, Cause::Cancelled)) {
            notifier.set_cancelled();
        }
    }
    match called {
        Ok(response) => answer(response, run.event.kind(), &run.hook),
        Err(CallError { stage: Stage::Waiting, cause: Cause::Cancelled }) if run.resources.is_shut_down() => {
            Failure::error(SHUT_DOWN).into()
        }
        Err(error) => error.into_failure(spec, run.timeout).into(),
    }
}

/// The worker's response, or why there is none. The outer error is a call that cannot even be tried.
fn call(
    spec: &Arc<PythonSpec>,
    run: &BlockingRun,
    printed: &mut Vec<u8>,
) -> Result<Result<Response, CallError>, Failure> {
    let BlockingRun { event, hook, resources, notifier, .. } = run;
    // A shutdown of the engine is noticed when a worker is leased.
    let input = event.wire().map_err(Failure::clone)?;
    resources.environment.check_depth()?;
    // A worker is not started when a shutdown could not stop it.
    let shutdown = resources.shutdown_fd().map_err(|error| {
        let detail = format!("no descriptors are left to watch over its worker: {error}");
        Failure::new(FailureKind::Import, detail)
    })?;
    let progress = |text: String| {
        if let Some(notifier) = notifier {
            notifier.progress(text, String::new());
        }
    };
    let limits = CallLimits {
        deadline: run.deadline,
        stop: Stop { cancel: run.cancel_fd(), shutdown: Some(shutdown) },
        progress: notifier.is_some().then_some(&progress),
    };
    Ok(resources.workers.lease(spec, &resources.environment, &limits).and_then(|mut lease| {
        let phase = if run.second { 2 } else { 1 } + 256 * (u16::from(run.pass.number()) - 1);
        let called = lease.connection.call(spec, hook, input, phase, &limits);
        if limits.progress.is_some() {
            *printed = lease.connection.take_printed();
        }
        lease.end();
        called
    }))
}

fn answer(response: Response, row: &EventRow, hook: &str) -> Answer {
    match response {
        Response::Reply(bytes) => Reply::decode(&bytes, row).into(),
        Response::Nothing => Answer::default(),
        Response::Failed(Failed { kind, detail, traceback, deny }) => {
            if !traceback.is_empty() {
                tracing::debug!(hook, %traceback, "python hook failed");
            }
            let reply = deny.map(Reply::deny).unwrap_or_default();
            Answer::failed(reply, Failure::new(kind, without_controls(&detail)))
        }
    }
}

/// What a python interpreter says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonInfo {
    /// Its version.
    pub version: String,
    /// The program itself, behind any shim.
    pub executable: String,
}

impl Resources {
    /// Starts a worker for a hook and loads its function, ahead of its first event.
    pub(crate) fn warm(
        &self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        limit: Duration,
    ) -> Result<PythonInfo, Failure> {
        if self.is_shut_down() {
            return Err(Failure::error(SHUT_DOWN));
        }
        let stop = Stop { cancel: None, shutdown: self.shutdown_fd().ok() };
        let limits = CallLimits { deadline: deadline_in(limit), stop, progress: None };
        let warmed = self.workers.lease(spec, &self.environment, &limits).and_then(|mut lease| {
            let hello = lease.connection.hello(&limits);
            let warmed = hello.and_then(|hello| Ok((hello, lease.connection.load(spec, hook, &limits)?)));
            lease.end();
            warmed
        });
        match warmed.map_err(|error| error.into_failure(spec, limit))? {
            (_, Response::Failed(Failed { kind, detail, .. })) => {
                Err(Failure::new(kind, without_controls(&detail)))
            }
            (hello, Response::Reply(_) | Response::Nothing) => {
                Ok(PythonInfo { version: hello.python, executable: hello.executable })
            }
        }
    }
}
