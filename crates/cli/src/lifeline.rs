//! Kills hooks when the program dies, even by SIGKILL.
//!
//! Nothing of ours runs after SIGKILL, so the kernel has to do it. The usual way, a parent-death signal, must be set by
//! the child before it becomes the hook, and for that the program would have to be forked: half as dear again as the
//! start of a hook. Instead there is a pipe for each hook that nobody reads or writes. Each end asks for a signal to
//! the hook's process group when something happens at the other one, and the signal is SIGKILL. When we die the kernel
//! closes both; the end that is closed first is what happens to the other. A hook that ends by itself is let go of
//! first.
//!
//! Promised on Linux: when the program dies, by whatever cause, the processes in the groups of running hooks and of
//! Python workers are killed. Not promised: a hook that was started so short a time ago that the program has not run
//! since (some microseconds on an idle machine), a process that left its group (`setsid`), one that runs as another
//! user. Elsewhere nothing is promised: a hook runs on to its end, and an idle Python worker ends because its input
//! does.

use crosier::Builder;

/// Has the hooks of this engine killed when the program dies.
#[cfg(target_os = "linux")]
pub(crate) fn tie(builder: Builder) -> Builder {
    builder.process_guard(|process| linux::Lifeline::new(process).ok())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn tie(builder: Builder) -> Builder {
    builder
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};

    use rustix::pipe::{PipeFlags, pipe_with};

    /// Which signal is sent; the same number wherever Rust runs on Linux. The C library's crate does not have it.
    const F_SETSIG: i32 = 10;

    /// A pipe whose ends, when one of them is closed, have a process group killed. Dropped, it does not.
    #[derive(Debug)]
    pub(super) struct Lifeline {
        ends: [OwnedFd; 2],
    }

    impl Lifeline {
        /// Ties the process group of this leader to our life.
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
            // Before the ends are closed, or children that the hook left behind would be killed.
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
