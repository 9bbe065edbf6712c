//! A process that leads a group of its own. Whoever lets go of it kills the whole group.
//!
//! Invariant: the group is signalled only while its leader is not reaped, so that its id cannot be somebody
//! else's. A process that leaves the group (`setsid`) is out of reach.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::process::{Child, Command};

/// How often a leader that was asked to end is looked at.
const TICK: Duration = Duration::from_millis(5);
/// How long a killed leader may take to be gone; then it hangs in the kernel, and nobody waits for it.
const PATIENCE: Duration = Duration::from_millis(500);

/// The leader of a group.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
}

impl Group {
    /// Starts it as the leader of a group of its own.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        // The runtime reaps what is dropped.
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        Ok(Self { child })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the leader exits. What it started and left behind is not touched any more.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the whole group: asks, gives it some time, then kills.
    pub(crate) async fn end(mut self, grace: Duration) {
        self.signal(Signal::TERM);
        let kill_at = Instant::now() + grace;
        // Not reaped yet: the group still gets its kill after the leader is gone.
        while !self.has_exited() && Instant::now() < kill_at {
            tokio::time::sleep(TICK).await;
        }
        self.signal(Signal::KILL);
        let _ = tokio::time::timeout(PATIENCE, self.child.wait()).await;
    }

    /// Waits until the leader exits by itself, at most so long. It is not reaped.
    pub(crate) async fn exits_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        while Instant::now() < until {
            if self.has_exited() {
                return true;
            }
            tokio::time::sleep(TICK).await;
        }
        self.has_exited()
    }

    fn pid(&self) -> Option<Pid> {
        // The runtime forgets the id when it reaps.
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    pub(crate) fn has_exited(&self) -> bool {
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        let Some(pid) = self.pid() else { return };
        let _ = kill_process_group(pid, signal);
        if signal == Signal::KILL {
            // A leader that moved itself to another group is still ours.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
