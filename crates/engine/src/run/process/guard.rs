//! What a host holds for each process that is started for a hook.

use std::any::Any;
use std::fmt;
use std::process::Child;
use std::sync::Arc;

/// Something that a host holds as long as a process lives.
pub(in crate::run) type Held = Box<dyn Any + Send + Sync>;

/// Makes what a host holds for each process. See [`Builder::process_guard`](crate::Builder::process_guard).
#[derive(Clone)]
pub(crate) struct ProcessGuard(Arc<dyn Fn(u32) -> Held + Send + Sync>);

impl ProcessGuard {
    pub(crate) fn new(make: impl Fn(u32) -> Held + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(in crate::run) fn hold(&self, child: &Child) -> Held {
        (self.0)(child.id())
    }
}

impl fmt::Debug for ProcessGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessGuard")
    }
}
