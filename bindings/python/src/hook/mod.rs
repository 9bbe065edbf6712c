//! Hooks that are Python code in this process: called in place, on a thread of the package's pool, or as a coroutine on
//! the loop that awaits the fire. Whatever one returns or raises becomes an answer.

mod answer;
mod task;
mod thread;

use std::sync::{Arc, Weak};

use crosier::{Answer, Call, Event, EventKind, HostPayload};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use self::answer::{answer_from_exception, answer_from_result, delivery_failure, interpreter_is_ending};
pub use self::task::running_loop;
pub use self::thread::Job;
use crate::arguments::event_arguments;
use crate::py_fire::PyFire;
use crate::python::python;

/// A hook's function, and what is known about it.
pub struct Function {
    pub function: Py<PyAny>,
    pub takes_context: bool,
    /// The timeout in seconds, for the hook's context.
    pub timeout: f64,
    pub is_parallel: bool,
    pub kind: EventKind,
}

impl Function {
    /// Its arguments.
    fn arguments<'py>(&self, py: Python<'py>, call: Call<'_>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = event_arguments(py, call)?;
        if !self.takes_context {
            return Ok(arguments);
        }
        let event = arguments.get_item(0)?;
        let phase = u32::from(call.second) + 1 + 256 * u32::from(call.pass.number() - 1);
        let context = python(py)?.hook_context.bind(py).call1((&**call.hook, phase, self.timeout))?;
        PyTuple::new(py, [event, context])
    }

    /// Calls it on this thread.
    pub fn call_here(&self, call: Call<'_>) -> Answer {
        let called = Python::try_attach(|py| {
            let fired = PyFire::of(call.event);
            let arguments = match self.arguments(py, call) {
                Ok(arguments) => arguments,
                Err(error) => return delivery_failure(py, &error),
            };
            match self.function.bind(py).call1(arguments) {
                Ok(result) => answer_from_result(&result, &self.kind, fired),
                Err(error) => answer_from_exception(py, error, fired),
            }
        });
        called.unwrap_or_else(interpreter_is_ending)
    }
}

fn weak(event: &Event) -> Option<Weak<dyn HostPayload>> {
    event.host_payload().map(Arc::downgrade)
}

fn with_fired<T>(fired: &Option<Weak<dyn HostPayload>>, act: impl FnOnce(Option<&PyFire>) -> T) -> T {
    let held = fired.as_ref().and_then(Weak::upgrade);
    act(held.as_ref().and_then(|held| held.as_any().downcast_ref()))
}
