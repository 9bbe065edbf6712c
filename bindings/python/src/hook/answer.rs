//! Turns what a hook returned or raised into an answer.

use crosier::protocol::Opinion;
use crosier::{Answer, Decision, EventKind, Failure, FailureKind, Json, Phase, Reply};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::json;
use crate::py_fire::PyFire;
use crate::python::python;

pub fn interpreter_is_ending() -> Answer {
    Failure::new(FailureKind::Delivery, "the interpreter is ending").into()
}

/// The hook did not get the event: this denies.
pub fn delivery_failure(py: Python<'_>, error: &PyErr) -> Answer {
    Failure::new(FailureKind::Delivery, format!("the event cannot be passed over: {}", error.value(py)))
        .into()
}

/// Turns what a hook returned into an answer.
pub fn answer_from_result(result: &Bound<'_, PyAny>, kind: &EventKind, fired: Option<&PyFire>) -> Answer {
    let py = result.py();
    if result.is_none() {
        return Answer::default();
    }
    if let Some(reply) = decision(result) {
        return reply.into();
    }
    let reply = match result.cast_exact::<PyDict>() {
        Ok(reply) => Ok(reply.clone()),
        Err(_) => python(py)
            .and_then(|python| python.understand.bind(py).call1((result,)))
            .and_then(|reply| Ok(reply.cast_into::<PyDict>()?)),
    };
    match reply {
        Ok(reply) if reply.is_empty() => Answer::default(),
        Ok(reply) => rewrite(&reply, kind, fired).unwrap_or_else(|| answer_from_dict(&reply, kind, fired)),
        Err(error) => answer_from_exception(py, error, fired),
    }
}

/// A `HookResult` that only decides, as `deny("…")` makes it.
fn decision<'py>(result: &Bound<'py, PyAny>) -> Option<Reply> {
    let py = result.py();
    if !result.get_type().is(&python(py).ok()?.hook_result) {
        return None;
    }
    let fields = result.getattr(pyo3::intern!(py, "__dict__")).ok()?.cast_into::<PyDict>().ok()?;
    let field = |name: &Bound<'py, PyString>| fields.get_item(name).ok().flatten();
    let decision = match field(pyo3::intern!(py, "decision"))?.cast::<PyString>().ok()?.to_str().ok()? {
        "deny" => Decision::Deny,
        "ask" => Decision::Ask,
        _ => return None,
    };
    let is_none = |name: &Bound<'py, PyString>| field(name).is_some_and(|value| value.is_none());
    let is_empty =
        |name: &Bound<'py, PyString>| field(name).is_some_and(|value| value.len().is_ok_and(|len| len == 0));
    let says_nothing_else = is_none(pyo3::intern!(py, "modified_args"))
        && is_none(pyo3::intern!(py, "updated_input"))
        && is_none(pyo3::intern!(py, "inject"))
        && is_empty(pyo3::intern!(py, "metadata"))
        && is_empty(pyo3::intern!(py, "hook_errors"))
        && is_empty(pyo3::intern!(py, "more"));
    if !says_nothing_else {
        return None;
    }
    // `allowed` must agree with the decision.
    let is_allowed = field(pyo3::intern!(py, "allowed"))?.is_truthy().ok()?;
    if is_allowed != (decision == Decision::Ask) {
        return None;
    }
    let reason = match field(pyo3::intern!(py, "reason"))? {
        reason if reason.is_none() => None,
        reason => Some(reason.cast::<PyString>().ok()?.to_str().ok()?.to_owned()),
    };
    Some(Reply::default().with(|effects| effects.opinion = Some(Opinion::new(decision, reason))))
}

