//! Python hooks: functions in warm workers, as isolated as processes and killed when they are late.
//!
//! In comes a python hook and an event; out goes its answer. A worker is a long-lived process that runs
//! `worker.py`; there is a pool of them per interpreter, environment and folder. A worker that is late, dies
//! or breaks the protocol is killed with its group and replaced; only the call that it was running is lost.

mod interpreter;
mod link;
mod loaded;
mod pool;
mod process;
mod request;
mod response;
mod talk;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, EventRow, Failure, FailureKind, Reply};

use super::errand::{self, Errand};
use super::process::Stop;
use super::telling::{Said, Telling};
use super::{Host, Run, Setting, moment_in};
use crate::registry::{Call, PythonSpec};
pub(super) use pool::Pools;
use response::{Failed, Response};
use talk::{Lost, Talk, When, Why, plain};

const SHUT_DOWN: &str = "the engine is shut down";
/// A reply over this is `oversize`.
const MAX_REPLY: usize = 1024 * 1024;

/// Runs the function within its deadline.
pub(super) async fn run(
    spec: &Arc<PythonSpec>,
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
    spec: &'a Arc<PythonSpec>,
    errand: &'a Errand,
}

impl Job<'_> {
    fn run(&self, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>) -> Answer {
        let Errand { event, hook, host, timeout, .. } = self.errand;
        // Whether the engine is shut down is seen when a worker is looked for.
        let input = match event.wire() {
            Ok(input) => input,
            Err(failure) => return failure.clone().into(),
        };
        if host.environment.is_too_deep() {
            let detail = "hooks started agents that started hooks, too many times over";
            return Failure::new(FailureKind::Import, detail).into();
        }
        // What nobody could stop is not started.
        let bell = match host.try_bell() {
            Ok(bell) => Some(bell),
            Err(error) => {
                let detail = format!("no descriptors are left to watch over its worker: {error}");
                return Failure::new(FailureKind::Import, detail).into();
            }
        };
        let tell = |text: String| {
            if let Some(telling) = &*telling {
                telling.progress(text, String::new());
            }
        };
        let talk = Talk {
            deadline: self.errand.deadline,
            stop: Stop { cancel: cancel.map(AsFd::as_fd), bell },
            progress: telling.is_some().then_some(&tell),
        };
        let mut said = Vec::new();
        let called = host.workers.lease(self.spec, &host.environment, &talk).and_then(|mut lease| {
            let phase = if self.errand.second { 2 } else { 1 };
            let called = lease.link.call(self.spec, hook, input, phase, &talk);
            if talk.progress.is_some() {
                said = lease.link.take_said();
            }
            lease.end();
            called
        });
        if let Some(telling) = telling {
            let stdout = String::from_utf8_lossy(&said).into_owned();
            telling.remember(Said { exit_code: None, stdout, stderr: String::new() });
            if called.as_ref().is_err_and(|lost| matches!(lost.why, Why::Cancelled)) {
                telling.cancel();
            }
        }
        match called {
            Ok(response) => answer(response, event.kind(), hook),
            Err(Lost { when: When::Waiting, why: Why::Cancelled }) if host.is_shut_down() => {
                Failure::error(SHUT_DOWN).into()
            }
            Err(lost) => lost.failure(self.spec, *timeout).into(),
        }
    }
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
            Answer::failed(reply, Failure::new(kind, plain(&detail)))
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

impl Host {
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
        let stop = Stop { cancel: None, bell: self.bell() };
        let talk = Talk { deadline: moment_in(limit), stop, progress: None };
        let warmed = self.workers.lease(spec, &self.environment, &talk).and_then(|mut lease| {
            let hello = lease.link.hello(&talk);
            let warmed = hello.and_then(|hello| Ok((hello, lease.link.load(spec, hook, &talk)?)));
            lease.end();
            warmed
        });
        match warmed.map_err(|lost| lost.failure(spec, limit))? {
            (_, Response::Failed(Failed { kind, detail, .. })) => Err(Failure::new(kind, plain(&detail))),
            (hello, Response::Reply(_) | Response::Nothing) => {
                Ok(PythonInfo { version: hello.python, executable: hello.executable })
            }
        }
    }
}
