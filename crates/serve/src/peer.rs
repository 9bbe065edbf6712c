//! Who is at the other end of a socket: its user, and whether it is more confined than this process.

use std::os::fd::AsFd;
use std::sync::LazyLock;

/// The other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) pid: u32,
    user: u32,
}

impl Peer {
    #[cfg(target_os = "linux")]
    pub(crate) fn of(socket: &impl AsFd) -> std::io::Result<Self> {
        let peer = rustix::net::sockopt::socket_peercred(socket)?;
        Ok(Self { pid: peer.pid.as_raw_nonzero().get().unsigned_abs(), user: peer.uid.as_raw() })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(socket: &impl AsFd) -> std::io::Result<Self> {
        use nix::sys::socket::{getsockopt, sockopt};

        let pid = getsockopt(socket, sockopt::LocalPeerPid)?;
        let user = getsockopt(socket, sockopt::LocalPeerCred)?.uid();
        Ok(Self { pid: pid.unsigned_abs(), user })
    }

    pub(crate) fn is_same_user(self) -> bool {
        self.user == rustix::process::geteuid().as_raw()
    }

    /// Whether its first thread runs on another processor than this thread, as far as that is known.
    #[cfg(target_os = "linux")]
    pub(crate) fn runs_on_another_processor(self) -> bool {
        use rustix::fs::{Mode, OFlags, open};

        let path = format!("/proc/{}/stat", self.pid);
        let Ok(file) = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { return false };
        // It is one line of some 300 bytes, which one call reads.
        let mut text = [0; 1024];
        let Ok(length) = rustix::io::read(&file, &mut text) else { return false };
        let stat = String::from_utf8_lossy(text.get(..length).unwrap_or_default());
        // The name of the program stands in parentheses and may contain anything; the 37th field after it is the processor.
        let after_name = stat.rsplit_once(") ").map(|(_, fields)| fields);
        let processor = after_name.and_then(|fields| fields.split(' ').nth(36)?.parse().ok());
        processor.is_some_and(|its: usize| its != rustix::thread::sched_getcpu())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn runs_on_another_processor(self) -> bool {
        false
    }

    /// How it is confined, compared with this process.
    pub(crate) fn compared(self) -> RelativeConfinement {
        // The confinement of this process does not change.
        static MINE: LazyLock<Confinement> = LazyLock::new(Confinement::of_self);
        let its = Confinement::of(self.pid);
        let refusal = |how| format!("this client is more confined than the server: {how}");
        RelativeConfinement {
            refusal: its.more_than(&MINE).map(refusal),
            server_is_confined: MINE.more_than(&its),
        }
    }
}

/// How a client is confined, compared with the server.
#[derive(Debug, Default)]
pub(crate) struct RelativeConfinement {
    /// Why the client is not served: a sandboxed program must not be able to run code outside its sandbox through the
    /// server.
    pub(crate) refusal: Option<String>,
    /// In which way the server is more confined than the client, whose hooks would then find less than they do
    /// elsewhere.
    pub(crate) server_is_confined: Option<&'static str>,
}

/// How a process is confined; what cannot be looked up is unknown, and counts as confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// The namespaces that it is in, by their ids.
    namespaces: Option<Vec<String>>,
    /// Whether it can gain no privileges by starting programs.
    no_new_privileges: Option<bool>,
    /// Whether its system calls are filtered.
    filtered: Option<bool>,
}

#[cfg(target_os = "linux")]
const NAMESPACES: [&str; 4] = ["mnt", "user", "pid", "net"];

impl Confinement {
    /// The confinement of this process.
    #[must_use]
    pub fn of_self() -> Self {
        Self::read("self")
    }

    /// The confinement of another process.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        Self::read(&pid.to_string())
    }

