//! A signal becomes an interrupt of the session: its hooks are told, and SessionEnd still fires.

use std::io;
use std::os::fd::AsFd;

use crosier_agent::agent::Interrupt;

use crate::exit::Failed;
use crate::signals::Signals;

/// Does the work of a session; a signal interrupts it, and is then returned as the error.
///
/// # Errors
/// The signal that arrived meanwhile.
pub(crate) fn interruptible<T>(interrupt: &Interrupt, work: impl FnOnce() -> T) -> Result<T, Failed> {
    let signals = Signals::watch_and_wake()?;
    signals.during("the session was ended", || {
        let Ok((over, working)) = io::pipe() else { return work() };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // False: a signal arrived before the work was done.
                if matches!(signals.wait_for(over.as_fd()), Ok(false)) {
                    interrupt.set();
                }
            });
            let done = work();
            drop(working);
            done
        })
    })
}
