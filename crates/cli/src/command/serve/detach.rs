//! Detaches a daemon from the process that started it.

use std::os::fd::RawFd;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};

/// Starts a new session, closes all descriptors except the standard ones, changes to `/`, and sets a private umask.
pub(super) fn leave_everything() {
    // This fails only for the leader of a process group, which then already has its own group.
    let _ = setsid();
    umask(Mode::RWXG | Mode::RWXO);
    let _ = std::env::set_current_dir("/");
    for descriptor in open_descriptors() {
        close(descriptor);
    }
}

fn open_descriptors() -> Vec<RawFd> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // The descriptor from which the list was read is closed by now.
    numbers.filter(|&number: &RawFd| number > 2).collect()
}

#[expect(
    unsafe_code,
    reason = "this process has opened nothing yet: these come from the caller, and nothing else closes them"
)]
fn close(descriptor: RawFd) {
    let is_open = |number: RawFd| std::fs::symlink_metadata(format!("/dev/fd/{number}")).is_ok();
    if is_open(descriptor) {
        unsafe { rustix::io::close(descriptor) };
    }
}

/// Raises the limit of open files: a daemon needs one or two for each client, and three for each worker.
pub(super) fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
