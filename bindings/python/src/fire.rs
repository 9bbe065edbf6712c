//! `fire` and `recheck`: awaited, or waited for on the calling thread.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier::{Engine, Event, FieldKind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::coroutine::{Arguments, FireCoroutine};
use crate::engine::NativeEngine;
use crate::hook::running_loop;
use crate::kinds::PyKind;
use crate::outcome::Outcome;
use crate::py_fire::PyFire;
use crate::python::{error, python};
use crate::waiting::{Stop, wait};

/// Whether to fire an event or to recheck one.
#[derive(Clone, Copy)]
pub enum FireMode {
    Fire,
    Recheck,
}

impl FireMode {
    /// The outcome, and whether all hooks ran before `stop`.
    pub async fn until(self, engine: &Engine, event: Event, stop: Stop) -> (crosier::Outcome, bool) {
        match self {
            Self::Fire => engine.fire_until(event, stop).await,
            Self::Recheck => engine.recheck_until(event, stop).await,
        }
    }
}

/// Fires or rechecks when it is awaited.
pub fn fire_async(py: Python<'_>, arguments: Arguments) -> PyResult<FireCoroutine> {
    check_deadline(py, arguments.deadline)?;
    Ok(FireCoroutine::new(arguments))
}

/// What `fire_sync` or `recheck_sync` was called with, borrowed from the caller.
pub struct SyncArguments<'a, 'py> {
    pub mode: FireMode,
    pub event: &'a Bound<'py, PyAny>,
    pub payload: Option<&'a Bound<'py, PyAny>>,
    pub fields: Option<&'a Bound<'py, PyDict>>,
    pub agent_id: Option<String>,
    pub deadline: Option<f64>,
}

impl SyncArguments<'_, '_> {
    /// The same arguments, for a fire that is awaited.
    fn to_owned(&self, engine: &Bound<'_, NativeEngine>) -> Arguments {
        Arguments {
            engine: engine.clone().unbind(),
            event: self.event.clone().unbind(),
            payload: self.payload.map(|given| given.clone().unbind()),
            fields: self.fields.map(|given| given.clone().unbind()),
            agent_id: self.agent_id.clone(),
            deadline: self.deadline,
            mode: self.mode,
        }
    }
}

/// Fires or rechecks, and waits for the outcome on this thread.
pub fn fire_blocking(slf: &Bound<'_, NativeEngine>, arguments: SyncArguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let deadline = arguments.deadline;
    let (py, this) = (slf.py(), slf.get());
    check_deadline(py, deadline)?;
    let engine = this.engine(py)?;
    let kind = this.kind(&engine, arguments.event)?;
    let is_inside_a_loop = kind.needs_a_loop() && running_loop(py)?.is_some();
    if kind.needs_a_loop() && !is_inside_a_loop {
        let fire = fire_async(py, arguments.to_owned(slf))?;
        let bridge = python(py)?.bridge.bind(py);
        return Ok(bridge.call_method1("run_on_private_loop", (fire,))?.unbind());
    }
    let SyncArguments { mode, payload, fields, agent_id, .. } = arguments;
    let (engine, event, fired) = match this.prepare(py, engine, kind, payload, fields, agent_id)? {
        Ok(ready) => ready,
        Err(outcome) => return Ok(Py::new(py, outcome)?.into_any()),
    };
    let other_loop = if is_inside_a_loop { Some(OtherLoop::new(py, &fired)?) } else { None };
    let stop = Stop::default();
    let limit = deadline.map(|seconds| (Duration::from_secs_f64(seconds), &stop));
    // Ends with this statement: an abandoned walk is dropped, which kills what it runs.
    let waited = wait(py, pin!(mode.until(&engine, event, stop.clone())), limit);
    if let Some(other_loop) = other_loop {
        other_loop.close(py)?;
    }
    let (outcome, is_whole) = match waited {
        Ok(waited) => waited,
        Err(interrupted) => {
            drain(py, &fired);
            return Err(interrupted);
        }
    };
    if let Some(escaped) = fired.state().escaped.take() {
        return Err(escaped);
    }
    if is_whole {
        return Ok(Py::new(py, Outcome::new(outcome, fired.take_rewritten()))?.into_any());
    }
    drain(py, &fired);
    Err(deadline_error(py, outcome, &fired, deadline))
}

/// A loop on another thread, for the coroutines of a fire that waits on the thread of a running loop. Everything else
/// runs as in any fire: inline hooks on the calling thread.
struct OtherLoop<'a> {
    other: Arc<Py<PyAny>>,
    fired: &'a PyFire,
}

impl<'a> OtherLoop<'a> {
    fn new(py: Python<'_>, fired: &'a PyFire) -> PyResult<Self> {
        let other = Arc::new(python(py)?.bridge.bind(py).call_method0("OtherLoop")?.unbind());
        fired.state().other_loop = Some(Arc::clone(&other));
        Ok(Self { other, fired })
    }

    /// Waits for what was cancelled.
    fn close(self, py: Python<'_>) -> PyResult<()> {
        let known = self.fired.state().other_loop.take();
        drop(known);
        self.other.bind(py).call_method0("close").map(drop)
    }
}

/// `crosier.DeadlineExceeded`, with what was decided so far.
pub fn deadline_error(
    py: Python<'_>,
    outcome: crosier::Outcome,
    fired: &PyFire,
    deadline: Option<f64>,
) -> PyErr {
    let message = format!("the fire did not finish within {} s", deadline.unwrap_or_default());
    match Py::new(py, Outcome::new(outcome, fired.take_rewritten())) {
        Ok(outcome) => error(py, "DeadlineExceeded", (message, outcome)),
        Err(error) => error,
    }
}

/// Waits until the processes of an abandoned fire have ended.
fn drain(py: Python<'_>, fired: &Arc<PyFire>) {
    py.detach(|| {
        let until = Instant::now() + Duration::from_secs(2);
        while Arc::strong_count(fired) > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

fn check_deadline(py: Python<'_>, deadline: Option<f64>) -> PyResult<()> {
    match deadline {
        Some(seconds) if !seconds.is_finite() || !(0.0..=1e9).contains(&seconds) => {
            let message = "the deadline must be a number of seconds, 0 or more";
            Err(error(py, "EventError", (message, "deadline")))
        }
        _ => Ok(()),
    }
}

/// Whether all required fields are given; if not, the slow path reports what is missing.
pub fn has_required(
    kind: &PyKind,
    payload: Option<&Bound<'_, PyAny>>,
    fields: Option<&Bound<'_, PyDict>>,
    agent_id: &Option<String>,
) -> bool {
    let payload = match payload {
        None => None,
        Some(payload) if payload.is_none() => None,
        Some(payload) => match payload.cast::<PyDict>() {
            Ok(payload) => Some(payload),
            Err(_) => return false,
        },
    };
    let fits = |field: &crosier::Field, name: &Py<PyString>, given: Option<&Bound<'_, PyDict>>| {
        given.is_some_and(|given| match given.get_item(name) {
            Ok(Some(value)) => field.kind == FieldKind::Any || value.is_instance_of::<PyString>(),
            _ => false,
        })
    };
    kind.kind.fields.iter().zip(&kind.names).filter(|(field, _)| field.required).all(|(field, name)| {
        fits(field, name, fields)
            || fits(field, name, payload)
            || (field.name == "agent_id" && agent_id.is_some())
    })
}
