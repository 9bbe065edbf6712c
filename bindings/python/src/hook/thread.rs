//! Hooks on threads. The threads belong to Python (`crosier._bridge`): no native frame is below a hook, so that the
//! interpreter can drop the thread when it ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use crosier::{Answer, BoxFuture, Call, EventKind, HostPayload};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::answer::{answer_from_exception, answer_from_result, delivery_failure, interpreter_is_ending};
use super::{Function, weak, with_fired};
use crate::lock::lock;
use crate::python::python;

impl Function {
    /// Runs it on a thread.
    pub fn call_on_thread(&self, call: Call<'_>) -> BoxFuture {
        self.submit(call, |py, job| {
            python(py)?.submit.bind(py).call1((job,))?;
            Ok(None)
        })
    }

    /// Runs its coroutine on a loop of another thread (`OtherLoop` of `crosier._bridge`).
    pub fn call_on_other_loop(&self, call: Call<'_>, other: &Py<PyAny>) -> BoxFuture {
        self.submit(call, |py, job| Ok(Some(other.bind(py).call_method1("start", (job,))?.unbind())))
    }

    /// Has the call run elsewhere. `start` may return a function that cancels it.
    fn submit(
        &self,
        call: Call<'_>,
        start: impl Fn(Python<'_>, Job) -> PyResult<Option<Py<PyAny>>>,
    ) -> BoxFuture {
        let slot = Arc::new(Mutex::new(Slot::default()));
        let started = Python::try_attach(|py| {
            let submit = || -> PyResult<OnThread> {
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
                let cancel = start(py, job)?;
                Ok(OnThread { slot: Arc::clone(&slot), context, cancel })
            };
            submit().map_err(|error| delivery_failure(py, &error))
        });
        match started {
            Some(Ok(running)) => Box::pin(running),
            Some(Err(answer)) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::ready(interpreter_is_ending())),
        }
    }
}

#[derive(Default)]
struct Slot {
    answer: Option<Answer>,
    waker: Option<Waker>,
}

/// One call of a hook on a thread. The thread itself belongs to Python (`crosier._bridge`): no native frame is below
/// the hook, so that the interpreter can drop the thread when it ends.
#[pyclass(frozen, module = "crosier._native")]
pub struct Job {
    #[pyo3(get)]
    function: Py<PyAny>,
    #[pyo3(get)]
    arguments: Py<PyTuple>,
    #[pyo3(get)]
    variables: Py<PyAny>,
    kind: EventKind,
    fired: Option<Weak<dyn HostPayload>>,
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
        self.end(with_fired(&self.fired, |fired| answer_from_result(result, &self.kind, fired)));
    }

    fn failed(&self, py: Python<'_>, exception: Bound<'_, PyBaseException>) {
        let error = PyErr::from_value(exception.into_any());
        self.end(with_fired(&self.fired, |fired| answer_from_exception(py, error, fired)));
    }
}

struct OnThread {
    slot: Arc<Mutex<Slot>>,
    context: Option<Py<PyAny>>,
    /// Cancels it, if it can be; until it has answered.
    cancel: Option<Py<PyAny>>,
}

impl Future for OnThread {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let answer = {
            let mut slot = lock(&self.slot);
            let answer = slot.answer.take();
            if answer.is_none() {
                slot.waker = Some(context.waker().clone());
            }
            answer
        };
        let Some(answer) = answer else { return Poll::Pending };
        self.cancel = None;
        Poll::Ready(answer)
    }
}

impl Drop for OnThread {
    /// The caller does not wait any more: a hook with a context is told, and a coroutine is cancelled.
    fn drop(&mut self) {
        let (context, cancel) = (self.context.take(), self.cancel.take());
        if context.is_none() && cancel.is_none() {
            return;
        }
        Python::try_attach(|py| {
            if let Some(context) = context {
                let _ = context.bind(py).setattr("stopped", true);
            }
            if let Some(cancel) = cancel {
                let _ = cancel.bind(py).call0();
            }
        });
    }
}
