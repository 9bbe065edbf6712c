//! Looking through files on a thread of its own, stopped when nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ToolContext, ToolError};

/// Tells the thread that nobody waits for it any more.
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

/// Runs it within the context's time.
pub(super) async fn errand<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = Stop::default();
    let _stop_on_drop = StopOnDrop(stop.clone());
    let working = tokio::task::spawn_blocking(move || work(&stop));
    match tokio::time::timeout(context.timeout, working).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(ToolError::new("the tool broke off; this is a bug of Crosier")),
        Err(_) => Err(ToolError::new(format!("timed out after {:?}", context.timeout))),
    }
}