/// A reply that is only a new tool input, read without converting the whole reply to JSON.
fn rewrite(reply: &Bound<'_, PyDict>, kind: &EventKind, fired: Option<&PyFire>) -> Option<Answer> {
    let is_of_a_tool = || kind.rewritable(Phase::Pre).is_some_and(|field| field.name == "tool_input");
    if reply.len() != 1 || !is_of_a_tool() {
        return None;
    }
    let value = reply.get_item(pyo3::intern!(reply.py(), "updated_input")).ok()??;
    let value = value.cast_exact::<PyDict>().ok()?;
    let mut out = Vec::with_capacity(256);
    json::write(value.as_any(), &mut out).ok()?;
    let json = Json::parse(std::str::from_utf8(&out).ok()?).ok()?;
    remember(fired, &json, value.as_any());
    Some(Reply::default().rewrite_input(json).into())
}

/// Keeps the object of a rewritten value, so that the outcome need not parse its JSON.
fn remember(fired: Option<&PyFire>, json: &Json, value: &Bound<'_, PyAny>) {
    if let Some(fired) = fired
        && let Ok(copied) = json::copy(value)
    {
        fired.state().rewritten.push((json.clone(), copied.unbind()));
    }
}

fn answer_from_dict(reply: &Bound<'_, PyDict>, kind: &EventKind, fired: Option<&PyFire>) -> Answer {
    let mut out = Vec::with_capacity(256);
    if let Err(problem) = json::write(reply.as_any(), &mut out) {
        let failure = Failure::bad_output(format!("cannot write {}", problem.inside("reply")));
        // A value that cannot be written as JSON must not undo a denial in the same reply.
        return match denial(reply) {
            Some(reason) => Answer::failed(Reply::deny(reason), failure),
            None => failure.into(),
        };
    }
    let reply_ = match Reply::decode(&out, kind) {
        Ok(reply) => reply,
        Err(failure) => return failure.into(),
    };
    if let Some([rewrite]) = reply_.effects().map(|effects| effects.rewrites.as_slice())
        && let Ok(Some(value)) = reply.get_item(pyo3::intern!(reply.py(), "updated_input"))
        && value.is_instance_of::<PyDict>()
    {
        remember(fired, &rewrite.value, &value);
    }
    reply_.into()
}

/// The reason of a reply, if it denies.
fn denial(reply: &Bound<'_, PyDict>) -> Option<String> {
    let text =
        |name: &str| reply.get_item(name).ok().flatten().and_then(|value| value.extract::<String>().ok());
    let is = |name: &str, truth: bool| {
        reply.get_item(name).ok().flatten().and_then(|value| value.extract::<bool>().ok()) == Some(truth)
    };
    let says = |name: &str| matches!(text(name).as_deref(), Some("deny" | "block"));
    let denies = is("allowed", false) || is("abort", true) || says("decision") || says("permissionDecision");
    denies.then(|| text("reason").or_else(|| text("permissionDecisionReason")).unwrap_or_default())
}

/// An `Exception` is the failure `error`. Any other `BaseException` ends the walk with a denial, and is raised in the
/// caller if it is meant for the caller.
pub fn answer_from_exception(py: Python<'_>, error: PyErr, fired: Option<&PyFire>) -> Answer {
    let Ok(python) = python(py) else { return interpreter_is_ending() };
    // With its traceback, which Python before 3.12 stores separately.
    let value = error.clone_ref(py).into_value(py).into_bound(py);
    if value.is_instance(python.failure.bind(py)).unwrap_or(false) {
        let text =
            |name: &str| value.getattr(name).and_then(|text| text.extract::<String>()).unwrap_or_default();
        let kind = FailureKind::from_word(&text("kind")).unwrap_or(FailureKind::Error);
        return Failure::new(kind, text("detail")).into();
    }
    let line = python.explain.bind(py).call1((&value, py.None()));
    let line = line.and_then(|told| told.get_item(0)?.extract::<String>());
    let line = line.unwrap_or_else(|_| error.to_string());
    if error.is_instance_of::<PyException>(py) {
        let _ = python.bridge.bind(py).call_method1("log_failure", (&value,));
        return Failure::error(line).into();
    }
    let leaves = error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py);
    if leaves && let Some(fired) = fired {
        fired.state().escaped = Some(error);
    }
    Answer::failed(Reply::deny(format!("the hook raised {line}")), Failure::error(line))
}
