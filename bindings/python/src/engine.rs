//! The engine that Python's classes use.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use crosier::{Engine, Event};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::coroutine::{Arguments, FireCoroutine};
use crate::explain;
use crate::fire::{FireMode, SyncArguments, fire_async, fire_blocking, has_required};
use crate::fork::{forked_error, generation};
use crate::hook::Function;
use crate::kinds::{Kinds, PyKind};
use crate::load::{self, Request};
use crate::messages::NativeMessages;
use crate::outcome::Outcome;
use crate::py_fire::PyFire;
use crate::python::error;
use crate::register::{HookOptions, NativeScope, register};

/// The engine; the base of `crosier.Engine`.
#[pyclass(frozen, subclass, module = "crosier._native")]
pub struct NativeEngine {
    /// `None` before `_open` and after `_close`.
    engine: RwLock<Option<Engine>>,
    /// The fork generation in which it was made.
    generation: AtomicU64,
    has_background: AtomicBool,
    kinds: Kinds,
    /// Functions of its hooks, for the garbage collector. The hooks own them.
    functions: Mutex<Vec<Weak<Function>>>,
}

pub type Ready = (Engine, Event, Arc<PyFire>);

impl NativeEngine {
    pub fn engine(&self, py: Python<'_>) -> PyResult<Engine> {
        if self.generation.load(Ordering::Relaxed) != generation() {
            return Err(forked_error(py));
        }
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        engine.clone().ok_or_else(|| error(py, "Error", ("the engine is closed",)))
    }

    pub fn kind(&self, engine: &Engine, event: &Bound<'_, PyAny>) -> PyResult<Arc<PyKind>> {
        self.kinds.named(engine, event)
    }

    /// The event to fire, or the outcome if no hook can run.
    pub fn prepare<'py>(
        &self,
        py: Python<'py>,
        engine: Engine,
        kind: Arc<PyKind>,
        payload: Option<&Bound<'py, PyAny>>,
        fields: Option<&Bound<'py, PyDict>>,
        agent_id: Option<String>,
    ) -> PyResult<Result<Ready, Outcome>> {
        if !engine.may_have_hooks(&kind.kind)
            && !self.has_background.load(Ordering::Relaxed)
            && has_required(&kind, payload, fields, &agent_id)
        {
            return Ok(Err(Outcome::new(crosier::Outcome::new(kind.kind.clone()), Vec::new())));
        }
        let (event, fired) = PyFire::event(py, kind, payload, fields, agent_id)?;
        Ok(Ok((engine, event, fired)))
    }

    fn remember(&self, function: Weak<Function>) {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        // Drop functions of removed hooks, but only when the list would have to grow.
        if functions.len() == functions.capacity() {
            functions.retain(|function| function.strong_count() > 0);
        }
        functions.push(function);
    }

    /// Drops the engine, without waiting for what it runs.
    fn drop_engine(&self) {
        let engine = self.engine.write().unwrap_or_else(PoisonError::into_inner).take();
        // After a fork, its workers are children of the parent, and must not be killed.
        if self.generation.load(Ordering::Relaxed) != generation() {
            std::mem::forget(engine);
        }
    }
}

