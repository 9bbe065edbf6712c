//! What a process has open and running, what it left behind, and what it cost. Read from the operating system.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// How long what was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Descriptors and threads of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vitals {
    /// What each descriptor is open on.
    descriptors: BTreeMap<OsString, PathBuf>,
    threads: Vec<String>,
}

impl Vitals {
    pub(crate) fn now() -> Self {
        // Tokio keeps a pair of sockets for signals, for the life of the process, from its first runtime on.
        static TOKIO: Once = Once::new();
        TOKIO.call_once(|| drop(tokio::runtime::Builder::new_current_thread().enable_all().build()));
        let mut descriptors = BTreeMap::new();
        for entry in fs::read_dir("/dev/fd").unwrap().flatten() {
            // The descriptor of this very reading is open in every count.
            let target = fs::read_link(entry.path()).unwrap_or_default();
            // Whoever makes ids opens this once, for the life of the process.
            if target != Path::new("/dev/urandom") {
                descriptors.insert(entry.file_name(), target);
            }
        }
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        Self { descriptors, threads: threads.map(name).collect() }
    }

    /// Waits until this process has no more than it had then.
    pub(crate) fn expect_again(&self) {
        let is_back = || {
            let now = Self::now();
            now.descriptors.len() <= self.descriptors.len() && now.threads.len() <= self.threads.len()
        };
        assert!(until(is_back), "something was left behind: before {self:#?}, now {:#?}", Self::now());
    }
}

/// Waits until this is so. False when it does not become so in a long time.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    is_so()
}

/// Whether this process has any child, running or not reaped.
pub(crate) fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Processes that hooks of this folder started and that still run, in whatever group and session: every hook
/// has the folder in its environment, and so has what it starts. Empty where there is no `/proc`.
pub(crate) fn survivors(folder: &Path) -> Vec<i32> {
    let mark = format!("\0CROSIER_PROJECT_DIR={}\0", folder.display());
    let carries_mark = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // The first variable has nothing before it.
        let environment = [b"\0", environment.as_slice()].concat();
        environment.windows(mark.len()).any(|part| part == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(carries_mark).collect()
}

pub(crate) fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The most memory that this process ever had resident, in bytes. None where there is no `/proc`.
pub(crate) fn peak_bytes() -> Option<u64> {
    memory("VmHWM:")
}

/// The memory that this process has resident, in bytes. None where there is no `/proc`.
pub(crate) fn resident_bytes() -> Option<u64> {
    memory("VmRSS:")
}

fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

/// The processor time that this process has used. None where there is no `/proc`.
pub(crate) fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold anything; user and system time are fields 14 and 15, in hundredths.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(10 * ticks))
}

/// Waits until this child of ours has exited. It is not reaped.
pub(crate) fn expect_exited(pid: i32) {
    let pid = Pid::from_raw(pid).unwrap();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    assert!(until(|| !matches!(waitid(WaitId::Pid(pid), options), Ok(None))), "{pid:?} runs on");
}

/// How many descriptors a process has open. None where there is no `/proc`.
pub(crate) fn descriptors_of(pid: i32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count)
}

/// The memory that a process has resident, in bytes. None where there is no `/proc`.
pub(crate) fn resident_bytes_of(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}
