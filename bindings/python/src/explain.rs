//! What an engine knows, as dicts.

use crosier::protocol::event::TABLE;
use crosier::{Engine, Entry, Event, EventKind, Json};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::py_fire::event_error;

/// Every event: its names, fields and effects. For stubs and documentation.
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

/// What would run for an event of this kind, and what would not, and why.
pub fn explain<'py>(
    py: Python<'py>,
    engine: &Engine,
    kind: &EventKind,
    tool: Option<&str>,
    agent_id: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    if tool.is_some() && kind.matcher.is_none() {
        let message = format!("{} has no field for a matcher; leave `tool` out", kind.name);
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
    let explanation = PyDict::new(py);
    explanation.set_item("event", kind.name)?;
    explanation.set_item("tool", tool)?;
    explanation.set_item("agent_id", agent_id)?;
    let plan = PyList::empty(py);
    let hooks = explained.plan.hooks().iter().map(|entry| (entry, false));
    for (order, (entry, observes)) in
        hooks.chain(explained.plan.observers().iter().map(|entry| (entry, true))).enumerate()
    {
        let item = entry_dict(py, entry)?;
        item.set_item("order", order + 1)?;
        item.set_item("observe", observes)?;
        plan.append(item)?;
    }
    explanation.set_item("plan", plan)?;
    let out = PyList::empty(py);
    for (entry, inclusion) in &explained.excluded {
        let item = entry_dict(py, entry)?;
        item.set_item("why", inclusion.word())?;
        out.append(item)?;
    }
    explanation.set_item("out", out)?;
    Ok(explanation)
}

fn entry_dict<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
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
