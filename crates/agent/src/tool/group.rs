//! A process that leads its own group. Dropping it kills the whole group.
//!
//! Invariant: the group is signalled only while its leader is not reaped, so that its id cannot belong to another
//! group. On Linux, descendants that left the group (`setsid`) are killed with it.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::process::{Child, Command};

use super::descendants::Descendants;

/// How often to check whether a leader that was asked to end has exited.
const TICK: Duration = Duration::from_millis(5);
/// How long to wait for a killed leader; after that it hangs in the kernel and is abandoned.
const KILL_WAIT: Duration = Duration::from_millis(500);

/// The leader of a group.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
}

impl Group {
    /// Starts a process as the leader of its own group.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        // The runtime reaps it when it is dropped.
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        Ok(Self { child })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the leader exits. Processes that it left running are not touched.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the whole group: sends SIGTERM, waits for `grace`, then kills it.
    pub(crate) async fn end(mut self, grace: Duration) {
        // Collected before anything is killed: a child whose parent has exited could not be found.
        let descendants = self.pid().map(Descendants::of).unwrap_or_default();
        self.signal(Signal::TERM);
        let kill_at = Instant::now() + grace;
        // The leader is not reaped yet, so that the group can still be killed after it has exited.
        while !self.has_exited() && Instant::now() < kill_at {
            tokio::time::sleep(TICK).await;
        }
        self.kill();
        descendants.kill();
        let _ = tokio::time::timeout(KILL_WAIT, self.child.wait()).await;
    }

    /// Waits until the leader exits by itself, at most this long. It is not reaped.
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
        // The runtime forgets the id when it reaps the process.
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    pub(crate) fn has_exited(&self) -> bool {
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Kills the group and the descendants of its leader.
    fn kill(&self) {
        let Some(pid) = self.pid() else { return };
        let descendants = Descendants::of(pid);
        self.signal(Signal::KILL);
        // The leader may have moved to another group.
        let _ = kill_process(pid, Signal::KILL);
        descendants.kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
