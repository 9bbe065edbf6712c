//! Hooks that are coroutines, on the loop that awaits the fire.

use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};

use crosier::{Answer, BoxFuture, Call, EventKind, Failure, HostPayload};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::answer::{answer_from_exception, answer_from_result, delivery_failure, interpreter_is_ending};
use super::{Function, weak, with_fired};
use crate::py_fire::PyFire;
use crate::python::python;

impl Function {
    /// Starts its coroutine, which runs on the loop that awaits the fire.
    pub fn call_as_coroutine(&self, call: Call<'_>) -> BoxFuture {
        let other = PyFire::of(call.event).and_then(|fired| fired.state().other_loop.clone());
        if let Some(other) = other {
            return self.call_on_other_loop(call, &other);
        }
        let started = Python::try_attach(|py| {
            let fired = PyFire::of(call.event);
            let arguments = self.arguments(py, call).map_err(|error| delivery_failure(py, &error))?;
            let made = self
                .function
                .bind(py)
                .call1(arguments)
                .map_err(|error| answer_from_exception(py, error, fired))?;
            if !made.hasattr("__await__").unwrap_or(false) {
                return Err(answer_from_result(&made, &self.kind, fired));
            }
            let steps = match made.hasattr("send") {
                Ok(true) => Ok(made),
                _ => made.call_method0("__await__"),
            };
            steps.map(Bound::unbind).map_err(|error| answer_from_exception(py, error, fired))
        });
        let (kind, fired) = (self.kind.clone(), weak(call.event));
        match started {
            Some(Ok(steps)) if self.is_parallel => Box::pin(AsTask { steps, task: None, kind, fired }),
            Some(Ok(steps)) => Box::pin(Coroutine {
                steps,
                wait: Wait::Start,
                is_done: false,
                is_cancelled: false,
                kind,
                fired,
            }),
            Some(Err(answer)) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::ready(interpreter_is_ending())),
        }
    }
}

/// Wakes a fire from Python, as the callback of a future.
#[pyclass(frozen)]
pub struct Wake(pub Waker);

#[pymethods]
impl Wake {
    #[pyo3(signature = (*_arguments))]
    fn __call__(&self, _arguments: &Bound<'_, PyTuple>) {
        self.0.wake_by_ref();
    }
}

/// What a coroutine waits for.
enum Wait {
    Start,
    /// It only yielded to other tasks.
    Turn,
    Future(Py<PyAny>),
}

/// A hook's coroutine, stepped by the fire itself, as `await` would do: it runs in the task that awaits the fire.
/// Exceptions thrown into the fire are thrown into the hook.
struct Coroutine {
    steps: Py<PyAny>,
    wait: Wait,
    is_done: bool,
    /// Whether a cancellation was thrown into it.
    is_cancelled: bool,
    kind: EventKind,
    fired: Option<Weak<dyn HostPayload>>,
}

/// The running loop of this thread.
pub fn running_loop(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let running = python(py)?.running_loop.bind(py).call0()?;
    Ok(if running.is_none() { None } else { Some(running) })
}

impl Coroutine {
    fn step(&mut self, py: Python<'_>, context: &mut Context<'_>) -> Poll<Answer> {
        let thrown = with_fired(&self.fired, |fired| fired.and_then(|fired| fired.state().thrown.take()));
        let steps = self.steps.bind(py);
        let is_cancelled = thrown.as_ref().is_some_and(|error| is_cancellation(py, error));
        self.is_cancelled |= is_cancelled;
        let stepped = match (thrown, &self.wait) {
            (None, Wait::Future(future)) if !is_ready(future.bind(py)) => return Poll::Pending,
            (None, _) => steps.call_method1(pyo3::intern!(py, "send"), (py.None(),)),
            (Some(error), wait) => {
                if let (true, Wait::Future(future)) = (is_cancelled, wait) {
                    let _ = future.bind(py).call_method0("cancel");
                }
                steps.call_method1(pyo3::intern!(py, "throw"), (error.value(py),))
            }
        };
        with_fired(&self.fired, |fired| {
            if let Some(fired) = fired {
                fired.state().delegates = stepped.is_ok();
            }
            match stepped {
                Ok(yielded) => {
                    let waker = context.waker().clone();
                    match suspend(&yielded, waker) {
                        Ok(wait) => {
                            self.wait = wait;
                            Poll::Pending
                        }
                        Err(error) => {
                            let _ = steps.call_method0("close");
                            self.is_done = true;
                            Poll::Ready(answer_from_exception(py, error, fired))
                        }
                    }
                }
                Err(error) => {
                    self.is_done = true;
                    Poll::Ready(ended(py, error, self.is_cancelled, &self.kind, fired))
                }
            }
        })
    }
}

fn is_cancellation(py: Python<'_>, error: &PyErr) -> bool {
    python(py).is_ok_and(|python| error.is_instance(py, python.cancelled_error.bind(py)))
}

