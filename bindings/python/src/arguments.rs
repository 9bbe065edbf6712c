//! The arguments of hooks that take only the event.
//!
//! Every hook may change or keep its event, so each needs its own copy. Most hooks do neither; then the next hook gets
//! the same object, which is much cheaper than a new copy.

use std::slice;

use crosier::Call;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::py_fire::{PyFire, hook_event};
use crate::python::python;

/// The event as it was passed to the last hook.
pub struct PassedEvent {
    /// A tuple with the event as its only item.
    arguments: Py<PyTuple>,
    /// A fingerprint of the event: the address of every key and value, in order. The address of a dict or list is
    /// tagged, and its length and content follow. The fire keeps all other values alive, so an equal address means the
    /// same value.
    parts: Vec<usize>,
}

/// A tuple with the event as its only item.
pub fn event_arguments<'py>(py: Python<'py>, call: Call<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let Some(fired) = PyFire::of(call.event).filter(|_| call.event.is_only_host_payload()) else {
        return PyTuple::new(py, [hook_event(py, call)?]);
    };
    let mut state = fired.state();
    // The only hook of a fire gets the same object when it is asked again. The check runs no code of Python, so it
    // may hold the lock.
    if let Some(passed) = &state.passed_event
        && (call.is_only_hook || passed.is_as_it_was(py))
    {
        return Ok(passed.arguments.bind(py).clone());
    }
    // What a hook put into its event may have a `__del__`, so it is not dropped under the lock.
    let before = state.passed_event.take();
    drop(state);
    drop(before);
    let event = hook_event(py, call)?;
    let mut parts = Vec::new();
    if !call.is_only_hook {
        parts.reserve(64);
        note_dict(event.as_ptr(), &mut parts);
    }
    let arguments = PyTuple::new(py, [event])?;
    fired.state().passed_event = Some(PassedEvent { arguments: arguments.clone().unbind(), parts });
    Ok(arguments)
}

impl PassedEvent {
    /// Whether no one else refers to the event or to a container in it, and nothing was changed.
    fn is_as_it_was(&self, py: Python<'_>) -> bool {
        let Ok(python) = python(py) else { return false };
        let Ok(event) = self.arguments.bind(py).get_borrowed_item(0) else { return false };
        let mut parts = self.parts.iter();
        references(self.arguments.as_ptr()) == 1
            && references(event.as_ptr()) == 1
            && event.get_type().is(&python.hook_event)
            && is_same_dict(event.as_ptr(), &mut parts)
            && parts.next().is_none()
    }
}

/// Marks of containers, in bits that an address has not.
const DICT: usize = 1;
const LIST: usize = 2;

fn note_dict(dict: *mut PyObject, parts: &mut Vec<usize>) {
    parts.push(length(dict));
    each_item(dict, |key, value| {
        parts.push(key.addr());
        note(value, parts);
        true
    });
}

fn note(value: *mut PyObject, parts: &mut Vec<usize>) {
    if is_dict(value) {
        parts.push(value.addr() | DICT);
        note_dict(value, parts);
    } else if is_list(value) {
        parts.extend([value.addr() | LIST, list_length(value)]);
        (0..list_length(value)).for_each(|at| note(list_item(value, at), parts));
    } else {
        parts.push(value.addr());
    }
}

fn is_same_dict(dict: *mut PyObject, parts: &mut slice::Iter<'_, usize>) -> bool {
    parts.next() == Some(&length(dict))
        && each_item(dict, |key, value| parts.next() == Some(&key.addr()) && is_same(value, parts))
}

#[inline(always)]
fn is_same(value: *mut PyObject, parts: &mut slice::Iter<'_, usize>) -> bool {
    match parts.next() {
        Some(&part) if part == value.addr() => true,
        Some(&part) => is_same_container(value, part, parts),
        None => false,
    }
}

fn is_same_container(value: *mut PyObject, part: usize, parts: &mut slice::Iter<'_, usize>) -> bool {
    if part == value.addr() | DICT {
        return is_dict(value) && references(value) == 1 && is_same_dict(value, parts);
    }
    let is_list = part == value.addr() | LIST && is_list(value) && references(value) == 1;
    is_list
        && parts.next() == Some(&list_length(value))
        && (0..list_length(value)).all(|at| is_same(list_item(value, at), parts))
}

// PyO3's own iterators count references of every item, which costs more than the comparison. All of these are called
// with objects that the event holds, by a thread that is attached to the interpreter, and run no code of Python.

#[expect(unsafe_code, reason = "see above")]
fn references(object: *mut PyObject) -> isize {
    // SAFETY: the object is alive.
    unsafe { ffi::Py_REFCNT(object) }
}

#[expect(unsafe_code, reason = "see above")]
fn is_dict(object: *mut PyObject) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::PyDict_CheckExact(object) != 0 }
}

#[expect(unsafe_code, reason = "see above")]
fn is_list(object: *mut PyObject) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::PyList_CheckExact(object) != 0 }
}

#[expect(unsafe_code, reason = "see above")]
fn length(dict: *mut PyObject) -> usize {
    // SAFETY: the dict is alive.
    unsafe { ffi::PyDict_Size(dict) }.unsigned_abs()
}

#[expect(unsafe_code, reason = "see above")]
fn list_length(list: *mut PyObject) -> usize {
    // SAFETY: the list is alive.
    unsafe { ffi::PyList_Size(list) }.unsigned_abs()
}

#[expect(unsafe_code, reason = "see above")]
fn list_item(list: *mut PyObject, at: usize) -> *mut PyObject {
    // SAFETY: the list is alive, and has this item.
    unsafe { ffi::PyList_GetItem(list, at.cast_signed()) }
}

/// Calls `visit` with each key and value, until it returns false. Returns whether it never did.
#[expect(unsafe_code, reason = "see above")]
fn each_item(dict: *mut PyObject, mut visit: impl FnMut(*mut PyObject, *mut PyObject) -> bool) -> bool {
    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dict is alive, and is not changed meanwhile.
    while unsafe { ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) } != 0 {
        if !visit(key, value) {
            return false;
        }
    }
    true
}
