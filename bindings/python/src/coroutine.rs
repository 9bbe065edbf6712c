//! `Engine.fire` as a coroutine object. It polls the walk on the thread of the loop that awaits it, and suspends on a
//! future of that loop while it waits for a hook.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::engine::NativeEngine;
use crate::fire::{FireMode, deadline_error};
use crate::fork::generation;
use crate::hook::running_loop;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::py_fire::PyFire;
use crate::python::{error, python};
use crate::waiting::Stop;

/// How long a cancelled fire waits for its hooks to end.
const DRAIN: Duration = Duration::from_secs(5);

type Walk = Pin<Box<dyn Future<Output = (crosier::Outcome, bool)> + Send>>;

/// One `fire` or `recheck` that is awaited.
#[pyclass(frozen, module = "crosier._native", weakref)]
pub struct FireCoroutine {
    /// Locked while it runs.
    phase: Mutex<Phase>,
}

enum Phase {
    New(Box<Arguments>),
    Running(Box<Running>),
    /// It was cancelled, and waits for its hooks to end.
    Draining {
        fired: Arc<PyFire>,
        thrown: PyErr,
        until: Instant,
    },
    Done,
}

/// What `fire` was called with.
pub struct Arguments {
    pub engine: Py<NativeEngine>,
    pub event: Py<PyAny>,
    pub payload: Option<Py<PyAny>>,
    pub fields: Option<Py<PyDict>>,
    pub agent_id: Option<String>,
    pub deadline: Option<f64>,
    pub mode: FireMode,
}

struct Running {
    /// Only its owner polls it; the mutex only makes it `Sync`.
    walk: Mutex<Walk>,
    fired: Arc<PyFire>,
    waker: Arc<LoopWaker>,
    timer: Option<Py<PyAny>>,
    deadline: Option<f64>,
    generation: u64,
    /// Keeps the engine's hooks from being collected while it runs.
    _engine: Py<NativeEngine>,
}

/// Wakes the loop that awaits the fire.
struct LoopWaker {
    running: Py<PyAny>,
    thread: ThreadId,
    is_woken: AtomicBool,
    /// The future that the task waits for.
    asleep: Mutex<Option<Py<PyAny>>>,
}

impl Wake for LoopWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let Some(asleep) = lock(&self.asleep).take() else { return };
        let is_here = std::thread::current().id() == self.thread;
        Python::try_attach(|py| {
            let Ok(python) = python(py) else { return };
            let resolve = python.bridge.bind(py).getattr("resolve");
            let _ = match (resolve, is_here) {
                (Ok(resolve), true) => resolve.call1((asleep,)),
                // A closed loop has no task to wake.
                (Ok(resolve), false) => {
                    self.running.bind(py).call_method1("call_soon_threadsafe", (resolve, asleep))
                }
                (Err(error), _) => Err(error),
            };
        });
    }
}

/// Called by the loop at the deadline.
#[pyclass(frozen)]
struct AtDeadline {
    stop: Stop,
    waker: Arc<LoopWaker>,
}

#[pymethods]
impl AtDeadline {
    fn __call__(&self) {
        self.stop.now();
        self.waker.wake_by_ref();
    }
}

impl FireCoroutine {
    pub fn new(arguments: Arguments) -> Self {
        Self { phase: Mutex::new(Phase::New(Box::new(arguments))) }
    }

    /// What it is about to do; an error when it is running, as for any coroutine.
    fn idle(&self) -> PyResult<MutexGuard<'_, Phase>> {
        match self.phase.try_lock() {
            Ok(phase) => Ok(phase),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyValueError::new_err("coroutine already executing")),
        }
    }
}

