//! The engine as Python's classes use it.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use crosier::protocol::event::TABLE;
use crosier::{Callback, Engine, Entry, Event, Handler, Hook, Json, Kind, Mode, OnError, Scope, ScopeHandle};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::coroutine::{Arguments, FireCoroutine};
use crate::held::{Fired, KindCache, event_error};
use crate::hook::{Function, running_loop};
use crate::load::{self, Request};
use crate::messages::NativeMessages;
use crate::outcome::Outcome;
use crate::python::{error, python};
use crate::waiting::{Stop, wait};

/// Counts forks: the threads of an engine do not exist in the child.
static GENERATION: AtomicU64 = AtomicU64::new(0);

pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Called in the child of a fork: engines made before it cannot be used.
#[pyfunction]
pub fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Every event: its names, fields and effects. For stubs and documents.
#[pyfunction]
pub fn catalog(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for kind in crosier_dialect::catalog().rows() {
        let row = PyDict::new(py);
        row.set_item("name", kind.name)?;
        row.set_item("alias", kind.alias)?;
        row.set_item("about", kind.about)?;
        row.set_item("core", kind.index() < TABLE.len())?;
        row.set_item("matcher", kind.matcher)?;
        let effects: Vec<&str> = kind.capabilities.iter().map(|capability| capability.word()).collect();
        row.set_item("effects", effects)?;
        let fields = PyList::empty(py);
        for field in kind.fields.iter() {
            fields.append((field.name, field.kind.wanted(), field.required, field.about))?;
        }
        row.set_item("fields", fields)?;
        rows.append(row)?;
    }
    Ok(rows)
}

/// Whether to fire an event or to recheck one.
#[derive(Clone, Copy)]
pub enum Asked {
    Fire,
    Recheck,
}

/// The engine; the base of `crosier.Engine`.
#[pyclass(frozen, subclass, module = "crosier._native")]
pub struct NativeEngine {
    engine: RwLock<Option<Engine>>,
    /// The fork generation in which it was made.
    generation: AtomicU64,
    has_background: bool,
    /// The events that have `async def` hooks: these need a loop.
    async_events: Mutex<HashSet<usize>>,
    /// By the index of the event.
    kinds: Mutex<Vec<Option<Arc<KindCache>>>>,
}

type Ready = (Engine, Event, Arc<Fired>);

impl NativeEngine {
    fn engine(&self, py: Python<'_>) -> PyResult<Engine> {
        if self.generation.load(Ordering::Relaxed) != generation() {
            let message = "forked: this process is a fork, and the engine's threads are in its parent; make an \
                           engine in the child";
            return Err(error(py, "Error", (message,)));
        }
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        engine.clone().ok_or_else(|| error(py, "Error", ("the engine is closed",)))
    }

    fn kind(&self, engine: &Engine, event: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let py = event.py();
        let value = match event.cast::<PyString>() {
            Ok(name) => name.clone().into_any(),
            // An enum of events.
            Err(_) => event.getattr("value").unwrap_or_else(|_| event.clone()),
        };
        let name = value.cast::<PyString>();
        let name = name.map_err(|_| event_error(py, "the event must be named by text", Some("event")))?;
        let name = name.to_str()?;
        match engine.catalog().find(name) {
            Some(kind) => Ok(kind),
            None => Err(event_error(py, &engine.catalog().unknown_event(name), Some("event"))),
        }
    }

