//! A hook at a desk: one engine, one module, one worker; what is fired at it, and what came of it.

use std::time::{Duration, Instant, SystemTime};

use crosier::payload::{PermissionRequest, PreToolUse};
use crosier::{Decision, Engine, Event, FailureKind, Hook, OnError, Outcome, PythonSpec, Report, Status};
use serde_json::json;

use super::lab::{Lab, ms, tool};

/// What a hook may take beyond its timeout and its grace, as for commands.
const SLACK: Duration = Duration::from_secs(1);
const GRACE: Duration = crosier::DEFAULT_GRACE;
/// How long before the deadline a hook must have been ready for its test to mean anything.
const MARGIN: Duration = Duration::from_millis(50);

/// In front of every module: the function that the tool is named after answers.
const PREAMBLE: &str = "\
import os, sys, time, signal, subprocess, threading
from crosier import HookResult, allow, ask, deny, inject

def check(event):
    return globals()[event.tool_name](event)

def pid(event):
    return deny(str(os.getpid()))

def ready(name='ready'):
    open(name, 'w').close()

";

/// An engine with one module. Fired at, its function of that name answers.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    lab: &'a Lab,
    pub(super) engine: Engine,
    spec: PythonSpec,
}

impl Lab {
    /// A module with the preamble in front of it.
    pub(super) fn module(&self, name: &str, code: &str) {
        self.write(name, [PREAMBLE, code].concat());
    }

    pub(super) fn desk(&self, code: &str) -> Desk<'_> {
        self.desk_with(code, |spec| spec)
    }

    /// The same, with something else about the hook.
    pub(super) fn desk_with(&self, code: &str, change: impl Fn(PythonSpec) -> PythonSpec) -> Desk<'_> {
        self.module("guard.py", code);
        let spec = change(self.spec("guard.check"));
        Desk { lab: self, engine: self.engine([self.guard(spec.clone())]), spec }
    }
}

impl<'a> Desk<'a> {
    /// Fires a call of the tool that this function is named after.
    pub(super) fn fire(&self, function: &str) -> Trial<'a> {
        self.fire_event(tool(function))
    }

    pub(super) fn fire_event(&self, event: impl Into<Event>) -> Trial<'a> {
        let begun = Instant::now();
        let outcome = self.lab.fire(&self.engine, event);
        Trial { lab: self.lab, outcome, took: begun.elapsed() }
    }

    /// Ends the engine, and its workers with it.
    pub(super) fn end(self) {
        drop(self.engine);
    }

    /// The worker that answers, by its process id.
    #[track_caller]
    pub(super) fn pid(&self) -> i32 {
        let trial = self.fire("pid");
        let reason = trial.outcome.reason.as_deref().unwrap_or_default();
        reason.parse().unwrap_or_else(|_| panic!("{:?}", trial.outcome))
    }

    /// Fires at the function with a short timeout. It makes the file `ready` and hangs; where the machine was
    /// too slow for that, it gets twice the time. Back after its timeout, its grace and a second at most.
    #[track_caller]
    pub(super) fn hang(&self, function: &str) -> Trial<'a> {
        // A warm worker, so that the time is the function's own.
        self.pid();
        let mut timeout = ms(250);
        loop {
            let hook = Hook::on(PermissionRequest).named("late").timeout(timeout);
            let hook = hook.on_error(self.lab.way.on_error()).python(self.spec.clone());
            self.engine.unregister("late");
            self.engine.register(hook).unwrap();
            let _ = std::fs::remove_file(self.lab.path("ready"));
            let late = SystemTime::now() + timeout;
            let json = json!({"tool_name": function, "tool_input": {}}).to_string();
            let event = self.engine.event("PermissionRequest", json.as_bytes()).unwrap();
            let trial = self.fire_event(event);
            assert!(trial.took >= timeout, "it was over before its deadline: {trial:?}");
            assert!(trial.took <= timeout + GRACE + SLACK, "{timeout:?} were not kept: {trial:?}");
            let made = std::fs::metadata(self.lab.path("ready")).and_then(|meta| meta.modified());
            if made.is_ok_and(|at| at + MARGIN <= late) {
                trial.failed(
                    FailureKind::Timeout,
                    &[&format!("did not finish within {timeout:?}"), "worker was killed"],
                );
                return trial;
            }
            timeout *= 2;
            assert!(timeout < ms(20_000), "the hook never got ready: {trial:?}");
        }
    }

    /// A hook of its own on the same module.
    pub(super) fn hook(&self, name: &str, function: &str) -> Hook {
        let spec = PythonSpec { function: function.to_owned(), ..self.spec.clone() };
        Hook::on(PreToolUse).named(name).python(spec)
    }
}

/// What came of firing at one hook.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    lab: &'a Lab,
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
}

impl Trial<'_> {
    pub(super) fn report(&self) -> &Report {
        assert_eq!(self.outcome.reports.len(), 1, "{:?}", self.outcome);
        &self.outcome.reports[0]
    }

    /// The hook itself denied, and did not fail.
    #[track_caller]
    pub(super) fn denied(&self, reason: &str) {
        assert_eq!(self.report().failure, None, "{:?}", self.outcome);
        self.denied_anyway(reason);
    }

    /// The hook itself denied, whether it failed or not.
    #[track_caller]
    pub(super) fn denied_anyway(&self, reason: &str) {
        let outcome = &self.outcome;
        assert_eq!(outcome.decision, Some(Decision::Deny), "{outcome:?}");
        assert_eq!(outcome.reason.as_deref(), Some(reason), "{outcome:?}");
        assert!(!outcome.by_failure, "{outcome:?}");
    }

    /// The hook did not fail and decided nothing.
    #[track_caller]
    pub(super) fn no_opinion(&self) {
        assert_eq!(self.report().failure, None, "{:?}", self.outcome);
        assert_eq!((self.outcome.decision, self.outcome.by_failure), (None, false), "{:?}", self.outcome);
    }

    /// The hook failed so, its detail has these parts, and its policy was applied.
    #[track_caller]
    pub(super) fn failed(&self, kind: FailureKind, parts: &[&str]) {
        let (outcome, report) = (&self.outcome, self.report());
        let Some(failure) = &report.failure else { panic!("it did not fail: {outcome:?}") };
        assert_eq!((failure.kind, report.status), (kind, Status::Failed), "{outcome:?}");
        for part in parts {
            assert!(failure.detail.contains(part), "no {part:?} in {:?}", failure.detail);
        }
        let denies = kind.always_denies() || self.lab.way.on_error() == OnError::Abort;
        assert_eq!((outcome.is_denied(), outcome.by_failure), (denies, denies), "{outcome:?}");
    }
}
