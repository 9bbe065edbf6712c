//! The base fields of events, as hooks in Python get them.

use std::sync::{Mutex, PoisonError};

use crosier::Event;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The base fields of the last event of a kind: those of the next one are mostly the same.
#[derive(Default)]
pub struct LastBase(Mutex<Option<Known>>);

struct Known {
    texts: [Option<String>; 6],
    fields: Py<PyDict>,
}

impl LastBase {
    /// Sets the base fields of an event.
    pub fn fill(&self, event: &Event, whole: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = whole.py();
        let texts = [
            Some(event.session_id()),
            Some(event.transcript_path()),
            Some(event.cwd()),
            event.permission_mode(),
            event.agent_id(),
            Some(event.orchestrator_id()),
        ];
        let known = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_same = |known: &&Known| known.texts.iter().map(Option::as_deref).eq(texts);
            known.as_ref().filter(is_same).map(|known| known.fields.clone_ref(py))
        };
        let fields = match known {
            Some(fields) => fields.into_bound(py),
            None => {
                let fields = base_fields(event, py)?;
                let known = Known {
                    texts: texts.map(|text| text.map(str::to_owned)),
                    fields: fields.clone().unbind(),
                };
                let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(known);
                drop(before);
                fields
            }
        };
        whole.update(fields.as_mapping())?;
        whole.set_item(pyo3::intern!(py, "timestamp"), event.timestamp())
    }
}

/// All of them, in their order; the timestamp is set for each event.
fn base_fields<'py>(event: &Event, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let base = PyDict::new(py);
    base.set_item(pyo3::intern!(py, "session_id"), event.session_id())?;
    base.set_item(pyo3::intern!(py, "transcript_path"), event.transcript_path())?;
    base.set_item(pyo3::intern!(py, "cwd"), event.cwd())?;
    if let Some(mode) = event.permission_mode() {
        base.set_item(pyo3::intern!(py, "permission_mode"), mode)?;
    }
    base.set_item(pyo3::intern!(py, "hook_event_name"), event.name())?;
    base.set_item(pyo3::intern!(py, "hook_type"), event.name())?;
    base.set_item(pyo3::intern!(py, "agent_id"), event.agent_id())?;
    base.set_item(pyo3::intern!(py, "orchestrator_id"), event.orchestrator_id())?;
    base.set_item(pyo3::intern!(py, "timestamp"), py.None())?;
    Ok(base)
}
