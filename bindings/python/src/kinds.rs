//! Kinds of events, as Python names them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crosier::{Engine, EventKind};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::base::LastBase;
use crate::py_fire::event_error;

/// A kind, with data that is the same for all events of this kind that an engine fires.
pub struct PyKind {
    pub kind: EventKind,
    /// The names of the row's fields, in its order.
    pub names: Vec<Py<PyString>>,
    pub matcher: Option<Py<PyString>>,
    pub base: LastBase,
    needs_a_loop: AtomicBool,
}

impl PyKind {
    fn new(py: Python<'_>, kind: &EventKind) -> Self {
        let text = |name: &str| PyString::intern(py, name).unbind();
        Self {
            kind: kind.clone(),
            names: kind.fields.iter().map(|field| text(field.name)).collect(),
            matcher: kind.matcher.map(text),
            base: LastBase::default(),
            needs_a_loop: AtomicBool::new(false),
        }
    }

    /// Whether it has, or had, `async def` hooks.
    pub fn needs_a_loop(&self) -> bool {
        self.needs_a_loop.load(Ordering::Relaxed)
    }

    pub fn need_a_loop(&self) {
        self.needs_a_loop.store(true, Ordering::Relaxed);
    }
}

/// The kinds that an engine has used.
#[derive(Default)]
pub struct Kinds(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By the index of the kind.
    kinds: Vec<Option<Arc<PyKind>>>,
    /// By the object that named it, which in most code is a constant.
    names: Vec<(Py<PyString>, Arc<PyKind>)>,
}

/// The most names that are remembered, because a program may generate names.
const MAX_NAMES: usize = 32;

impl Kinds {
    pub fn of(&self, py: Python<'_>, kind: &EventKind) -> Arc<PyKind> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.kinds.len() <= kind.index() {
            known.kinds.resize(kind.index() + 1, None);
        }
        Arc::clone(known.kinds[kind.index()].get_or_insert_with(|| Arc::new(PyKind::new(py, kind))))
    }

    /// The kind of this name: text, or a member of an enum whose value is text.
    pub fn named(&self, engine: &Engine, event: &Bound<'_, PyAny>) -> PyResult<Arc<PyKind>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, kind)) = known.names.iter().find(|(name, _)| name.as_ptr() == event.as_ptr()) {
            return Ok(Arc::clone(kind));
        }
        drop(known);
        let py = event.py();
        let value = match event.cast::<PyString>() {
            Ok(name) => name.clone().into_any(),
            Err(_) => event.getattr("value").unwrap_or_else(|_| event.clone()),
        };
        let name = value.cast::<PyString>();
        let name = name.map_err(|_| event_error(py, "the event must be named by text", Some("event")))?;
        let text = name.to_str()?;
        let Some(kind) = engine.catalog().find(text) else {
            return Err(event_error(py, &engine.catalog().unknown_event(text), Some("event")));
        };
        let kind = self.of(py, &kind);
        if let Ok(name) = event.cast_exact::<PyString>() {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.names.len() < MAX_NAMES {
                known.names.push((name.clone().unbind(), Arc::clone(&kind)));
            }
        }
        Ok(kind)
    }
}
