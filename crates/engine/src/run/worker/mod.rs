//! Python hooks: functions that run in worker processes, which are reused, and killed when a call is late.
//!
//! Input: a python hook and an event. Output: its answer. A worker is a long-lived process that runs
//! `worker.py`; there is a pool of them per layer, record, interpreter, environment and folder. A worker that
//! is late, dies or breaks the protocol is killed with its group and replaced; only the call that it was
//! running is lost.

mod borrow;
mod call;
mod connection;
mod interpreter;
mod lend;
mod loaded;
mod pool;
mod process;
mod request;
mod response;

use std::sync::Arc;

use crosier_protocol::{Answer, EventRow, Failure, FailureKind, Reply};

use super::blocking::{BlockingRun, check_sources, without_controls};
use super::notifier::ProcessOutput;
use super::process::Stop;
use super::{Resources, deadline_in, environment};
use crate::registry::{Entry, PythonSpec};
pub use borrow::{NotCompleted, PythonCall, PythonResponse, PythonResult, PythonRunner};
use call::{CallError, CallLimits, CallStep, Cause};
pub use lend::{BegunCall, PythonWorkers, WarmCall, WorkerInfo};
pub(super) use pool::Pools;
use response::{Failed, Response};

const SHUT_DOWN: &str = "the engine is shut down";
/// A larger reply is the failure `oversize`.
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
        Ok(response) => answer(response, run.event.kind(), &run.hook.name),
        Err(CallError { step: CallStep::Waiting, cause: Cause::Cancelled })
            if run.resources.processes.is_shut_down() =>
        {
            Failure::error(SHUT_DOWN).into()
        }
        Err(error) => error.into_failure(spec, run.timeout).into(),
    }
}

/// The worker's response, or why there is none. The outer error is for a call that is not even tried.
fn call(
    spec: &Arc<PythonSpec>,
    run: &BlockingRun,
    printed: &mut Vec<u8>,
) -> Result<Result<Response, CallError>, Failure> {
    let BlockingRun { event, hook, resources, notifier, .. } = run;
    // Leasing a worker notices a shutdown of the engine, so it is not checked here.
    let input = event.wire().map_err(Failure::clone)?;
    resources.environment.check_depth()?;
    // Without this descriptor a shutdown could not stop a worker, so none is started.
    let shutdown = resources.processes.shutdown_fd().map_err(|error| {
        let detail = format!("no file descriptors are left to watch its worker: {error}");
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
    check_sources(hook)?;
    let phase = if run.second { 2 } else { 1 } + 256 * (u16::from(run.pass.number()) - 1);
    let mut variables = environment::of_repeated_call(run.second, run.pass);
    if let Some(runner) = &resources.processes.runner {
        let call = PythonCall {
            layer: hook.layer,
            record: hook.sources.as_ref().map(|sources| sources.python()),
            environment: &resources.environment.of_worker(spec),
            second: run.second,
            pass: run.pass,
            ..PythonCall::new(spec, &hook.name, input, run.timeout).limited(&limits)
        };
        match runner.call(&call) {
            Ok(result) => {
                *printed = result.printed;
                return Ok(Ok(result.response.into()));
            }
            Err(NotCompleted { why, may_have_begun }) => {
                tracing::debug!(hook = &*hook.name, why, may_have_begun, "not run by a borrowed worker");
                if may_have_begun {
                    variables.push((environment::ATTEMPT.into(), "2".into()));
                }
            }
        }
    }
    Ok(resources.processes.workers.lease(spec, hook, &resources.environment, &limits).and_then(
        |mut lease| {
            lease.connection.set_environment(variables);
            let called = lease.connection.call(spec, &hook.name, input, event.large_values(), phase, &limits);
            if limits.progress.is_some() {
                *printed = lease.connection.take_printed();
            }
            lease.end();
            called
        },
    ))
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

/// Information about a python interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PythonInfo {
    /// Its version.
    pub version: String,
    /// The path of the real interpreter, not of a shim.
    pub executable: String,
}

impl Resources {
    /// Starts a worker for a hook and loads its function, ahead of its first event.
    pub(crate) fn warm(&self, spec: &Arc<PythonSpec>, hook: &Entry) -> Result<PythonInfo, Failure> {
        check_sources(hook)?;
        let info = self.warm_unchecked(spec, hook);
        check_sources(hook)?;
        info
    }

    fn warm_unchecked(&self, spec: &Arc<PythonSpec>, hook: &Entry) -> Result<PythonInfo, Failure> {
        let limit = hook.timeout;
        if self.processes.is_shut_down() {
            return Err(Failure::error(SHUT_DOWN));
        }
        let stop = Stop { cancel: None, shutdown: self.processes.shutdown_fd().ok() };
        let limits = CallLimits { deadline: deadline_in(limit), stop, progress: None };
        let warmed =
            self.processes.workers.lease(spec, hook, &self.environment, &limits).and_then(|mut lease| {
                let hello = lease.connection.hello(&limits);
                let warmed =
                    hello.and_then(|hello| Ok((hello, lease.connection.load(spec, &hook.name, &limits)?)));
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