#[pymethods]
impl NativeEngine {
    /// An engine, usable after `_open`: a subclass may have an `__init__` with its own arguments.
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            engine: RwLock::new(None),
            generation: AtomicU64::new(generation()),
            has_background: AtomicBool::new(false),
            kinds: Kinds::default(),
            functions: Mutex::default(),
        }
    }

    fn _open(&self, py: Python<'_>, request: Request) -> PyResult<()> {
        let (engine, has_background) = load::engine(py, request)?;
        self.has_background.store(has_background, Ordering::Relaxed);
        let before = self.engine.write().unwrap_or_else(PoisonError::into_inner).replace(engine);
        drop(before);
        Ok(())
    }

    /// Runs the hooks of an event; `fields` are payload fields, `deadline` is in seconds. Awaited.
    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn fire(
        slf: &Bound<'_, Self>,
        event: Py<PyAny>,
        payload: Option<Py<PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<Py<PyDict>>,
    ) -> PyResult<FireCoroutine> {
        let (engine, mode) = (slf.clone().unbind(), FireMode::Fire);
        fire_async(slf.py(), Arguments { engine, event, payload, fields, agent_id, deadline, mode })
    }

    /// Like `fire`, but waits on this thread.
    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn fire_sync(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyAny>,
        payload: Option<&Bound<'_, PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let mode = FireMode::Fire;
        fire_blocking(slf, SyncArguments { mode, event, payload, fields, agent_id, deadline })
    }

    /// Runs only the guards, for an event that was changed after its fire. Awaited.
    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn recheck(
        slf: &Bound<'_, Self>,
        event: Py<PyAny>,
        payload: Option<Py<PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<Py<PyDict>>,
    ) -> PyResult<FireCoroutine> {
        let (engine, mode) = (slf.clone().unbind(), FireMode::Recheck);
        fire_async(slf.py(), Arguments { engine, event, payload, fields, agent_id, deadline, mode })
    }

    /// Like `recheck`, but waits on this thread.
    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn recheck_sync(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyAny>,
        payload: Option<&Bound<'_, PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let mode = FireMode::Recheck;
        fire_blocking(slf, SyncArguments { mode, event, payload, fields, agent_id, deadline })
    }

    /// Registers a hook.
    fn _register(&self, py: Python<'_>, options: HookOptions) -> PyResult<()> {
        self.remember(register(py, &self.engine(py)?, &self.kinds, options)?);
        Ok(())
    }

    /// Registers a hook of a scope.
    fn _register_in(&self, py: Python<'_>, scope: &NativeScope, options: HookOptions) -> PyResult<()> {
        self.remember(scope.register(py, &self.engine(py)?, &self.kinds, options)?);
        Ok(())
    }

    /// The hooks of one agent, from a configuration; they exist as long as the scope.
    fn _scope(
        &self,
        py: Python<'_>,
        agent_id: &str,
        config: Option<String>,
        folder: std::path::PathBuf,
    ) -> PyResult<NativeScope> {
        NativeScope::enter(py, &self.engine(py)?, agent_id, config, folder)
    }

    fn _messages(&self, py: Python<'_>, maxsize: usize) -> PyResult<NativeMessages> {
        let engine = self.engine(py)?;
        Ok(NativeMessages::new(py.detach(|| engine.subscribe(maxsize))))
    }

    /// What would run for an event (`plan`), and what would not, and why (`out`).
    #[pyo3(signature = (event, *, tool=None, agent_id=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        tool: Option<&str>,
        agent_id: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = self.engine(py)?;
        let kind = self.kind(&engine, event)?;
        explain::explain(py, &engine, &kind.kind, tool, agent_id)
    }

    /// Switches a hook on.
    fn enable(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let switched = self.engine(py)?.enable(name);
        switched.map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))
    }

    /// Switches a hook off without removing it.
    fn disable(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let switched = self.engine(py)?.disable(name);
        switched.map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))
    }

    /// Whether a hook of this name exists and is on.
    fn is_enabled(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.engine(py)?.is_enabled(name))
    }

    /// Removes a hook. Returns false when no hook has this name.
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.engine(py)?.unregister(name))
    }

    /// Stops running hooks. The engine cannot be used any more.
    fn _close(&self, py: Python<'_>) {
        if self.generation.load(Ordering::Relaxed) != generation() {
            return self.drop_engine();
        }
        let engine = self.engine.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(engine) = engine else { return };
        py.detach(|| {
            engine.shut_down();
            // The interpreter may end next: no process may be left behind.
            let until = Instant::now() + Duration::from_secs(2);
            while engine.running_processes() > 0 && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }

    /// Whether the engine was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.engine.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Hooks often refer to their engine. A running fire holds a reference to the engine, so that its functions do not
    /// look like garbage.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // If the list is locked, everything counts as used.
        let Ok(functions) = self.functions.try_lock() else { return Ok(()) };
        functions.iter().filter_map(Weak::upgrade).try_for_each(|function| visit.call(&function.function))
    }

    fn __clear__(&self) {
        self.drop_engine();
    }
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        self.drop_engine();
    }
}
