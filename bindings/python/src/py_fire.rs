//! An event as Python fired it: a private copy of the dict, converted to JSON only when a hook needs it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crosier::protocol::wire::BASE_FIELDS;
use crosier::{Base, Call, Event, EventError, EventKind, FieldKind, HostPayload, Json};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

use crate::arguments::PassedEvent;
use crate::json;
use crate::kinds::PyKind;
use crate::python::{error, python};

/// One fire, in Python's form. The event and all its rewritten versions refer to it.
pub struct PyFire {
    kind: Arc<PyKind>,
    base: Base,
    matcher_value: Option<String>,
    /// Payload fields, without base fields.
    payload: Payload,
    /// All fields, as hooks get them; made when the first hook needs it.
    whole: PyOnceLock<Payload>,
    state: Mutex<State>,
}

/// Fields, and the names of those that a hook could change in place.
struct Payload {
    fields: Py<PyDict>,
    changeable: Vec<Py<PyAny>>,
}

fn is_changeable(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>() || value.is_exact_instance_of::<PyList>()
}

/// The state of a running fire.
#[derive(Default)]
pub struct State {
    /// An exception of a hook that must reach the caller: `KeyboardInterrupt`, `SystemExit`, a cancellation.
    pub escaped: Option<PyErr>,
    /// Whether a hook's coroutine is suspended: then exceptions thrown into the fire are passed to it.
    pub delegates: bool,
    /// The exception that was thrown into the fire, for the suspended coroutine.
    pub thrown: Option<PyErr>,
    /// Tasks of parallel hooks.
    pub tasks: Vec<Py<PyAny>>,
    /// The loop for coroutines, if the fire waits on the thread of a running loop.
    pub other_loop: Option<Arc<Py<PyAny>>>,
    /// What the last hook got.
    pub passed_event: Option<PassedEvent>,
    /// Rewritten values, as Python objects and as JSON.
    pub rewritten: Vec<Rewritten>,
}

/// A rewritten value: its JSON, and its Python object.
pub type Rewritten = (Json, Py<PyAny>);

impl fmt::Debug for PyFire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fired").field("event", &self.kind.kind.name).finish_non_exhaustive()
    }
}

impl HostPayload for PyFire {
    fn base(&self) -> &Base {
        &self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        self.matcher_value.as_deref()
    }
    fn fields(&self) -> Result<Vec<(String, Json)>, String> {
        let written = Python::try_attach(|py| {
            let mut fields = Vec::new();
            for (name, value) in self.payload.fields.bind(py).iter() {
                let name: String = name.extract().map_err(|error: PyErr| error.to_string())?;
                let mut out = Vec::new();
                json::write(&value, &mut out).map_err(|problem| problem.inside(&name).to_string())?;
                let text = String::from_utf8(out).map_err(|error| error.to_string())?;
                fields.push((name, Json::parse(&text).map_err(|error| error.to_string())?));
            }
            Ok(fields)
        });
        written.unwrap_or_else(|| Err("the interpreter is ending".to_owned()))
    }
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl PyFire {
    /// Makes an event from the arguments of a fire.
    pub fn event<'py>(
        py: Python<'py>,
        kind: Arc<PyKind>,
        given: Option<&Bound<'py, PyAny>>,
        fields: Option<&Bound<'py, PyDict>>,
        agent_id: Option<String>,
    ) -> PyResult<(Event, Arc<Self>)> {
        let payload = PyDict::new(py);
        let (mut base, mut changeable) = (Base::default(), Vec::new());
        let mut take =
            |from: &Bound<'py, PyDict>| take_fields(&kind, from, &payload, &mut changeable, &mut base);
        if let Some(given) = given.filter(|given| !given.is_none()) {
            match given.cast::<PyDict>() {
                Ok(dict) => take(dict)?,
                Err(_) => {
                    let dict = py.get_type::<PyDict>().call1((given,)).map_err(|_| {
                        let kind =
                            given.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
                        let message = format!("the payload must be a mapping of fields, not a {kind}");
                        event_error(py, &message, None)
                    })?;
                    take(dict.cast::<PyDict>()?)?;
                }
            }
        }
        if let Some(fields) = fields {
            take(fields)?;
        }
        if agent_id.is_some() {
            base.agent_id = agent_id;
        }
        check(py, &kind, &payload, &base)?;
        let text_of = |name: &Py<PyString>| -> PyResult<Option<String>> {
            let value = payload.get_item(name.bind(py))?;
            Ok(value.and_then(|value| {
                value.cast::<PyString>().ok().map(|text| text.to_string_lossy().into_owned())
            }))
        };
        let matcher_value = match &kind.matcher {
            Some(name) => text_of(name)?,
            None => None,
        };
        let mut other_name = None;
        if kind.kind.matcher == Some("tool_name")
            && let Some(host) = payload.get_item(pyo3::intern!(py, "host"))?
            && let Ok(host) = host.cast::<PyDict>()
            && let Some(name) = host.get_item("tool_name")?
        {
            other_name = name.extract::<String>().ok().filter(|name| Some(name) != matcher_value.as_ref());
        }
        let fired = Arc::new(Self {
            kind: Arc::clone(&kind),
            base,
            matcher_value,
            payload: Payload { fields: payload.unbind(), changeable },
            whole: PyOnceLock::new(),
            state: Mutex::default(),
        });
        let event = Event::from_host_payload(kind.kind.clone(), Arc::clone(&fired) as Arc<dyn HostPayload>);
        Ok((if let Some(name) = other_name { event.also_matching(vec![name]) } else { event }, fired))
    }

