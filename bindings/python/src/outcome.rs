//! `crosier.Outcome`: the engine's outcome, whose values become Python objects when they are first used.

use crosier::{Directive, Json};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::json;
use crate::py_fire::Rewritten;
use crate::python::{error, python};

/// The combined answer to one event.
#[pyclass(frozen, module = "crosier", weakref)]
pub struct Outcome {
    native: crosier::Outcome,
    /// Rewritten values as Python objects, with their JSON.
    rewritten: Vec<Rewritten>,
    /// Values that replace the engine's, from `dataclasses.replace`.
    changed: Option<Py<PyDict>>,
}

/// The fields, in the order of the dataclass.
pub const FIELDS: [&str; 16] = [
    "event",
    "decision",
    "reason",
    "by",
    "by_failure",
    "updated_input",
    "updated_output",
    "suppress_output",
    "context",
    "inject",
    "resume",
    "halt",
    "notices",
    "updated_permissions",
    "reports",
    "would",
];

impl Outcome {
    pub fn new(native: crosier::Outcome, rewritten: Vec<Rewritten>) -> Self {
        Self { native, rewritten, changed: None }
    }

    fn changed<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.changed {
            Some(changed) => changed.bind(py).get_item(name),
            None => Ok(None),
        }
    }

    fn value<'py>(&self, py: Python<'py>, value: Option<&Json>) -> PyResult<Bound<'py, PyAny>> {
        let Some(value) = value else { return Ok(py.None().into_bound(py)) };
        let is_same = |(json, _): &&Rewritten| std::ptr::eq(json.text().as_ptr(), value.text().as_ptr());
        if let Some((_, known)) = self.rewritten.iter().rev().find(is_same) {
            let copied = json::copy(known.bind(py));
            return copied.map_err(|problem| PyTypeError::new_err(problem.to_string()));
        }
        json::read(py, value.text())
    }

    /// Serialized JSON as dicts whose keys are also attributes.
    fn record<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        python(py)?.bridge.bind(py).call_method1("record", (json::read(py, text)?,))
    }

    fn records<'py, T: serde::Serialize>(py: Python<'py>, items: &[T]) -> PyResult<Bound<'py, PyAny>> {
        if items.is_empty() {
            return Ok(PyList::empty(py).into_any());
        }
        let text = serde_json::to_string(items).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Self::record(py, &text)
    }

    fn directive<'py>(py: Python<'py>, directive: Option<&Directive>) -> PyResult<Bound<'py, PyAny>> {
        let Some(directive) = directive else { return Ok(py.None().into_bound(py)) };
        let text =
            serde_json::to_string(directive).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Self::record(py, &text)
    }

    /// One field, by its name.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if let Some(changed) = self.changed(py, name)? {
            return Ok(changed);
        }
        let native = &self.native;
        let text = |text: Option<&str>| Ok(text.into_pyobject(py)?.into_any());
        let truth = |truth: bool| Ok(truth.into_pyobject(py)?.to_owned().into_any());
        match name {
            "event" => text(Some(native.event.name)),
            "decision" => text(native.decision.map(|decision| decision.word())),
            "reason" => text(native.reason.as_deref()),
            "by" => text(native.by.as_deref()),
            "by_failure" => truth(native.by_failure),
            "updated_input" => self.value(py, native.updated_input.as_ref()),
            "updated_output" => self.value(py, native.updated_output.as_ref()),
            "suppress_output" => truth(native.suppress_output),
            "context" => Ok(PyList::new(py, &native.context)?.into_any()),
            "inject" => Self::records(py, &native.inject),
            "resume" => Self::directive(py, native.resume.as_ref()),
            "halt" => Self::directive(py, native.halt.as_ref()),
            "notices" => Self::records(py, &native.notices),
            "updated_permissions" => self.value(py, native.updated_permissions.as_ref()),
            "reports" => Self::records(py, &native.reports),
            "would" => text(native.would.map(|decision| decision.word())),
            _ => {
                Err(pyo3::exceptions::PyAttributeError::new_err(format!("an outcome has no field `{name}`")))
            }
        }
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        FIELDS.iter().map(|name| self.field(py, name)).collect()
    }
}

