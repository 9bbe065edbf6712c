//! Searches files on a separate thread, which is stopped when the caller no longer waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ToolContext, ToolError};

/// Whether the thread should stop.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a separate thread, within the context's time limit.
pub(super) async fn run_blocking<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = Stop::default();
    let _stop_on_drop = StopOnDrop(stop.clone());
    let working = tokio::task::spawn_blocking(move || work(&stop));
    match tokio::time::timeout(context.timeout, working).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(ToolError::new("the tool panicked; this is a bug in Crosier")),
        Err(_) => Err(ToolError::new(format!("timed out after {:?}", context.timeout))),
    }
}
