//! Kills hooks when the program dies, even by SIGKILL.
//!
//! Nothing in this process runs after SIGKILL, so the kernel has to do it. The usual way, a parent-death signal, must
//! be set in the child before it executes the hook. That requires a fork, which costs half as much again as starting a
//! hook. Instead, there is a pipe for each hook that is never read or written. Each end is set up to send a signal to
//! the hook's process group when something happens at the other end, and the signal is SIGKILL. When this process dies,
//! the kernel closes both ends; closing the first one triggers the signal of the other. When a hook ends by itself, the
//! signals are switched off before the pipe is closed.
//!
//! Guaranteed on Linux: when the program dies, for any reason, the processes in the groups of running hooks and of
//! Python workers are killed. Not guaranteed for: a hook that was started only microseconds earlier, before the program
//! could set up its pipe; a process that left its group (`setsid`); one that runs as another user. On other systems
//! nothing is guaranteed: a hook runs to its end, and an idle Python worker ends because its input is closed.

use crosier::Builder;

/// Makes the kernel kill the hooks of this engine when the program dies.
#[cfg(target_os = "linux")]
pub(crate) fn kill_hooks_on_death(builder: Builder) -> Builder {
    builder.process_guard(|process| linux::Lifeline::new(process).ok())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_hooks_on_death(builder: Builder) -> Builder {
    builder
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};

    use rustix::pipe::{PipeFlags, pipe_with};

    /// Sets which signal is sent; the number is the same on all Linux targets of Rust. The `libc` crate does not have
    /// it.
    const F_SETSIG: i32 = 10;

    /// A pipe that kills a process group when it is closed by the end of this process, but not when it is dropped.
    #[derive(Debug)]
    pub(super) struct Lifeline {
        ends: [OwnedFd; 2],
    }

    impl Lifeline {
        /// Makes the kernel kill the group of this leader when this process dies.
        pub(super) fn new(leader: u32) -> io::Result<Self> {
            let group = i32::try_from(leader).map_err(io::Error::other)?;
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            let lifeline = Self { ends: [read, write] };
            for end in &lifeline.ends {
                fcntl(end, libc::F_SETOWN, -group)?;
                fcntl(end, F_SETSIG, libc::SIGKILL)?;
            }
            lifeline.set_flags(libc::O_ASYNC)?;
            Ok(lifeline)
        }

        fn set_flags(&self, flags: i32) -> io::Result<()> {
            self.ends.iter().try_for_each(|end| fcntl(end, libc::F_SETFL, flags))
        }
    }

    impl Drop for Lifeline {
        fn drop(&mut self) {
            // Before the ends are closed, because that would kill children that the hook left behind.
            let _ = self.set_flags(0);
        }
    }

    #[expect(
        unsafe_code,
        reason = "no safe wrapper has F_SETOWN and F_SETSIG; with these arguments no memory is touched"
    )]
    fn fcntl(end: &OwnedFd, what: i32, value: i32) -> io::Result<()> {
        // SAFETY: the descriptor is open, and these requests take an integer and no pointer.
        match unsafe { libc::fcntl(end.as_raw_fd(), what, value) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}
