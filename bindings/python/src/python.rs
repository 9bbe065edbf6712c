//! Objects of Python and of the package's own modules that the native part uses, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Objects that every fire needs.
pub struct Objects {
    /// `crosier.HookEvent`.
    pub hook_event: Py<PyType>,
    /// `dict.__new__`: makes an event without running its `__init__`.
    pub new_dict: Py<PyAny>,
    pub int_text: Py<PyAny>,
    pub loads: Py<PyAny>,
    pub running_loop: Py<PyAny>,
    pub copy_context: Py<PyAny>,
    pub cancelled_error: Py<PyType>,
    /// The package's Python half: `crosier._bridge`.
    pub bridge: Py<PyModule>,
    pub understand: Py<PyAny>,
    pub explain: Py<PyAny>,
    pub failure: Py<PyType>,
    pub hook_context: Py<PyType>,
    pub hook_result: Py<PyType>,
    pub submit: Py<PyAny>,
    pub gate: Py<PyAny>,
    pub errors: Py<PyModule>,
}

static OBJECTS: PyOnceLock<Objects> = PyOnceLock::new();

/// Looks them up once.
pub fn python(py: Python<'_>) -> PyResult<&'static Objects> {
    OBJECTS.get_or_try_init(py, || look_up(py))
}

fn look_up(py: Python<'_>) -> PyResult<Objects> {
    let builtins = py.import("builtins")?;
    let hook = py.import("crosier._hook")?;
    let bridge = py.import("crosier._bridge")?;
    let asyncio = py.import("asyncio")?;
    let class = |module: &Bound<'_, PyModule>, name: &str| -> PyResult<Py<PyType>> {
        Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
    };
    let function = |module: &Bound<'_, PyModule>, name: &str| -> PyResult<Py<PyAny>> {
        Ok(module.getattr(name)?.unbind())
    };
    Ok(Objects {
        hook_event: class(&hook, "HookEvent")?,
        new_dict: py.get_type::<PyDict>().getattr("__new__")?.unbind(),
        int_text: builtins.getattr("int")?.getattr("__repr__")?.unbind(),
        loads: function(&py.import("json")?, "loads")?,
        running_loop: function(&asyncio, "_get_running_loop")?,
        copy_context: function(&py.import("contextvars")?, "copy_context")?,
        cancelled_error: class(&asyncio, "CancelledError")?,
        understand: function(&hook, "understand")?,
        explain: function(&hook, "explain")?,
        failure: class(&hook, "Failure")?,
        hook_context: class(&hook, "HookContext")?,
        hook_result: class(&hook, "HookResult")?,
        submit: function(&bridge, "submit")?,
        gate: function(&bridge, "gate")?,
        errors: py.import("crosier._errors")?.unbind(),
        bridge: bridge.unbind(),
    })
}

/// One of the exceptions of `crosier._errors`, made with these arguments.
pub fn error<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = python(py).and_then(|python| python.errors.bind(py).getattr(name)?.call1(arguments));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
