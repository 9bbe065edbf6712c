//! Ctrl-C: the first one stops the agent cleanly, the second one exits at once.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crosier::Engine;
use crosier_agent::agent::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Exit, Failed};
use crate::print;

const ALL: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
/// How long to wait for hooks to be killed before the process exits.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// Which signal arrived.
#[derive(Debug)]
pub(super) struct SeenSignal(Arc<AtomicUsize>);

impl SeenSignal {
    /// Its number; that of Ctrl-C when something else interrupted the session.
    pub(super) fn number(&self) -> u8 {
        u8::try_from(self.0.load(Ordering::SeqCst)).ok().filter(|&number| number > 0).unwrap_or(2)
    }
}

/// Watches until the process ends.
pub(super) fn watch(interrupt: &Interrupt, engine: &Engine) -> Result<SeenSignal, Failed> {
    let cannot = |error: io::Error| {
        Failed::new(Exit::Failed, format!("signals cannot be handled: {error}; nothing was run"))
    };
    let seen = Arc::new(AtomicUsize::new(0));
    let (mut wakeup, writer) = io::pipe().map_err(cannot)?;
    let writer = OwnedFd::from(writer);
    for signal in ALL {
        let number = usize::try_from(signal).unwrap_or_default();
        // Registered first, so that the number is stored before a waiting thread wakes up.
        signal_hook::flag::register_usize(signal, Arc::clone(&seen), number).map_err(cannot)?;
        let writer = writer.try_clone().map_err(cannot)?;
        signal_hook::low_level::pipe::register(signal, writer).map_err(cannot)?;
    }
    let (interrupt, engine, number) = (interrupt.clone(), engine.clone(), SeenSignal(Arc::clone(&seen)));
    let listen = move || {
        let mut wait = || wakeup.read_exact(&mut [0]).is_ok();
        if !wait() {
            return;
        }
        interrupt.set();
        print::note("stopping; Ctrl-C again exits at once");
        if wait() {
            engine.shut_down();
            std::thread::sleep(LAST_MOMENT);
            leave(128 + i32::from(number.number()));
        }
    };
    std::thread::Builder::new().spawn(listen).map_err(cannot)?;
    Ok(SeenSignal(seen))
}

#[expect(clippy::disallowed_methods, reason = "the person wants to exit at once, and main is busy")]
fn leave(code: i32) {
    std::process::exit(code);
}
