//! Replaces `processes` if the library is built without the feature `process`: there is nothing to stop.

use std::io;
use std::os::fd::OwnedFd;

#[derive(Debug, Default)]
pub(crate) struct Processes;

impl Processes {
    pub(crate) fn shut_down(&self) {}

    pub(crate) fn running_processes(&self) -> usize {
        0
    }

    pub(crate) fn shutdown_handle(&self) -> io::Result<OwnedFd> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this library was built without command hooks"))
    }
}
