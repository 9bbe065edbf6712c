//! Forks. In the child, the threads of an engine do not exist, and its processes belong to the parent.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::python::error;

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The number of forks between the first process and this one.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Called in the child of a fork: engines that were made before cannot be used.
#[pyfunction]
pub fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

pub fn forked_error(py: Python<'_>) -> PyErr {
    let message = "forked: this process is a fork, and the engine's threads are in its parent; make an engine in the \
                   child";
    error(py, "Error", (message,))
}
