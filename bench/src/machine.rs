//! The machine of a measurement, anonymously: no host, user or folder.

use std::fmt;
use std::fs;
use std::hint::black_box;
use std::process::Command;

use serde::Serialize;

use crate::measure::{clock, percentile};

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) memory_gib: f64,
    pub(crate) cpu: String,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) python: String,
    /// The commit, with `+` when files differ from it.
    pub(crate) commit: String,
}

impl Machine {
    pub(crate) fn look(python: Option<&std::path::Path>) -> Self {
        let python = python.and_then(|python| first_line(Command::new(python).arg("--version")));
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: (memory_bytes("MemTotal") / 1_073_741_824.0).round(),
            cpu: cpu(),
            kernel: kernel(),
            rustc: rustc(),
            python: python.unwrap_or_else(|| "none".to_owned()),
            commit: commit().unwrap_or_else(unknown),
        }
    }

    pub(crate) fn lines(&self) -> [(&'static str, String); 6] {
        [
            ("machine", format!("{} cores, {} GiB", self.cores, self.memory_gib)),
            ("cpu", self.cpu.clone()),
            ("kernel", self.kernel.clone()),
            ("rustc", self.rustc.clone()),
            ("python", self.python.clone()),
            ("commit", self.commit.clone()),
        ]
    }
}

/// The compiler's name and version.
pub(crate) fn rustc() -> String {
    first_line(Command::new("rustc").arg("--version")).unwrap_or_else(unknown)
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

fn commit() -> Option<String> {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        first_line(command.args(["-C", env!("CARGO_MANIFEST_DIR")]).args(words))
    };
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some();
    Some(if changed { format!("{commit}+") } else { commit })
}

/// One line of `/proc/meminfo`, in bytes.
pub(crate) fn memory_bytes(name: &str) -> f64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    number.unwrap_or(0.0) * 1_024.0
}

/// The family of the processor; the exact model would say more about the owner than about the result.
fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or("", |(_, name)| name);
    let words = name.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let words: Vec<&str> = words.filter(|word| !["CPU", "@", "Processor"].contains(word)).collect();
    if words.is_empty() { std::env::consts::ARCH.to_owned() } else { words.join(" ") }
}

/// The version without the vendor's additions.
fn kernel() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = text.split(['-', '+']).next().unwrap_or_default().trim();
    let name = std::env::consts::OS;
    if version.is_empty() { name.to_owned() } else { format!("{name} {version}") }
}

/// How much other work disturbs the machine at a moment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Noise {
    pub(crate) when: &'static str,
    /// The 90th percentile of the times of a loop, as a multiple of their median.
    pub(crate) spread: f64,
    /// How many other threads wanted a core, on average.
    pub(crate) others: f64,
    pub(crate) cores: usize,
}

impl Noise {
    pub(crate) fn measure(when: &'static str) -> Self {
        let mut times = Vec::new();
        let mut others = 0.0;
        for _ in 0..200 {
            times.push(clock(spin).0);
            others += wanting() - 1.0;
        }
        Self {
            when,
            spread: percentile(&times, 0.9) / percentile(&times, 0.5),
            others: (others / 200.0).max(0.0),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Whether there is too much noise for a conclusion.
    pub(crate) fn is_too_noisy(&self) -> bool {
        self.spread > 1.25 || self.others > 0.5
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the same loop took {:.0} % longer in its slow tenth; {:.1} other threads wanted one of {} cores",
            self.when,
            (self.spread - 1.0) * 100.0,
            self.others,
            self.cores
        )?;
        if self.is_too_noisy() {
            f.write_str(" (too loud for a verdict)")?;
        }
        Ok(())
    }
}

/// About a quarter of a millisecond of work that touches no memory.
fn spin() {
    let mut value = 1_u64;
    for step in 0..200_000_u64 {
        value = black_box(value.rotate_left(5) ^ step);
    }
    black_box(value);
}

/// How many threads run or wait for a core, including this one.
fn wanting() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = text.split_whitespace().nth(3).and_then(|part| part.split('/').next()?.parse().ok());
    running.unwrap_or(1.0)
}

/// The resources of a process at this moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessUsage {
    pub(crate) resident: f64,
    pub(crate) descriptors: f64,
}

impl ProcessUsage {
    /// The resources of a process of this user.
    pub(crate) fn of(pid: &str) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        Self { resident: kilobytes.unwrap_or(0.0) * 1_024.0, descriptors: descriptors as f64 }
    }

    pub(crate) fn of_self() -> Self {
        Self::of("self")
    }
}

/// The running child processes.
pub(crate) fn children() -> Vec<String> {
    let ours = std::process::id().to_string();
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_ours = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of a program can contain anything, but what follows its last bracket cannot.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(ours.as_str())
    };
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(is_ours).collect()
}
