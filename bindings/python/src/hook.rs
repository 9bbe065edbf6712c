//! Hooks that are Python code in this process: called in place, on a thread of the package's pool, or as a coroutine on
//! the loop that awaits the fire. Whatever one returns or raises becomes an answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crosier::{Answer, BoxFuture, Call, Event, Failure, FailureKind, Held, Kind, Reply};
use pyo3::exceptions::{PyBaseException, PyException, PyKeyboardInterrupt, PyStopIteration, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::held::{Fired, hook_event};
use crate::json;
use crate::python::python;

/// A hook's function, and what is known about it.
pub struct Function {
    pub function: Py<PyAny>,
    pub takes_context: bool,
    /// The timeout in seconds, for the hook's context.
    pub timeout: f64,
    pub is_parallel: bool,
    pub kind: Kind,
}

impl Function {
    /// What it is called with.
    fn arguments<'py>(&self, py: Python<'py>, call: Call<'_>) -> PyResult<Bound<'py, PyTuple>> {
        let event = hook_event(py, call.event)?;
        if !self.takes_context {
            return PyTuple::new(py, [event]);
        }
        let phase = u32::from(call.second) + 1 + 256 * u32::from(call.pass.number() - 1);
        let context = python(py)?.hook_context.bind(py).call1((&**call.hook, phase, self.timeout))?;
        PyTuple::new(py, [event, context])
    }

    /// Calls it on this thread.
    pub fn call_here(&self, call: Call<'_>) -> Answer {
        let called = Python::try_attach(|py| {
            let fired = Fired::of(call.event);
            let arguments = match self.arguments(py, call) {
                Ok(arguments) => arguments,
                Err(error) => return undelivered(py, &error),
            };
            match self.function.bind(py).call1(arguments) {
                Ok(result) => understood(&result, &self.kind, fired),
                Err(error) => raised(py, error, fired),
            }
        });
        called.unwrap_or_else(interpreter_is_ending)
    }

    /// Hands it to a thread.
    pub fn call_on_thread(&self, call: Call<'_>) -> BoxFuture {
        let slot = Arc::new(Mutex::new(Slot::default()));
        let started = Python::try_attach(|py| {
            let start = || -> PyResult<Option<Py<PyAny>>> {
                let arguments = self.arguments(py, call)?;
                let context = arguments.get_item(1).ok().map(Bound::unbind);
                let job = Job {
                    function: self.function.clone_ref(py),
                    arguments: arguments.unbind(),
                    variables: python(py)?.copy_context.bind(py).call0()?.unbind(),
                    kind: self.kind.clone(),
                    fired: weak(call.event),
                    slot: Arc::clone(&slot),
                };
                python(py)?.submit.bind(py).call1((job,))?;
                Ok(context)
            };
            start().map_err(|error| undelivered(py, &error))
        });
        match started {
            Some(Ok(context)) => Box::pin(OnThread { slot, context }),
            Some(Err(answer)) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::ready(interpreter_is_ending())),
        }
    }

    /// Begins its coroutine, which is run on the loop that awaits the fire.
    pub fn call_as_coroutine(&self, call: Call<'_>) -> BoxFuture {
        let started = Python::try_attach(|py| {
            let fired = Fired::of(call.event);
            let arguments = self.arguments(py, call).map_err(|error| undelivered(py, &error))?;
            let made = self.function.bind(py).call1(arguments).map_err(|error| raised(py, error, fired))?;
            if !made.hasattr("__await__").unwrap_or(false) {
                return Err(understood(&made, &self.kind, fired));
            }
            let steps = match made.hasattr("send") {
                Ok(true) => Ok(made),
                _ => made.call_method0("__await__"),
            };
            steps.map(Bound::unbind).map_err(|error| raised(py, error, fired))
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

fn weak(event: &Event) -> Option<Weak<dyn Held>> {
    event.held().map(Arc::downgrade)
}

fn with_fired<T>(fired: &Option<Weak<dyn Held>>, act: impl FnOnce(Option<&Fired>) -> T) -> T {
    let held = fired.as_ref().and_then(Weak::upgrade);
    act(held.as_ref().and_then(|held| held.as_any().downcast_ref()))
}

fn interpreter_is_ending() -> Answer {
    Failure::new(FailureKind::Delivery, "the interpreter is ending").into()
}

/// The hook's code never saw the event: that denies.
fn undelivered(py: Python<'_>, error: &PyErr) -> Answer {
    Failure::new(FailureKind::Delivery, format!("the event cannot be handed over: {}", error.value(py)))
        .into()
}

/// Turns what a hook returned into an answer.
pub fn understood(result: &Bound<'_, PyAny>, kind: &Kind, fired: Option<&Fired>) -> Answer {
    let py = result.py();
    if result.is_none() {
        return Answer::default();
    }
    let reply = match result.cast_exact::<PyDict>() {
        Ok(reply) => Ok(reply.clone()),
        Err(_) => python(py)
            .and_then(|python| python.understand.bind(py).call1((result,)))
            .and_then(|reply| Ok(reply.cast_into::<PyDict>()?)),
    };
    match reply {
        Ok(reply) if reply.is_empty() => Answer::default(),
        Ok(reply) => decoded(&reply, kind, fired),
        Err(error) => raised(py, error, fired),
    }
}

fn decoded(reply: &Bound<'_, PyDict>, kind: &Kind, fired: Option<&Fired>) -> Answer {
    let mut out = Vec::with_capacity(256);
    if let Err(problem) = json::write(reply.as_any(), &mut out) {
        let failure = Failure::bad_output(format!("cannot write {}", problem.inside("reply")));
        // A value that cannot be written as JSON must not undo a denial in the same reply.
        return match denial(reply) {
            Some(reason) => Answer::failed(Reply::deny(reason), failure),
            None => failure.into(),
        };
    }
    let reply_ = match Reply::decode(&out, kind) {
        Ok(reply) => reply,
        Err(failure) => return failure.into(),
    };
    if let Some(fired) = fired
        && let Some([rewrite]) = reply_.effects().map(|effects| effects.rewrites.as_slice())
        && let Ok(Some(value)) = reply.get_item(pyo3::intern!(reply.py(), "updated_input"))
        && value.is_instance_of::<PyDict>()
        && let Ok(copied) = json::copy(&value)
    {
        fired.state().rewritten.push((rewrite.value.clone(), copied.unbind()));
    }
    reply_.into()
}

/// The reason of a reply that denies.
fn denial(reply: &Bound<'_, PyDict>) -> Option<String> {
    let text =
        |name: &str| reply.get_item(name).ok().flatten().and_then(|value| value.extract::<String>().ok());
    let is = |name: &str, truth: bool| {
        reply.get_item(name).ok().flatten().and_then(|value| value.extract::<bool>().ok()) == Some(truth)
    };
    let says = |name: &str| matches!(text(name).as_deref(), Some("deny" | "block"));
    let denies = is("allowed", false) || is("abort", true) || says("decision") || says("permissionDecision");
    denies.then(|| text("reason").or_else(|| text("permissionDecisionReason")).unwrap_or_default())
}

/// An `Exception` is the failure `error`. Any other `BaseException` ends the walk with a denial, and reaches the caller
/// when it is meant for the caller.
pub fn raised(py: Python<'_>, error: PyErr, fired: Option<&Fired>) -> Answer {
    let Ok(python) = python(py) else { return interpreter_is_ending() };
    // With its traceback, which Python before 3.12 keeps apart.
    let value = error.clone_ref(py).into_value(py).into_bound(py);
    if value.is_instance(python.failure.bind(py)).unwrap_or(false) {
        let text =
            |name: &str| value.getattr(name).and_then(|text| text.extract::<String>()).unwrap_or_default();
        let kind = FailureKind::from_word(&text("kind")).unwrap_or(FailureKind::Error);
        return Failure::new(kind, text("detail")).into();
    }
    let line = python.explain.bind(py).call1((&value, py.None()));
    let line = line.and_then(|told| told.get_item(0)?.extract::<String>());
    let line = line.unwrap_or_else(|_| error.to_string());
    if error.is_instance_of::<PyException>(py) {
        let _ = python.bridge.bind(py).call_method1("log_failure", (&value,));
        return Failure::error(line).into();
    }
    let leaves = error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py);
    if leaves && let Some(fired) = fired {
        fired.state().escaped = Some(error);
    }
    Answer::failed(Reply::deny(format!("the hook raised {line}")), Failure::error(line))
}

// --- On a thread -----------------------------------------------------------------------------------------------------

#[derive(Default)]
struct Slot {
    answer: Option<Answer>,
    waker: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One call of a hook on a thread. The thread itself is Python's (`crosier._bridge`): it has no native frame below the
/// hook, so that an interpreter which ends can drop it.
#[pyclass(frozen, module = "crosier._native")]
pub struct Job {
    #[pyo3(get)]
    function: Py<PyAny>,
    #[pyo3(get)]
    arguments: Py<PyTuple>,
    #[pyo3(get)]
    variables: Py<PyAny>,
    kind: Kind,
    fired: Option<Weak<dyn Held>>,
    slot: Arc<Mutex<Slot>>,
}

impl Job {
    fn end(&self, answer: Answer) {
        let waker = {
            let mut slot = lock(&self.slot);
            slot.answer = Some(answer);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[pymethods]
impl Job {
    fn done(&self, result: &Bound<'_, PyAny>) {
        self.end(with_fired(&self.fired, |fired| understood(result, &self.kind, fired)));
    }

    fn failed(&self, py: Python<'_>, exception: Bound<'_, PyBaseException>) {
        let error = PyErr::from_value(exception.into_any());
        self.end(with_fired(&self.fired, |fired| raised(py, error, fired)));
    }
}

struct OnThread {
    slot: Arc<Mutex<Slot>>,
    context: Option<Py<PyAny>>,
}

impl Future for OnThread {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let mut slot = lock(&self.slot);
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for OnThread {
    /// The caller no longer waits: a hook with a context is told.
    fn drop(&mut self) {
        if let Some(context) = self.context.take() {
            Python::try_attach(|py| {
                let _ = context.bind(py).setattr("stopped", true);
            });
        }
    }
}

// --- As a coroutine --------------------------------------------------------------------------------------------------

/// Wakes a fire, from Python: the callback of a future.
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

/// A hook's coroutine, stepped by the fire itself, as `await` would: the task that awaits the fire is the task of the
/// hook. What is thrown into the fire is thrown into the hook.
struct Coroutine {
    steps: Py<PyAny>,
    wait: Wait,
    is_done: bool,
    /// Whether a cancellation was thrown into it.
    is_cancelled: bool,
    kind: Kind,
    fired: Option<Weak<dyn Held>>,
}

/// The loop that runs on this thread.
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
                            Poll::Ready(raised(py, error, fired))
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
fn ended(py: Python<'_>, error: PyErr, was_cancelled: bool, kind: &Kind, fired: Option<&Fired>) -> Answer {
    if error.is_instance_of::<PyStopIteration>(py) {
        return match error.value(py).getattr(pyo3::intern!(py, "value")) {
            Ok(value) => understood(&value, kind, fired),
            Err(error) => raised(py, error, fired),
        };
    }
    if was_cancelled
        && is_cancellation(py, &error)
        && let Some(fired) = fired
    {
        fired.state().escaped = Some(error);
        return Failure::error("cancelled").into();
    }
    raised(py, error, fired)
}

/// Makes sure that the fire is woken when the coroutine can continue.
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
    /// It is late, or the fire is dropped, so it is cancelled. What it still awaits in its `finally` continues as a
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

/// A parallel hook's coroutine: a task of its own, beside those of its stage.
struct AsTask {
    steps: Py<PyAny>,
    task: Option<Py<PyAny>>,
    kind: Kind,
    fired: Option<Weak<dyn Held>>,
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
            Ok(value) => understood(&value, &self.kind, fired),
            Err(error) => raised(py, error, fired),
        })))
    }
}

impl Future for AsTask {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let polled = Python::try_attach(|py| {
            self.step(py, context).unwrap_or_else(|error| Poll::Ready(raised(py, error, None)))
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
