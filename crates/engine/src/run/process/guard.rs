//! Values that the host keeps for each process that is started for a hook.

use std::any::Any;
use std::fmt;
use std::process::Child;
use std::sync::Arc;

/// A value that is dropped when its process has ended, before it is reaped.
pub(in crate::run) type HostValue = Box<dyn Any + Send + Sync>;

/// Makes such a value for each process; no guard in the sense of a hook that decides. See
/// [`Builder::process_guard`](crate::Builder::process_guard).
#[derive(Clone)]
pub(crate) struct ProcessGuard(Arc<dyn Fn(u32) -> HostValue + Send + Sync>);

impl ProcessGuard {
    pub(crate) fn new(make: impl Fn(u32) -> HostValue + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(in crate::run) fn hold(&self, child: &Child) -> HostValue {
        (self.0)(child.id())
    }
}

impl fmt::Debug for ProcessGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessGuard")
    }
}