    #[cfg(target_os = "linux")]
    fn read(process: &str) -> Self {
        let status = status(process).unwrap_or_default();
        let flag = |name: &str| {
            let at = status.find(name)?;
            let value = status.get(at + name.len()..)?.trim_start_matches([' ', '\t']);
            Some(!value.starts_with('0'))
        };
        Self {
            namespaces: namespaces(process),
            no_new_privileges: flag("\nNoNewPrivs:"),
            filtered: flag("\nSeccomp:"),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn read(_: &str) -> Self {
        Self { namespaces: namespaces(""), no_new_privileges: Some(false), filtered: Some(false) }
    }

    /// In which way it is more confined than `other`.
    #[must_use]
    pub fn more_than(&self, other: &Self) -> Option<&'static str> {
        if self.namespaces.is_none() || self.namespaces != other.namespaces {
            return Some("it is in another namespace, or its namespaces cannot be determined");
        }
        let has = |mine: Option<bool>, its: Option<bool>| mine.unwrap_or(true) && !its.unwrap_or(false);
        if has(self.no_new_privileges, other.no_new_privileges) {
            return Some("it has NoNewPrivs");
        }
        has(self.filtered, other.filtered).then_some("it has a Seccomp filter")
    }
}

/// The namespaces that a process is in, by their ids; `None` when that cannot be looked up.
#[cfg(target_os = "linux")]
fn namespaces(process: &str) -> Option<Vec<String>> {
    use rustix::fs::{Mode, OFlags, open, readlinkat};

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(format!("/proc/{process}/ns"), flags, Mode::empty()).ok()?;
    NAMESPACES.iter().map(|name| readlinkat(&folder, *name, Vec::new()).ok()?.into_string().ok()).collect()
}

#[cfg(not(target_os = "linux"))]
fn namespaces(_: &str) -> Option<Vec<String>> {
    Some(Vec::new())
}

/// Whether this process is more confined than one of its ancestors, or than the first process of the system: then it
/// must not start a daemon.
#[must_use]
pub fn is_confined() -> bool {
    let mine = Confinement::of_self();
    let is_less_confined = |pid: u32| {
        let other = Confinement::of(pid);
        // The namespaces of another user's process cannot be read, but its flags can.
        let namespaces = other.namespaces.clone().or_else(|| mine.namespaces.clone());
        mine.more_than(&Confinement { namespaces, ..other }).is_some()
            || user_map(&pid.to_string()).is_some_and(|map| Some(map) != user_map("self"))
    };
    ancestors().chain([1]).any(is_less_confined)
}

/// The kernel's status of a process.
#[cfg(target_os = "linux")]
fn status(process: &str) -> std::io::Result<String> {
    use std::io::Read;

    let mut text = String::with_capacity(4096);
    std::fs::File::open(format!("/proc/{process}/status"))?.read_to_string(&mut text)?;
    Ok(text)
}

/// How user ids are mapped: the only thing that can be seen of an outer process from inside a user namespace.
fn user_map(process: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{process}/uid_map")).ok()
}

/// The ancestors of this process, the nearest first.
#[cfg(target_os = "linux")]
fn ancestors() -> impl Iterator<Item = u32> {
    let parent = |pid: &str| -> Option<u32> {
        let status = status(pid).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|&parent| parent > 1)
    };
    // Limited, because processes come and go while the chain is read; no real chain is this long.
    std::iter::successors(parent("self"), move |pid| parent(&pid.to_string())).take(64)
}

/// Elsewhere nothing is known of how they are confined.
#[cfg(not(target_os = "linux"))]
fn ancestors() -> impl Iterator<Item = u32> {
    std::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_not_more_confined_than_ourselves_and_others_may_be() {
        let mine = Confinement::of_self();
        assert_eq!(mine.more_than(&mine), None);
        assert_eq!(Confinement::of(std::process::id()), mine);
        assert!(
            Confinement { filtered: Some(true), ..mine.clone() }
                .more_than(&Confinement { filtered: Some(false), ..mine.clone() })
                .is_some()
        );
        assert!(Confinement { namespaces: None, ..mine.clone() }.more_than(&mine).is_some());
        #[cfg(target_os = "linux")]
        assert!(Confinement::of(u32::MAX).more_than(&mine).is_some());
    }
}
