//! SIGINT, SIGTERM and SIGHUP: the processes that hooks started end first, then we do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crosier::Engine;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Remembers which signal came, while hooks run.
#[derive(Debug, Clone)]
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// From now on a signal kills the hooks of this engine and is remembered.
    pub(crate) fn watch(engine: &Engine) -> Self {
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            // Remembered before the bell rings: who wakes up finds the number.
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&seen), number);
            if let Ok(bell) = engine.kill_switch() {
                let _ = signal_hook::low_level::pipe::register(signal, bell);
            }
        }
        Self(seen)
    }

    /// The signal that came, if one did.
    pub(crate) fn seen(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::SeqCst)).ok().filter(|&number| number > 0)
    }
}
