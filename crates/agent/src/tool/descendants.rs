//! The descendants of a process, including those that left its group (`setsid`).
//!
//! Linux only: elsewhere the list is empty. A process whose own parent has exited (a daemon that detached itself twice)
//! is not found, because its ancestors are not known.

use rustix::process::Pid;

/// Processes held by descriptors, so that a reused process id is never killed by mistake.
#[derive(Debug, Default)]
pub(super) struct Descendants(#[cfg(target_os = "linux")] Vec<std::os::fd::OwnedFd>);

#[cfg(target_os = "linux")]
impl Descendants {
    /// The descendants of a process that was not reaped yet.
    pub(super) fn of(root: Pid) -> Self {
        let processes: Vec<Process> = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| Process::read(entry.ok()?.file_name().to_str()?.parse().ok()?))
            .collect();
        let mut found = vec![root.as_raw_nonzero().get()];
        let mut next = 0;
        let mut held = Vec::new();
        while let Some(parent) = found.get(next).copied() {
            next += 1;
            for child in processes.iter().filter(|process| process.parent == parent) {
                if !found.contains(&child.id) {
                    found.push(child.id);
                    held.extend(child.hold());
                }
            }
        }
        Self(held)
    }

    pub(super) fn kill(&self) {
        use rustix::process::{Signal, pidfd_send_signal};
        for process in &self.0 {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Descendants {
    pub(super) fn of(_: Pid) -> Self {
        Self()
    }

    pub(super) fn kill(&self) {}
}

#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: i32,
    parent: i32,
    started: u64,
}

#[cfg(target_os = "linux")]
impl Process {
    fn read(id: i32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        // The second field is the name in parentheses, which can contain anything.
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { id, parent, started })
    }

    /// A descriptor of exactly this process, not of a later one with the same id.
    fn hold(&self) -> Option<std::os::fd::OwnedFd> {
        use rustix::process::{PidfdFlags, pidfd_open};
        let held = pidfd_open(Pid::from_raw(self.id)?, PidfdFlags::empty()).ok()?;
        (Self::read(self.id)?.started == self.started).then_some(held)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_with_its_parent() {
        let own = Process::read(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.parent > 0 && own.started > 0, "{own:?}");
        assert!(own.hold().is_some());
        assert!(Process { started: own.started + 1, ..own }.hold().is_none(), "another one with its id");
        assert_eq!(Process::read(i32::MAX), None);
    }
}