#[pymethods]
impl Outcome {
    /// An outcome made by hand, for tests of hosts.
    #[new]
    #[pyo3(signature = (event, *values, **fields))]
    fn make(
        py: Python<'_>,
        event: &str,
        values: &Bound<'_, PyTuple>,
        fields: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let kind = crosier_dialect::catalog().find(event);
        let kind = kind.ok_or_else(|| {
            error(py, "EventError", (crosier_dialect::catalog().unknown_event(event), "event"))
        })?;
        let changed = PyDict::new(py);
        if values.len() >= FIELDS.len() {
            return Err(PyTypeError::new_err(format!("an outcome has {} fields", FIELDS.len())));
        }
        for (name, value) in FIELDS.iter().skip(1).zip(values.iter()) {
            changed.set_item(name, value)?;
        }
        for (name, value) in fields.iter().flat_map(|fields| fields.iter()) {
            let name: String = name.extract()?;
            if !FIELDS.contains(&name.as_str()) {
                return Err(PyTypeError::new_err(format!("an outcome has no field `{name}`")));
            }
            if changed.contains(&name)? {
                return Err(PyTypeError::new_err(format!("the field `{name}` is given twice")));
            }
            changed.set_item(name, value)?;
        }
        let native = crosier::Outcome::new(kind);
        Ok(Self { native, rewritten: Vec::new(), changed: Some(changed.unbind()) })
    }

    /// The event's name.
    #[getter]
    fn event<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "event")
    }

    /// The strictest decision of all hooks; none when no hook had one.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "decision")
    }

    /// Why, in the words of the first hook with that decision.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "reason")
    }

    /// The first hook with that decision.
    #[getter]
    fn by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "by")
    }

    /// Whether the engine decided so because a hook failed.
    #[getter]
    fn by_failure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "by_failure")
    }

    /// The rewritten field of a *pre* event; none when nobody rewrote it.
    #[getter]
    fn updated_input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "updated_input")
    }

    /// The rewritten field of a *post* event; none when nobody rewrote it.
    #[getter]
    fn updated_output<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "updated_output")
    }

    /// Whether to hide the output.
    #[getter]
    fn suppress_output<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "suppress_output")
    }

    /// Text for the next model call.
    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "context")
    }

    /// Text for the tool result or messages after it: `strategy`, `content`, `hook`.
    #[getter]
    fn inject<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "inject")
    }

    /// Set when the loop must go on although it wants to stop: `reason`, `by`.
    #[getter]
    fn resume<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "resume")
    }

    /// Set when the host must stop its loop: `reason`, `by`.
    #[getter]
    fn halt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "halt")
    }

    /// Things to log or to tell a person: `kind`, `level`, `text`, `hook`.
    #[getter]
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "notices")
    }

    /// Permission updates for the host.
    #[getter]
    fn updated_permissions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "updated_permissions")
    }

    /// What each hook did: `hook`, `status`, `decision`, `failure`, `ignored`, …
    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "reports")
    }

    /// What hooks that only warn would have decided.
    #[getter]
    fn would<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.field(py, "would")
    }

    /// Whether the action must not happen.
    #[getter]
    fn denied(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.changed {
            None => Ok(self.native.is_denied()),
            Some(_) => self.field(py, "decision")?.eq("deny"),
        }
    }

    /// What to do, as one value to `match` on.
    #[getter]
    fn gate<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf.py())?.gate.bind(slf.py()).call1((slf,))
    }

    /// Every field, as plain dicts and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = PyDict::new(py);
        for name in FIELDS {
            made.set_item(name, self.field(py, name)?)?;
        }
        python(py)?.bridge.bind(py).call_method1("plain", (made,))
    }

    /// Raises `Denied` when the outcome denies.
    fn raise_for_denial(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let this = slf.get();
        if !this.denied(py)? {
            return Ok(());
        }
        let (reason, by) = (this.field(py, "reason")?, this.field(py, "by")?);
        Err(error(py, "Denied", (reason, by, slf)))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let mine = PyTuple::new(py, self.values(py)?)?;
        let same = mine.eq(PyTuple::new(py, other.get().values(py)?)?)?;
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self) -> isize {
        self.native.event.index() as isize
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        for name in FIELDS {
            let value = self.field(py, name)?;
            if name == "event" || value.is_truthy()? {
                parts.push(format!("{name}={}", value.repr()?));
            }
        }
        Ok(format!("Outcome({})", parts.join(", ")))
    }

    fn __setattr__(&self, py: Python<'_>, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let frozen = py.import("dataclasses")?.getattr("FrozenInstanceError")?;
        Err(PyErr::from_value(frozen.call1((format!("cannot assign to field '{name}'"),))?))
    }

    fn __delattr__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let frozen = py.import("dataclasses")?.getattr("FrozenInstanceError")?;
        Err(PyErr::from_value(frozen.call1((format!("cannot delete field '{name}'"),))?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let restore = python(py)?.bridge.bind(py).getattr("restore_outcome")?;
        let fields = slf.get().to_dict(py)?;
        Ok(PyTuple::new(py, [restore, PyTuple::new(py, [fields])?.into_any()])?.into_any())
    }
}
