//! Where the program begins, on Linux with glibc.
//!
//! Before `main`, the standard library finds out where the stack ends, to say so when it overflows. For that it has
//! the C library read the memory map of the process, which takes longer than reading a configuration. The arguments
//! are there without it. So the program begins here, and does itself what everything else relies on: no standard
//! stream is closed, and a pipe that nobody reads is an error and not the end. A stack that overflows still ends the
//! process; only the message about it is missing.

use std::ffi::{c_char, c_int};
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio;

#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "there is one `main`, and this is it")]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    [stdio::stdin(), stdio::stdout(), stdio::stderr()].into_iter().for_each(open_if_closed);
    // Without this, writing to a closed pipe would kill the process instead of returning an error. Hooks do not inherit
    // it.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::default());
    let status = crate::program();
    let _ = io::stdout().flush();
    status.into()
}

/// Otherwise the next file that is opened would get the stream's number, and be written to.
fn open_if_closed(stream: BorrowedFd<'_>) {
    if fcntl_getfd(stream) == Err(Errno::BADF)
        && let Ok(null) = open("/dev/null", OFlags::RDWR, Mode::empty())
    {
        // It has the lowest number that is free: that of the stream.
        let _ = null.into_raw_fd();
    }
}
