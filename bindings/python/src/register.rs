//! Registers Python functions as hooks, of an engine or of one agent.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crosier::{Callback, Engine, Handler, Hook, Mode, OnError, Scope, ScopeHandle};
use crosier_policy::Homes;
use pyo3::prelude::*;

use crate::fork::generation;
use crate::hook::Function;
use crate::kinds::Kinds;
use crate::load;
use crate::python::error;

/// The arguments of `hook`.
#[derive(FromPyObject)]
pub struct HookOptions {
    #[pyo3(item)]
    event: String,
    #[pyo3(item)]
    function: Py<PyAny>,
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    matcher: Option<String>,
    #[pyo3(item)]
    priority: i32,
    #[pyo3(item)]
    timeout: Option<f64>,
    #[pyo3(item)]
    on_error: Option<String>,
    #[pyo3(item)]
    parallel: bool,
    #[pyo3(item)]
    observe: bool,
    #[pyo3(item)]
    guard: bool,
    #[pyo3(item)]
    inline: bool,
    #[pyo3(item)]
    is_async: bool,
    #[pyo3(item)]
    takes_context: bool,
    #[pyo3(item)]
    agent_id: Option<String>,
}

/// A hook of the engine, and its function. Only the hook keeps the function alive.
fn hook(
    py: Python<'_>,
    engine: &Engine,
    kinds: &Kinds,
    options: HookOptions,
) -> PyResult<(Hook, Weak<Function>)> {
    let wrong = |message: String| error(py, "RegisterError", (message,));
    let resolved = engine.catalog().resolve(&options.event);
    let resolved = resolved.ok_or_else(|| wrong(engine.catalog().unknown_event(&options.event)))?;
    let mut builder = Hook::on_event(resolved.kind.clone()).named(options.name).priority(options.priority);
    let matcher = match (options.matcher, resolved.matcher) {
        (Some(given), Some(named)) if given != named => {
            let message =
                format!("the event names the matcher `{named}`, and `matcher` is `{given}`; use one");
            return Err(wrong(message));
        }
        (given, named) => given.or_else(|| named.map(str::to_owned)),
    };
    if let Some(matcher) = matcher {
        builder = builder.matching(matcher);
    }
    if let Some(seconds) = options.timeout {
        if !(seconds > 0.0 && seconds <= 1e9) {
            return Err(wrong(format!("the timeout is {seconds}; it must be a number of seconds above 0")));
        }
        builder = builder.timeout(Duration::from_secs_f64(seconds));
    }
    if let Some(word) = &options.on_error {
        builder = builder.on_error(match word.as_str() {
            "log" => OnError::Log,
            "skip" => OnError::Skip,
            "abort" => OnError::Abort,
            other => {
                return Err(wrong(format!("on_error is {other:?}; use \"log\", \"skip\" or \"abort\"")));
            }
        });
    }
    builder = builder.mode(match (options.parallel, options.observe) {
        (true, true) => {
            return Err(wrong("a hook is either `parallel` or `observe`, not both".to_owned()));
        }
        (true, false) => Mode::Parallel,
        (false, true) => Mode::Observe,
        (false, false) => Mode::Sequential,
    });
    if options.guard {
        builder = builder.guard(true);
    }
    let function = Arc::new(Function {
        function: options.function,
        takes_context: options.takes_context,
        timeout: options.timeout.unwrap_or(30.0),
        is_parallel: options.parallel,
        kind: resolved.kind.clone(),
    });
    let weak = Arc::downgrade(&function);
    let callback = if options.inline {
        Callback::Inline(Arc::new(move |call| function.call_here(call)))
    } else if options.is_async {
        kinds.of(py, &resolved.kind).need_a_loop();
        Callback::Async(Arc::new(move |call| function.call_as_coroutine(call)))
    } else {
        Callback::Async(Arc::new(move |call| function.call_on_thread(call)))
    };
    Ok((builder.with(Handler::Callback(callback)), weak))
}

fn refused(py: Python<'_>, why: crosier::RegisterError) -> PyErr {
    error(py, "RegisterError", (why.to_string(),))
}

/// Registers a hook: of the engine, or of the agent that the options name.
pub fn register(
    py: Python<'_>,
    engine: &Engine,
    kinds: &Kinds,
    options: HookOptions,
) -> PyResult<Weak<Function>> {
    let agent_id = options.agent_id.clone();
    let (hook, function) = hook(py, engine, kinds, options)?;
    match agent_id {
        None => drop(engine.register(hook).map_err(|why| refused(py, why))?),
        Some(agent) => engine.register_scoped(&agent, [hook]).map_err(|why| refused(py, why))?,
    }
    Ok(function)
}

/// An agent's hooks, for the lifetime of this object.
#[pyclass(frozen, module = "crosier._native")]
pub struct NativeScope {
    handles: Mutex<Option<Vec<ScopeHandle>>>,
    /// The fork generation in which it was made.
    generation: u64,
}

impl NativeScope {
    /// A scope with the hooks of a configuration.
    pub fn enter(
        py: Python<'_>,
        engine: &Engine,
        agent_id: &str,
        config: Option<String>,
        folder: PathBuf,
    ) -> PyResult<Self> {
        let mut scope = Scope::new(agent_id);
        if let Some(config) = config {
            let reader =
                crosier_policy::loader(&Homes::default()).may_be_empty().text("<scope>", &config, folder);
            let config = reader.load().map_err(|problems| load::config_error(py, &problems))?;
            for agent in config.agents {
                scope = scope.hooks(agent.hooks);
                for (event, ..) in agent.overrides {
                    scope = scope.overriding(event);
                }
            }
        }
        let handle = engine.enter(scope).map_err(|why| refused(py, why))?;
        Ok(Self { handles: Mutex::new(Some(vec![handle])), generation: generation() })
    }

    /// Registers a hook until the scope is closed.
    pub fn register(
        &self,
        py: Python<'_>,
        engine: &Engine,
        kinds: &Kinds,
        options: HookOptions,
    ) -> PyResult<Weak<Function>> {
        let closed = || error(py, "RegisterError", ("the scope is closed",));
        if self.handles.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Err(closed());
        }
        let agent = options.agent_id.clone().unwrap_or_default();
        let (hook, function) = hook(py, engine, kinds, options)?;
        let handle = engine.enter(Scope::new(agent).hook(hook)).map_err(|why| refused(py, why))?;
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.as_mut().ok_or_else(closed)?.push(handle);
        Ok(function)
    }
}

#[pymethods]
impl NativeScope {
    fn close(&self) {
        let handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner).take();
        if self.generation != generation() {
            // A thread of the parent may have held the engine's locks at the fork.
            return std::mem::forget(handles);
        }
        // Not under the lock, because dropping a function can run code that comes back here.
        drop(handles);
    }
}

impl Drop for NativeScope {
    fn drop(&mut self) {
        self.close();
    }
}