impl Phase {
    fn advance(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        loop {
            match self {
                Phase::New(_) => {
                    if let Some(outcome) = self.begin(py)? {
                        return Err(PyStopIteration::new_err((outcome,)));
                    }
                }
                Phase::Running(running) => {
                    running.waker.is_woken.store(false, Ordering::Release);
                    let waker = Waker::from(Arc::clone(&running.waker));
                    match running
                        .walk
                        .get_mut()
                        .unwrap_or_else(PoisonError::into_inner)
                        .as_mut()
                        .poll(&mut Context::from_waker(&waker))
                    {
                        Poll::Ready((outcome, true)) => return Err(self.end(py, outcome)),
                        Poll::Ready((outcome, false)) => self.stop_at_deadline(py, outcome),
                        Poll::Pending => {
                            let asleep = running.waker.running.bind(py).call_method0("create_future")?;
                            *lock(&running.waker.asleep) = Some(asleep.clone().unbind());
                            if running.waker.is_woken.load(Ordering::Acquire) {
                                lock(&running.waker.asleep).take();
                                continue;
                            }
                            asleep.setattr(pyo3::intern!(py, "_asyncio_future_blocking"), true)?;
                            return Ok(asleep.unbind());
                        }
                    }
                }
                Phase::Draining { fired, thrown, until } => {
                    if is_drained(py, fired) || Instant::now() > *until {
                        let thrown = thrown.clone_ref(py);
                        *self = Phase::Done;
                        return Err(thrown);
                    }
                    return pause(py);
                }
                Phase::Done => {
                    return Err(PyRuntimeError::new_err("cannot reuse already awaited coroutine"));
                }
            }
        }
    }

    /// Starts the walk; returns the outcome if no hook has to run.
    fn begin(&mut self, py: Python<'_>) -> PyResult<Option<Py<Outcome>>> {
        let Phase::New(arguments) = std::mem::replace(self, Phase::Done) else {
            return Err(PyRuntimeError::new_err("the fire has begun already"));
        };
        let Some(running) = running_loop(py)? else {
            let message = "`fire` is awaited outside an asyncio loop; under trio, use \
                           `await trio.to_thread.run_sync(lambda: engine.fire_sync(...))`";
            return Err(error(py, "Error", (message,)));
        };
        let this = arguments.engine.bind(py).get();
        let engine = this.engine(py)?;
        let kind = this.kind(&engine, arguments.event.bind(py))?;
        let payload = arguments.payload.as_ref().map(|payload| payload.bind(py));
        let fields = arguments.fields.as_ref().map(|fields| fields.bind(py));
        let ready = this.prepare(py, engine, kind, payload, fields, arguments.agent_id)?;
        let (engine, event, fired) = match ready {
            Ok(ready) => ready,
            Err(outcome) => return Ok(Some(Py::new(py, outcome)?)),
        };
        let stop = Stop::default();
        let waker = Arc::new(LoopWaker {
            running: running.clone().unbind(),
            thread: std::thread::current().id(),
            is_woken: AtomicBool::new(false),
            asleep: Mutex::new(None),
        });
        let mut timer = None;
        if let Some(seconds) = arguments.deadline {
            let at = Bound::new(py, AtDeadline { stop: stop.clone(), waker: Arc::clone(&waker) })?;
            timer = Some(running.call_method1("call_later", (seconds, at))?.unbind());
        }
        let mode = arguments.mode;
        let walk: Walk = Box::pin(async move { mode.until(&engine, event, stop).await });
        let deadline = arguments.deadline;
        *self = Phase::Running(Box::new(Running {
            walk: Mutex::new(walk),
            fired,
            waker,
            timer,
            deadline,
            generation: generation(),
            _engine: arguments.engine,
        }));
        Ok(None)
    }

    /// Ends with the outcome, or with a hook's exception that must reach the caller.
    fn end(&mut self, py: Python<'_>, outcome: crosier::Outcome) -> PyErr {
        let Phase::Running(running) = std::mem::replace(self, Phase::Done) else {
            return PyRuntimeError::new_err("the fire has ended already");
        };
        let Running { fired, timer, .. } = *running;
        if let Some(timer) = timer {
            let _ = timer.bind(py).call_method0("cancel");
        }
        if let Some(escaped) = fired.state().escaped.take() {
            return escaped;
        }
        match Py::new(py, Outcome::new(outcome, fired.take_rewritten())) {
            Ok(outcome) => PyStopIteration::new_err((outcome,)),
            Err(error) => error,
        }
    }

    /// Ends with what was decided so far, when everything that still runs has ended.
    fn stop_at_deadline(&mut self, py: Python<'_>, outcome: crosier::Outcome) {
        let Phase::Running(running) = std::mem::replace(self, Phase::Done) else { return };
        let Running { walk, fired, deadline, .. } = *running;
        drop(walk);
        let thrown = deadline_error(py, outcome, &fired, deadline);
        *self = Phase::Draining { fired, thrown, until: Instant::now() + DRAIN };
    }
}

