//! Python hooks: functions in warm workers, as isolated as processes and killed when they are late.
//!
//! In comes a python hook and an event; out goes its answer. A worker is a long-lived process that runs
//! `worker.py`; there is a pool of them per interpreter, environment and folder. A worker that is late, dies or
//! breaks the protocol is killed with its group and replaced; only the call that it was running is lost.

mod frame;
mod link;
mod pool;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, EventRow, Failure, FailureKind, Reply};

use super::errand::{self, Errand};
use super::telling::{Said, Telling};
use super::{Host, Run, Setting, moment_in};
use crate::registry::{Call, Cwd, PythonSpec};
use frame::Response;
use link::{Lost, Talk};
pub(super) use pool::Pools;

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
    spec: &'a PythonSpec,
    errand: &'a Errand,
}

impl Job<'_> {
    fn run(&self, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>) -> Answer {
        let Errand { event, hook, host, timeout, .. } = self.errand;
        let deadline = self.errand.deadline;
        let input = match self.errand.input() {
            Ok(input) => input,
            Err(failure) => return failure.into(),
        };
        if host.environment.is_too_deep() {
            let detail = "hooks started agents that started hooks, too many times over";
            return Failure::new(FailureKind::Import, detail).into();
        }
        let mut lease = match host.workers.lease(self.spec, &host.environment, deadline) {
            Ok(Some(lease)) => lease,
            Ok(None) => {
                let detail = format!("all workers were busy for the whole {timeout:?}");
                return Failure::new(FailureKind::Timeout, detail).into();
            }
            Err(failure) => return failure.into(),
        };
        let tell = |text: String| {
            if let Some(telling) = &*telling {
                telling.progress(text, String::new());
            }
        };
        let talk = Talk {
            deadline,
            cancel: cancel.map(AsFd::as_fd),
            bell: host.bell(),
            progress: telling.is_some().then_some(&tell),
        };
        let cwd = match &self.spec.cwd {
            Cwd::Folder(_) => None,
            Cwd::Event => Some(event.cwd()),
        };
        let phase = if self.errand.second { 2 } else { 1 };
        let called = lease.link.call(self.spec, hook, input, phase, cwd, &talk);
        if let Some(telling) = telling {
            let stdout = String::from_utf8_lossy(&lease.link.take_said()).into_owned();
            telling.remember(Said { exit_code: None, stdout, stderr: String::new() });
        }
        match called {
            Ok(response) => {
                lease.give_back();
                answer(response, event.kind(), hook)
            }
            // The lease is dropped, and the worker with it.
            Err(Lost::Late) => {
                let detail = format!("it was not done after {timeout:?}, and its worker was killed");
                Failure::new(FailureKind::Timeout, detail).into()
            }
            Err(Lost::Cancelled) => {
                if let Some(telling) = telling {
                    telling.cancel();
                }
                Failure::error("the fire was cancelled, and its worker was killed").into()
            }
            Err(Lost::Gone(detail)) => Failure::new(FailureKind::WorkerLost, detail).into(),
        }
    }
}

fn answer(response: Response, row: &EventRow, hook: &str) -> Answer {
    match response {
        Response::Reply(bytes) => Reply::decode(&bytes, row).into(),
        Response::Nothing => Answer::default(),
        Response::Failed { kind, detail, traceback, deny } => {
            if !traceback.is_empty() {
                tracing::debug!(hook, %traceback, "python hook failed");
            }
            // A detail can hold whatever the hook's code put into its exception.
            let detail = detail.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
            let reply = deny.map(Reply::deny).unwrap_or_default();
            Answer { reply, failure: Some(Failure::new(kind, detail)) }
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
        let deadline = moment_in(limit);
        let lease = self.workers.lease(spec, &self.environment, deadline)?;
        let late = || Failure::new(FailureKind::Timeout, format!("its worker was not ready after {limit:?}"));
        let mut lease = lease.ok_or_else(late)?;
        let talk = Talk { deadline, cancel: None, bell: self.bell(), progress: None };
        let link = &mut lease.link;
        let warmed = link.hello(&talk).and_then(|info| Ok((info, link.load(spec, hook, &talk)?)));
        match warmed {
            Ok((info, response)) => {
                lease.give_back();
                match response {
                    Response::Failed { kind, detail, .. } => Err(Failure::new(kind, detail)),
                    Response::Reply(_) | Response::Nothing => Ok(info),
                }
            }
            Err(Lost::Late) => Err(late()),
            Err(Lost::Cancelled) => Err(Failure::error("the engine was shut down")),
            Err(Lost::Gone(detail)) => Err(Failure::new(FailureKind::WorkerLost, detail)),
        }
    }
}