fn is_ready(future: &Bound<'_, PyAny>) -> bool {
    future.call_method0(pyo3::intern!(future.py(), "done")).and_then(|done| done.is_truthy()).unwrap_or(true)
}

/// How a coroutine ended: with a value, or with an exception.
fn ended(
    py: Python<'_>,
    error: PyErr,
    was_cancelled: bool,
    kind: &EventKind,
    fired: Option<&PyFire>,
) -> Answer {
    if error.is_instance_of::<PyStopIteration>(py) {
        return match error.value(py).getattr(pyo3::intern!(py, "value")) {
            Ok(value) => answer_from_result(&value, kind, fired),
            Err(error) => answer_from_exception(py, error, fired),
        };
    }
    if was_cancelled
        && is_cancellation(py, &error)
        && let Some(fired) = fired
    {
        fired.state().escaped = Some(error);
        return Failure::error("cancelled").into();
    }
    answer_from_exception(py, error, fired)
}

/// Arranges that the fire is woken when the coroutine can continue.
fn suspend(yielded: &Bound<'_, PyAny>, waker: Waker) -> PyResult<Wait> {
    let py = yielded.py();
    let wake = Bound::new(py, Wake(waker))?;
    if yielded.is_none() {
        let Some(running) = running_loop(py)? else {
            return Err(pyo3::exceptions::PyRuntimeError::new_err("no asyncio loop runs"));
        };
        running.call_method1("call_soon", (wake,))?;
        return Ok(Wait::Turn);
    }
    let blocking = pyo3::intern!(py, "_asyncio_future_blocking");
    if yielded.getattr(blocking).is_err() {
        let kind = yielded.get_type().name()?.to_string();
        let message = format!("the hook waits for a {kind}, which asyncio does not know");
        return Err(pyo3::exceptions::PyRuntimeError::new_err(message));
    }
    yielded.setattr(blocking, false)?;
    yielded.call_method1(pyo3::intern!(py, "add_done_callback"), (wake,))?;
    Ok(Wait::Future(yielded.clone().unbind()))
}

impl Future for Coroutine {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        Python::try_attach(|py| self.step(py, context))
            .unwrap_or_else(|| Poll::Ready(interpreter_is_ending()))
    }
}

impl Drop for Coroutine {
    /// It is cancelled, because it is late or the fire is dropped. What it still awaits in its `finally` continues as a
    /// task.
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        Python::try_attach(|py| {
            with_fired(&self.fired, |fired| {
                if let Some(fired) = fired {
                    fired.state().delegates = false;
                }
            });
            let waiting = match &self.wait {
                Wait::Future(future) => future.bind(py).clone(),
                Wait::Start | Wait::Turn => py.None().into_bound(py),
            };
            if let Ok(python) = python(py) {
                let _ = python.bridge.bind(py).call_method1("cancel", (self.steps.bind(py), waiting));
            }
        });
    }
}

/// A parallel hook's coroutine, as a separate task beside the others of its stage.
struct AsTask {
    steps: Py<PyAny>,
    task: Option<Py<PyAny>>,
    kind: EventKind,
    fired: Option<Weak<dyn HostPayload>>,
}

impl AsTask {
    fn step(&mut self, py: Python<'_>, context: &mut Context<'_>) -> PyResult<Poll<Answer>> {
        let Some(task) = &self.task else {
            let Some(running) = running_loop(py)? else {
                return Err(pyo3::exceptions::PyRuntimeError::new_err("no asyncio loop runs"));
            };
            let task = running.call_method1("create_task", (self.steps.bind(py),))?;
            task.call_method1("add_done_callback", (Bound::new(py, Wake(context.waker().clone()))?,))?;
            with_fired(&self.fired, |fired| {
                if let Some(fired) = fired {
                    fired.state().tasks.push(task.clone().unbind());
                }
            });
            self.task = Some(task.unbind());
            return Ok(Poll::Pending);
        };
        let task = task.bind(py);
        if !is_ready(task) {
            return Ok(Poll::Pending);
        }
        let result = task.call_method0("result");
        Ok(Poll::Ready(with_fired(&self.fired, |fired| match result {
            Ok(value) => answer_from_result(&value, &self.kind, fired),
            Err(error) => answer_from_exception(py, error, fired),
        })))
    }
}

impl Future for AsTask {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let polled = Python::try_attach(|py| {
            self.step(py, context).unwrap_or_else(|error| Poll::Ready(answer_from_exception(py, error, None)))
        });
        polled.unwrap_or_else(|| Poll::Ready(interpreter_is_ending()))
    }
}

impl Drop for AsTask {
    fn drop(&mut self) {
        Python::try_attach(|py| match &self.task {
            Some(task) => drop(task.bind(py).call_method0("cancel")),
            None => drop(self.steps.bind(py).call_method0("close")),
        });
    }
}