    /// The fire to which an event belongs.
    pub fn of(event: &Event) -> Option<&Self> {
        event.host_payload()?.as_any().downcast_ref()
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that hooks rewrote, for the outcome.
    pub fn take_rewritten(&self) -> Vec<Rewritten> {
        std::mem::take(&mut self.state().rewritten)
    }

    /// Every field of the event as it was fired.
    fn whole(&self, py: Python<'_>, event: &Event) -> PyResult<&Payload> {
        self.whole.get_or_try_init(py, || {
            let whole = PyDict::new(py);
            let more = self.fill(py, event, &whole)?;
            let changeable =
                self.payload.changeable.iter().map(|name| name.clone_ref(py)).chain(more).collect();
            Ok(Payload { fields: whole.unbind(), changeable })
        })
    }

    /// Sets every field of the event. Returns the names of fields that a hook could change and that the host did not
    /// set.
    fn fill(&self, py: Python<'_>, event: &Event, whole: &Bound<'_, PyDict>) -> PyResult<Vec<Py<PyAny>>> {
        let payload = self.payload.fields.bind(py);
        self.kind.base.fill(event, whole)?;
        whole.update(payload.as_mapping())?;
        if let Some((derived, source)) = self.kind.kind.derived
            && let Some(value) = payload.get_item(source)?
        {
            let text = match value.cast::<PyString>() {
                Ok(text) => text.clone().into_any(),
                Err(_) => PyString::new(py, &json::text(&value)?).into_any(),
            };
            // Placed after its source, as on the wire; a value from the host is ignored.
            whole.set_item(derived, text)?;
        }
        let mut more = Vec::new();
        for (field, name) in self.kind.kind.fields.iter().zip(&self.kind.names) {
            if let Some(default) = field.default
                && !whole.contains(name)?
            {
                let default = json::read(py, default)?;
                if is_changeable(&default) {
                    more.push(name.clone_ref(py).into_any());
                }
                whole.set_item(name, default)?;
            }
        }
        Ok(more)
    }
}

/// The event for one hook: its own copy.
pub fn hook_event<'py>(py: Python<'py>, call: Call<'_>) -> PyResult<Bound<'py, PyAny>> {
    let (python, event) = (python(py)?, call.event);
    let made = python.new_dict.bind(py).call1((python.hook_event.bind(py),))?;
    let target = made.cast::<PyDict>()?;
    match PyFire::of(event) {
        Some(fired) if call.is_only_hook && event.is_only_host_payload() => {
            drop(fired.fill(py, event, target)?)
        }
        Some(fired) if event.is_only_host_payload() => {
            let Payload { fields, changeable } = fired.whole(py, event)?;
            let fields = fields.bind(py);
            target.update(fields.as_mapping())?;
            for name in changeable {
                if let Some(value) = fields.get_item(name)? {
                    let copied = json::copy(&value);
                    target.set_item(
                        name,
                        copied.map_err(|problem| event_error(py, &problem.to_string(), None))?,
                    )?;
                }
            }
        }
        _ => {
            let wire = event.wire().map_err(|failure| event_error(py, &failure.detail, None))?;
            target.update(json::read(py, wire)?.cast::<PyDict>()?.as_mapping())?;
        }
    }
    Ok(made)
}

/// Copies fields; the base fields separately.
fn take_fields(
    kind: &PyKind,
    from: &Bound<'_, PyDict>,
    payload: &Bound<'_, PyDict>,
    changeable: &mut Vec<Py<PyAny>>,
    base: &mut Base,
) -> PyResult<()> {
    let py = from.py();
    for (key, value) in from.iter() {
        let text = || -> PyResult<&str> {
            let Ok(name) = key.cast::<PyString>() else {
                let key = key.repr()?.to_string();
                return Err(event_error(
                    py,
                    &format!("the event has the key {key}; keys must be text"),
                    None,
                ));
            };
            name.to_str().map_err(|_| event_error(py, "a field has a name that is not text", None))
        };
        // Names in code are interned, so most are recognised without reading their text.
        let is_of_the_row = kind.names.iter().any(|name| name.as_ptr() == key.as_ptr());
        if !is_of_the_row {
            let name = text()?;
            if BASE_FIELDS.contains(&name) {
                take_base(py, &kind.kind, name, &value, base)?;
                continue;
            }
        }
        let copied = match json::copy(&value) {
            Ok(copied) => copied,
            Err(problem) => {
                let problem = problem.inside(text()?);
                return Err(event_error(py, &format!("the field {problem}"), Some(&problem.path)));
            }
        };
        if is_changeable(&copied) && !changeable.iter().any(|name| name.as_ptr() == key.as_ptr()) {
            changeable.push(key.clone().unbind());
        }
        payload.set_item(&key, copied)?;
    }
    Ok(())
}

fn take_base(
    py: Python<'_>,
    kind: &EventKind,
    name: &str,
    value: &Bound<'_, PyAny>,
    base: &mut Base,
) -> PyResult<()> {
    let text = match value.cast::<PyString>() {
        Ok(text) => Some(text.to_string_lossy().into_owned()),
        Err(_) if value.is_none() => None,
        Err(_) if name == "timestamp" && value.hasattr("isoformat")? => {
            Some(value.call_method0("isoformat")?.extract::<String>()?)
        }
        Err(_) => return Err(wrong_type(py, name, "text or null", value)),
    };
    base.set(kind, name, text).map_err(|wrong| event_error(py, &wrong.to_string(), Some(name)))
}

fn check(py: Python<'_>, kind: &PyKind, payload: &Bound<'_, PyDict>, base: &Base) -> PyResult<()> {
    for (field, name) in kind.kind.fields.iter().zip(&kind.names) {
        if field.name == "agent_id" && base.agent_id.is_some() {
            continue;
        }
        // A null of an optional field is the same as leaving it out.
        let may_be_null = !field.required || field.kind == FieldKind::TextOrNull;
        match payload.get_item(name.bind(py))? {
            Some(value) if value.is_none() && may_be_null && field.default.is_some() => {
                payload.del_item(name)?
            }
            Some(value) if value.is_none() && may_be_null => {}
            Some(value) => {
                let fits = match field.kind {
                    FieldKind::Text | FieldKind::TextOrNull => value.is_instance_of::<PyString>(),
                    FieldKind::Bool => value.is_instance_of::<PyBool>(),
                    _ => true,
                };
                if !fits {
                    return Err(wrong_type(py, field.name, field.kind.wanted(), &value));
                }
            }
            None if field.required => {
                let (event, name) = (kind.kind.name.to_owned(), field.name.to_owned());
                let wrong = EventError::MissingField { event, field: name, wanted: field.kind.wanted() };
                return Err(event_error(py, &wrong.to_string(), Some(field.name)));
            }
            None => {}
        }
    }
    Ok(())
}

fn wrong_type(py: Python<'_>, field: &str, wanted: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    event_error(py, &format!("the field `{field}` must be {wanted}, but it is a {found}"), Some(field))
}

/// `crosier.EventError`.
pub fn event_error(py: Python<'_>, detail: &str, field: Option<&str>) -> PyErr {
    error(py, "EventError", (detail, field))
}