    fn cache(&self, py: Python<'_>, kind: &Kind) -> Arc<KindCache> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if kinds.len() <= kind.index() {
            kinds.resize(kind.index() + 1, None);
        }
        Arc::clone(kinds[kind.index()].get_or_insert_with(|| Arc::new(KindCache::new(py, kind))))
    }

    /// The event to fire; or the outcome, when no hook can run.
    pub fn prepare<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        payload: Option<&Bound<'py, PyAny>>,
        fields: Option<&Bound<'py, PyDict>>,
        agent_id: Option<String>,
    ) -> PyResult<Result<Ready, Outcome>> {
        let engine = self.engine(py)?;
        let kind = self.kind(&engine, event)?;
        if !engine.may_have_hooks(&kind)
            && !self.has_background
            && has_required(&kind, payload, fields, &agent_id)
        {
            return Ok(Err(Outcome::new(crosier::Outcome::new(kind), None)));
        }
        let cache = self.cache(py, &kind);
        let (event, fired) = Fired::event(py, kind, cache, payload, fields, agent_id)?;
        Ok(Ok((engine, event, fired)))
    }

    fn ask_sync(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyAny>,
        payload: Option<&Bound<'_, PyAny>>,
        fields: Option<&Bound<'_, PyDict>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        asked: Asked,
    ) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        check_deadline(py, deadline)?;
        if this.has_async(py, event)? {
            let coroutine = Arguments {
                engine: slf.clone().unbind(),
                event: event.clone().unbind(),
                payload: payload.map(|payload| payload.clone().unbind()),
                fields: fields.map(|fields| fields.clone().unbind()),
                agent_id,
                deadline,
                asked,
            };
            let coroutine = Bound::new(py, FireCoroutine::new(coroutine))?;
            let is_inside = running_loop(py)?.is_some();
            let outcome =
                python(py)?.bridge.bind(py).call_method1("run_on_private_loop", (coroutine, is_inside))?;
            return Ok(outcome.unbind());
        }
        let (engine, event, fired) = match this.prepare(py, event, payload, fields, agent_id)? {
            Ok(ready) => ready,
            Err(outcome) => return Ok(Py::new(py, outcome)?.into_any()),
        };
        let stop = Stop::default();
        let limit = deadline.map(|seconds| (Duration::from_secs_f64(seconds), &stop));
        let waited = match asked {
            Asked::Fire => wait(py, pin!(engine.fire_until(event, stop.clone())), limit),
            Asked::Recheck => wait(py, pin!(engine.recheck_until(event, stop.clone())), limit),
        };
        if let Err(interrupted) = waited {
            drain(py, &fired);
            return Err(interrupted);
        }
        let (outcome, is_whole) = waited?;
        if let Some(escaped) = fired.state().escaped.take() {
            return Err(escaped);
        }
        if is_whole {
            return Ok(Py::new(py, Outcome::new(outcome, Some(fired)))?.into_any());
        }
        drain(py, &fired);
        let outcome = Py::new(py, Outcome::new(outcome, None))?;
        let message = format!("the fire was not done after {} s", deadline.unwrap_or_default());
        Err(error(py, "DeadlineExceeded", (message, outcome)))
    }

    fn has_async(&self, py: Python<'_>, event: &Bound<'_, PyAny>) -> PyResult<bool> {
        let asyncs = self.async_events.lock().unwrap_or_else(PoisonError::into_inner);
        if asyncs.is_empty() {
            return Ok(false);
        }
        Ok(asyncs.contains(&self.kind(&self.engine(py)?, event)?.index()))
    }

    fn asked(
        slf: &Bound<'_, Self>,
        event: Py<PyAny>,
        payload: Option<Py<PyAny>>,
        fields: Option<Py<PyDict>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        asked: Asked,
    ) -> PyResult<FireCoroutine> {
        check_deadline(slf.py(), deadline)?;
        let engine = slf.clone().unbind();
        Ok(FireCoroutine::new(Arguments { engine, event, payload, fields, agent_id, deadline, asked }))
    }
}

