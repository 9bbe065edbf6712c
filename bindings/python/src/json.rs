//! Converts Python values to JSON and back. Nothing is changed: integers keep their digits, and a value that JSON
//! cannot express is refused with its path.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::python::python;

/// Deeper values are refused, for example a list that contains itself.
const MAX_DEPTH: usize = 900;

/// A value that JSON cannot express: its path, and what it is.
#[derive(Debug, Clone)]
pub struct JsonError {
    /// `tool_input.paths[3]`.
    pub path: String,
    pub why: String,
}

impl JsonError {
    fn new(why: impl Into<String>) -> Self {
        Self { path: String::new(), why: why.into() }
    }

    /// The same problem with the path of the container in front.
    pub fn inside(mut self, place: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{place}{joint}{}", self.path);
        self
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}", self.path, self.why)
    }
}

type JsonResult<T> = Result<T, JsonError>;

/// A deep copy. A value that JSON cannot express is refused.
pub fn copy<'py>(value: &Bound<'py, PyAny>) -> JsonResult<Bound<'py, PyAny>> {
    copy_at(value, 0)
}

fn copy_at<'py>(value: &Bound<'py, PyAny>, depth: usize) -> JsonResult<Bound<'py, PyAny>> {
    // Most values are text, so this is checked first.
    if value.is_exact_instance_of::<PyString>() || value.is_none() || value.is_exact_instance_of::<PyBool>() {
        return Ok(value.clone());
    }
    if value.is_exact_instance_of::<PyInt>() {
        return Ok(value.clone());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return copy_dict(dict, depth).map(Bound::into_any);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return copy_items(list.get_slice(0, list.len()), depth).map(Bound::into_any);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return copy_items(tuple.to_list(), depth).map(Bound::into_any);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return match number.value().is_finite() {
            true => Ok(value.clone()),
            false => Err(JsonError::new(format!("is {}, which JSON has no word for", number.value()))),
        };
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
        return Ok(value.clone());
    }
    Err(refused(value))
}

fn too_deep(depth: usize) -> JsonResult<()> {
    if depth < MAX_DEPTH { Ok(()) } else { Err(JsonError::new("contains itself, or is nested too deeply")) }
}

fn refused(value: &Bound<'_, PyAny>) -> JsonError {
    let kind = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    JsonError::new(format!("is a {kind}, which JSON cannot say; use text, numbers, lists and dicts"))
}

/// Replaces the items of a new list by their copies.
fn copy_items<'py>(list: Bound<'py, PyList>, depth: usize) -> JsonResult<Bound<'py, PyList>> {
    too_deep(depth)?;
    for (at, item) in list.iter().enumerate() {
        let copied = copy_at(&item, depth + 1).map_err(|problem| problem.inside(&format!("[{at}]")))?;
        if !copied.is(&item) {
            list.set_item(at, copied).map_err(|error| JsonError::new(error.to_string()))?;
        }
    }
    Ok(list)
}

fn copy_dict<'py>(dict: &Bound<'py, PyDict>, depth: usize) -> JsonResult<Bound<'py, PyDict>> {
    too_deep(depth)?;
    // Python copies a whole dict faster than its items one by one, and most values need no copy.
    let made = dict.copy().map_err(|error| JsonError::new(error.to_string()))?;
    for (key, value) in dict.iter() {
        if !key.is_instance_of::<PyString>() {
            let key = key.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
            return Err(JsonError::new(format!("has the key {key}; keys must be text")));
        }
        if value.is_exact_instance_of::<PyString>() {
            continue;
        }
        let copied = copy_at(&value, depth + 1).map_err(|problem| problem.inside(&name(&key)))?;
        if !copied.is(&value) {
            made.set_item(&key, copied).map_err(|error| JsonError::new(error.to_string()))?;
        }
    }
    Ok(made)
}

fn name(key: &Bound<'_, PyAny>) -> String {
    key.str().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned())
}

/// Writes a value as JSON.
pub fn write(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> JsonResult<()> {
    write_at(value, out, 0)
}

fn write_at(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> JsonResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        write_text(text, out);
        return Ok(());
    }
    if value.is_none() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        out.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
        return Ok(());
    }
    if value.is_instance_of::<PyInt>() {
        return write_integer(value, out);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        if !number.value().is_finite() {
            return Err(JsonError::new(format!("is {}, which JSON has no word for", number.value())));
        }
        return serde_json::to_writer(out, &number.value())
            .map_err(|error| JsonError::new(error.to_string()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        too_deep(depth)?;
        out.push(b'{');
        for (at, (key, value)) in dict.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let Ok(text) = key.cast::<PyString>() else {
                let key = key.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
                return Err(JsonError::new(format!("has the key {key}; keys must be text")));
            };
            write_text(text, out);
            out.push(b':');
            write_at(&value, out, depth + 1).map_err(|problem| problem.inside(&name(&key)))?;
        }
        out.push(b'}');
        return Ok(());
    }
    let items: Vec<Bound<'_, PyAny>> = match (value.cast::<PyList>(), value.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Err(refused(value)),
    };
    too_deep(depth)?;
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_at(item, out, depth + 1).map_err(|problem| problem.inside(&format!("[{at}]")))?;
    }
    out.push(b']');
    Ok(())
}

fn write_integer(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> JsonResult<()> {
    if let Ok(small) = value.extract::<i64>() {
        out.extend_from_slice(small.to_string().as_bytes());
        return Ok(());
    }
    // `int.__repr__`, because the text of an enum member is not a number.
    let digits = python(value.py()).and_then(|python| python.int_text.bind(value.py()).call1((value,)));
    let digits = digits.and_then(|text| text.extract::<String>());
    match digits {
        Ok(digits) => out.extend_from_slice(digits.as_bytes()),
        Err(error) => return Err(JsonError::new(format!("cannot be written: {error}"))),
    }
    Ok(())
}

fn write_text(text: &Bound<'_, PyString>, out: &mut Vec<u8>) {
    if let Ok(text) = text.to_str() {
        // Writing text to memory cannot fail.
        let _ = serde_json::to_writer(out, text);
        return;
    }
    // A lone surrogate, which JSON can express and UTF-8 cannot.
    let _ = text.py();
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"));
    let units: Vec<u8> = units.and_then(|bytes| bytes.extract()).unwrap_or_default();
    let units = units.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    out.push(b'"');
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(character) => {
                let mut quoted = Vec::new();
                let _ = serde_json::to_writer(&mut quoted, &character);
                out.extend_from_slice(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
            }
            Err(lone) => out.extend_from_slice(format!("\\u{:04x}", lone.unpaired_surrogate()).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Parses JSON with Python's own parser.
pub fn read<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    python(py)?.loads.bind(py).call1((text,))
}

/// The JSON text of a value.
pub fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut out = Vec::new();
    write(value, &mut out).map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    String::from_utf8(out).map_err(|error| PyTypeError::new_err(error.to_string()))
}
