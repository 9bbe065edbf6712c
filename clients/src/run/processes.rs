//! Ends only processes that this program started: a group by its id, and processes that left the group by a mark.

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// The environment variable that marks every process of a run, to find those that leave the group, such as daemons.
pub(crate) const MARK: &str = "CROSIER_CLIENTS_RUN";

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(i32),
    Signal(i32),
    /// It exceeded its time limit and was killed.
    Late,
    /// The caller ended it early.
    Stopped,
}

/// How often a process is checked.
const STEP: Duration = Duration::from_millis(20);

/// Runs a command as the leader of a group, until it ends, is late, or `enough` is true; then ends the group.
pub(crate) fn run(command: &mut Command, limit: Duration, enough: impl Fn() -> bool) -> io::Result<Ended> {
    let mut child = command.process_group(0).spawn()?;
    let end = Instant::now() + limit;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break status
                .code()
                .map_or_else(|| Ended::Signal(status.signal().unwrap_or_default()), Ended::Exit);
        }
        if Instant::now() >= end {
            break Ended::Late;
        }
        if enough() {
            break Ended::Stopped;
        }
        std::thread::sleep(STEP);
    };
    end_group(&mut child);
    Ok(ended)
}

fn end_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Usually the group is already empty.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Ends every process with the mark of this run. Processes that they start meanwhile have it too, so the search is
/// repeated until none is left.
pub(crate) fn end_marked(mark: &str) {
    for _ in 0..50 {
        let marked = marked(mark);
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(STEP);
    }
}

fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw)
        .filter(|pid| *pid != getpid())
        .filter(|pid| {
            let variables = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_process_is_ended_with_its_group() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'sleep 1; touch late' & sleep 300"]).current_dir(dir.path());
        let ended = run(&mut command, Duration::from_millis(100), || false).expect("sh starts");
        assert_eq!(ended, Ended::Late);
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!dir.path().join("late").exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_daemon_that_left_its_group_is_found_by_its_mark() {
        let mark = format!("test-{}", std::process::id());
        let dir = tempfile::tempdir().expect("a folder");
        // The leader ends only after the daemon said that it is in a session of its own: what is still in the group by
        // then is killed with it.
        let daemon = "mkfifo ready; setsid sh -c 'echo > ready; exec sleep 300' & read x < ready";
        let mut command = Command::new("sh");
        command.args(["-c", daemon]).env(MARK, &mark).current_dir(dir.path());
        let ended = run(&mut command, Duration::from_secs(30), || false).expect("sh starts");
        assert_eq!(ended, Ended::Exit(0));
        assert_eq!(marked(&mark).len(), 1);
        end_marked(&mark);
        assert!(marked(&mark).is_empty());
    }
}
