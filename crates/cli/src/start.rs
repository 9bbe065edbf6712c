//! The entry point of the program, on Linux with glibc.
//!
//! Before `main`, the standard library determines the end of the stack, to report an overflow. For that, the C library
//! reads the memory map of the process, which takes longer than reading a configuration. The arguments are available
//! without it. So the program has its own `main`, and does the rest of that setup itself: it opens standard streams
//! that are closed, and makes writing to a closed pipe an error that does not kill the process. A stack overflow still
//! ends the process; only the message about it is missing.

use std::ffi::{c_char, c_int};
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, IntoRawFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio;

#[unsafe(no_mangle)]
#[expect(
    unsafe_code,
    reason = "there is only one `main`, and this is it; no safe wrapper sets a handler without more"
)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    [stdio::stdin(), stdio::stdout(), stdio::stderr()].into_iter().for_each(open_if_closed);
    // Without this, writing to a closed pipe would kill the process instead of returning an error. Programs do not inherit
    // a function, as they would inherit that the signal is ignored.
    // SAFETY: the function does nothing, which is safe at any time.
    unsafe { libc::signal(libc::SIGPIPE, ignore as extern "C" fn(c_int) as libc::sighandler_t) };
    let status = crate::program();
    let _ = io::stdout().flush();
    status.into()
}

extern "C" fn ignore(_signal: c_int) {}

/// Opens a closed standard stream; otherwise the next file that is opened would get its number, and be written to.
fn open_if_closed(stream: BorrowedFd<'_>) {
    if fcntl_getfd(stream) == Err(Errno::BADF)
        && let Ok(null) = open("/dev/null", OFlags::RDWR, Mode::empty())
    {
        // It gets the lowest free number, which is that of the stream.
        let _ = null.into_raw_fd();
    }
}
