//! Starts python workers ahead of the first event.

use std::sync::Arc;

use crosier_protocol::Failure;

use super::fire::Engine;
use crate::registry::{Entry, Handler};
use crate::run::PythonInfo;

impl Engine {
    /// Starts the workers of all python hooks and imports their modules, ahead of the first event. One result
    /// per python hook: information about the interpreter, or why the hook cannot be called.
    #[must_use]
    pub fn warm(&self) -> Vec<(Arc<Entry>, Result<PythonInfo, Failure>)> {
        let warm = |entry: Arc<Entry>| match &entry.handler {
            Handler::Python(spec) => {
                let result = self.0.resources.warm(spec, &entry);
                Some((entry, result))
            }
            Handler::Callback(_) | Handler::Command(_) | Handler::Service(_) => None,
        };
        self.entries().into_iter().filter_map(warm).collect()
    }
}