/// Whether everything that the fire started has ended.
fn is_drained(py: Python<'_>, fired: &Arc<PyFire>) -> bool {
    let is_running = |task: &Py<PyAny>| {
        task.bind(py).call_method0("done").and_then(|done| done.is_truthy()).is_ok_and(|done| !done)
    };
    let tasks: Vec<Py<PyAny>> = fired.state().tasks.iter().map(|task| task.clone_ref(py)).collect();
    Arc::strong_count(fired) == 1 && !tasks.iter().any(is_running)
}

/// A future that is done after a short pause.
fn pause(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let Some(running) = running_loop(py)? else {
        return Err(PyRuntimeError::new_err("no asyncio loop runs"));
    };
    let future = running.call_method0("create_future")?;
    let resolve = python(py)?.bridge.bind(py).getattr("resolve")?;
    running.call_method1("call_later", (0.001, resolve, &future))?;
    future.setattr(pyo3::intern!(py, "_asyncio_future_blocking"), true)?;
    Ok(future.unbind())
}

#[pymethods]
impl FireCoroutine {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.idle()?.advance(py)
    }

    fn send(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let mut phase = self.idle()?;
        if !value.is_none() && matches!(*phase, Phase::New(_)) {
            return Err(PyTypeError::new_err("can't send non-None value to a just-started coroutine"));
        }
        phase.advance(py)
    }

    #[pyo3(signature = (exception, value=None, _traceback=None))]
    fn throw(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        value: Option<Bound<'_, PyAny>>,
        _traceback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let thrown = match (value.filter(|value| !value.is_none()), exception.is_callable()) {
            (Some(value), _) => value,
            (None, true) => exception.call0()?,
            (None, false) => exception.clone(),
        };
        let thrown = PyErr::from_value(thrown);
        let mut phase = self.idle()?;
        match std::mem::replace(&mut *phase, Phase::Done) {
            Phase::Running(running) if running.fired.state().delegates => {
                running.fired.state().thrown = Some(thrown);
                *phase = Phase::Running(running);
                phase.advance(py)
            }
            Phase::Running(running) => {
                let Running { walk, fired, timer, .. } = *running;
                if let Some(timer) = timer {
                    let _ = timer.bind(py).call_method0("cancel");
                }
                // Dropping the walk kills running hooks.
                drop(walk);
                *phase = Phase::Draining { fired, thrown, until: Instant::now() + DRAIN };
                phase.advance(py)
            }
            Phase::Draining { fired, thrown, until } => {
                *phase = Phase::Draining { fired, thrown, until };
                phase.advance(py)
            }
            Phase::New(_) | Phase::Done => Err(thrown),
        }
    }

    fn close(&self) -> PyResult<()> {
        let before = std::mem::replace(&mut *self.idle()?, Phase::Done);
        // Not under the lock: hooks are cancelled, and may look at the task.
        drop(before);
        Ok(())
    }

    #[getter]
    fn __name__(&self) -> &'static str {
        "Engine.fire"
    }

    #[getter]
    fn __qualname__(&self) -> &'static str {
        "Engine.fire"
    }

    #[getter]
    fn cr_running(&self) -> bool {
        self.idle().is_err()
    }

    #[getter]
    fn cr_frame(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    #[getter]
    fn cr_code(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    #[getter]
    fn cr_await(&self, py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    #[classmethod]
    fn __class_getitem__(
        cls: Py<pyo3::types::PyType>,
        _parameters: &Bound<'_, PyTuple>,
    ) -> Py<pyo3::types::PyType> {
        cls
    }
}

impl Drop for FireCoroutine {
    fn drop(&mut self) {
        match std::mem::replace(self.phase.get_mut().unwrap_or_else(PoisonError::into_inner), Phase::Done) {
            Phase::New(_) => {
                Python::try_attach(|py| {
                    let category = py.get_type::<PyRuntimeWarning>();
                    let _ = PyErr::warn(py, &category, c"coroutine 'Engine.fire' was never awaited", 1);
                });
            }
            // After a fork, the threads that it waits for exist only in the parent.
            Phase::Running(running) if running.generation != generation() => {
                std::mem::forget(running);
            }
            _ => {}
        }
    }
}
