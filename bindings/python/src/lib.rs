//! `crosier._native`: the engine inside a Python process.
//!
//! Python registers functions (`register.rs`) and fires events (`fire.rs`); the engine walks its hooks; a hook that is
//! Python code is called in place, on a thread, or as a coroutine on the loop that awaits the fire (`hook/`).
//! `coroutine.rs` is the awaitable: it polls the walk and suspends on the caller's loop, so that no other thread is
//! involved. `py_fire.rs` is the event in Python's form: it is converted to JSON only when a hook outside this process
//! needs it.

mod arguments;
mod base;
mod coroutine;
mod engine;
mod explain;
mod fire;
mod fork;
mod hook;
mod json;
mod kinds;
mod load;
mod lock;
mod messages;
mod outcome;
mod py_fire;
mod python;
mod register;
mod waiting;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<engine::NativeEngine>()?;
    module.add_class::<register::NativeScope>()?;
    module.add_class::<coroutine::FireCoroutine>()?;
    module.add_class::<hook::Job>()?;
    module.add_class::<messages::NativeMessages>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_function(wrap_pyfunction!(fork::forked, module)?)?;
    module.add_function(wrap_pyfunction!(explain::catalog, module)?)?;
    module.add_function(wrap_pyfunction!(load::case_names, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::end_all, module)?)?;
    Ok(())
}