/// Waits until the processes of an abandoned fire have ended.
fn drain(py: Python<'_>, fired: &Arc<Fired>) {
    py.detach(|| {
        let until = std::time::Instant::now() + Duration::from_secs(2);
        while Arc::strong_count(fired) > 1 && std::time::Instant::now() < until {
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

/// Whether every required field is given; if not, the slow path reports what is missing.
fn has_required(
    kind: &Kind,
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
    let fits = |field: &crosier::Field, given: Option<&Bound<'_, PyDict>>| {
        given.is_some_and(|given| match given.get_item(field.name) {
            Ok(Some(value)) => field.kind == crosier::FieldKind::Any || value.is_instance_of::<PyString>(),
            _ => false,
        })
    };
    kind.fields.iter().filter(|field| field.required).all(|field| {
        fits(field, fields) || fits(field, payload) || (field.name == "agent_id" && agent_id.is_some())
    })
}

/// What `hook` was given.
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

impl NativeEngine {
    fn hook(&self, py: Python<'_>, engine: &Engine, options: HookOptions) -> PyResult<Hook> {
        let wrong = |message: String| error(py, "RegisterError", (message,));
        let resolved = engine.catalog().resolve(&options.event);
        let resolved = resolved.ok_or_else(|| wrong(engine.catalog().unknown_event(&options.event)))?;
        let mut builder =
            Hook::on_event(resolved.kind.clone()).named(options.name).priority(options.priority);
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
                return Err(wrong(format!(
                    "the timeout is {seconds}; it must be a number of seconds above 0"
                )));
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
        let callback = if options.inline {
            Callback::Inline(Arc::new(move |call| function.call_here(call)))
        } else if options.is_async {
            let mut asyncs = self.async_events.lock().unwrap_or_else(PoisonError::into_inner);
            asyncs.insert(resolved.kind.index());
            Callback::Async(Arc::new(move |call| function.call_as_coroutine(call)))
        } else {
            Callback::Async(Arc::new(move |call| function.call_on_thread(call)))
        };
        Ok(builder.with(Handler::Callback(callback)))
    }
}

#[pymethods]
impl NativeEngine {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        py: Python<'_>,
        _arguments: &Bound<'_, pyo3::types::PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        // `Engine.__new__` in Python prepares the request.
        let request: Option<Bound<'_, PyAny>> = _arguments.get_item(0).ok();
        let Some(request) = request else {
            return Err(error(py, "Error", ("use crosier.Engine",)));
        };
        let (engine, has_background) = load::engine(py, request.extract::<Request>()?)?;
        Ok(Self {
            engine: RwLock::new(Some(engine)),
            generation: AtomicU64::new(generation()),
            has_background,
            async_events: Mutex::default(),
            kinds: Mutex::default(),
        })
    }

    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn fire(
        slf: &Bound<'_, Self>,
        event: Py<PyAny>,
        payload: Option<Py<PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<Py<PyDict>>,
    ) -> PyResult<FireCoroutine> {
        Self::asked(slf, event, payload, fields, agent_id, deadline, Asked::Fire)
    }

    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn fire_sync(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyAny>,
        payload: Option<&Bound<'_, PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Self::ask_sync(slf, event, payload, fields, agent_id, deadline, Asked::Fire)
    }

    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn recheck(
        slf: &Bound<'_, Self>,
        event: Py<PyAny>,
        payload: Option<Py<PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<Py<PyDict>>,
    ) -> PyResult<FireCoroutine> {
        Self::asked(slf, event, payload, fields, agent_id, deadline, Asked::Recheck)
    }

    #[pyo3(signature = (event, payload=None, /, *, agent_id=None, deadline=None, **fields))]
    fn recheck_sync(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyAny>,
        payload: Option<&Bound<'_, PyAny>>,
        agent_id: Option<String>,
        deadline: Option<f64>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Self::ask_sync(slf, event, payload, fields, agent_id, deadline, Asked::Recheck)
    }

    /// Registers a hook and returns its name as shown.
    fn _register(&self, py: Python<'_>, options: HookOptions) -> PyResult<String> {
        let engine = self.engine(py)?;
        let agent_id = options.agent_id.clone();
        let name = options.name.clone();
        let hook = self.hook(py, &engine, options)?;
        let wrong = |error_: crosier::RegisterError| error(py, "RegisterError", (error_.to_string(),));
        match agent_id {
            None => Ok(engine.register(hook).map_err(wrong)?.to_string()),
            Some(agent) => {
                engine.register_scoped(&agent, [hook]).map_err(wrong)?;
                Ok(format!("{agent}/{name}"))
            }
        }
    }

    /// The hooks of one agent, from a configuration and for as long as the scope lives.
    fn _scope(
        &self,
        py: Python<'_>,
        agent_id: &str,
        config: Option<String>,
        folder: std::path::PathBuf,
    ) -> PyResult<NativeScope> {
        let engine = self.engine(py)?;
        let mut scope = Scope::new(agent_id);
        if let Some(config) = config {
            let reader =
                crosier_policy::loader(&crosier_policy::Homes::default()).text("<scope>", &config, folder);
            let config = reader.load().map_err(|problems| load::config_error(py, &problems))?;
            for agent in config.agents {
                scope = scope.hooks(agent.hooks);
                for (event, ..) in agent.overrides {
                    scope = scope.overriding(event);
                }
            }
        }
        let handle = engine.enter(scope).map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))?;
        Ok(NativeScope { handles: Mutex::new(Some(vec![handle])) })
    }

    /// Registers a hook of a scope.
    fn _register_in(&self, py: Python<'_>, scope: &NativeScope, options: HookOptions) -> PyResult<()> {
        let engine = self.engine(py)?;
        let agent = options.agent_id.clone().unwrap_or_default();
        let hook = self.hook(py, &engine, options)?;
        let handle = engine.enter(Scope::new(agent).hook(hook));
        let handle = handle.map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))?;
        let mut handles = scope.handles.lock().unwrap_or_else(PoisonError::into_inner);
        match handles.as_mut() {
            Some(handles) => {
                handles.push(handle);
                Ok(())
            }
            None => Err(error(py, "RegisterError", ("the scope is closed",))),
        }
    }

    fn _messages(&self, py: Python<'_>, maxsize: usize) -> PyResult<NativeMessages> {
        let engine = self.engine(py)?;
        Ok(NativeMessages::new(py.detach(|| engine.subscribe(maxsize))))
    }

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
        if tool.is_some() && kind.matcher.is_none() {
            let message = format!("{} has no field that a matcher runs on; leave `tool` out", kind.name);
            return Err(event_error(py, &message, Some("tool")));
        }
        let field = |field: &crosier::Field| {
            let value = match (tool, field.kind) {
                (Some(value), _) if kind.matcher == Some(field.name) => Json::from(value),
                (_, crosier::FieldKind::Text) => Json::from(""),
                (_, crosier::FieldKind::TextOrNull) => Json::null(),
                (_, crosier::FieldKind::Bool) => Json::from(serde_json::Value::Bool(false)),
                (_, _) => Json::from(serde_json::Value::Object(serde_json::Map::new())),
            };
            (field.name.to_owned(), value)
        };
        let wanted = kind.fields.iter().filter(|field| field.required || kind.matcher == Some(field.name));
        let made = Event::from_fields(kind.clone(), wanted.map(field).collect());
        let made = made.map_err(|wrong| event_error(py, &wrong.to_string(), None))?;
        let made = match agent_id {
            Some(agent) => made.in_agent(agent),
            None => made,
        };
        let explained = engine.explain(&made);
        let told = PyDict::new(py);
        told.set_item("event", kind.name)?;
        told.set_item("tool", tool)?;
        told.set_item("agent_id", agent_id)?;
        let plan = PyList::empty(py);
        let hooks = explained.plan.hooks().iter().map(|entry| (entry, false));
        for (order, (entry, observes)) in
            hooks.chain(explained.plan.observers().iter().map(|entry| (entry, true))).enumerate()
        {
            let item = described(py, entry)?;
            item.set_item("order", order + 1)?;
            item.set_item("observe", observes)?;
            plan.append(item)?;
        }
        told.set_item("plan", plan)?;
        let out = PyList::empty(py);
        for (entry, inclusion) in &explained.out {
            let item = described(py, entry)?;
            item.set_item("why", inclusion.word())?;
            out.append(item)?;
        }
        told.set_item("out", out)?;
        Ok(told)
    }

    fn enable(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let switched = self.engine(py)?.enable(name);
        switched.map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))
    }

    fn disable(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let switched = self.engine(py)?.disable(name);
        switched.map_err(|wrong| error(py, "RegisterError", (wrong.to_string(),)))
    }

    fn is_enabled(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.engine(py)?.is_enabled(name))
    }

    /// Removes a hook.
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.engine(py)?.unregister(name))
    }

    /// Stops running hooks. The engine cannot be used any more.
    fn _close(&self, py: Python<'_>) {
        let engine = self.engine.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(engine) = engine {
            if self.generation.load(Ordering::Relaxed) != generation() {
                std::mem::forget(engine);
                return;
            }
            py.detach(|| {
                engine.shut_down();
                // The interpreter may end next: nothing that runs may be left behind.
                let until = std::time::Instant::now() + Duration::from_secs(2);
                while engine.running_processes() > 0 && std::time::Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(1));
                }
                drop(engine);
            });
        }
    }

    #[getter]
    fn closed(&self) -> bool {
        self.engine.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

fn described<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("hook", &*entry.name)?;
    item.set_item("type", entry.type_word())?;
    item.set_item("matcher", entry.matcher.text())?;
    item.set_item("priority", entry.priority)?;
    item.set_item("timeout", entry.timeout.as_secs_f64())?;
    item.set_item("on_error", entry.on_error.word())?;
    item.set_item("guard", entry.guard)?;
    item.set_item("enabled", entry.enabled)?;
    item.set_item("scope", entry.scope.as_deref())?;
    item.set_item("defined_at", entry.origin.as_ref().map(ToString::to_string))?;
    Ok(item)
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        // After a fork, its workers are children of the parent, and must not be killed.
        if self.generation.load(Ordering::Relaxed) != generation() {
            std::mem::forget(self.engine.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// An agent's hooks, for the lifetime of this object.
#[pyclass(frozen, module = "crosier._native")]
pub struct NativeScope {
    handles: Mutex<Option<Vec<ScopeHandle>>>,
}

#[pymethods]
impl NativeScope {
    fn close(&self) {
        drop(self.handles.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
