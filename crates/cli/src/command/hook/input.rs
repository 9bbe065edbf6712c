//! Reads what an agent sends.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use crosier_dialect::table::Agent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long to wait for more input after what looks like a whole event: some agents leave stdin open.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// The maximum number of bytes that one event may have.
/// Reads stdin to its end, or until one whole object was read and nothing follows.
const MAX: usize = 256 << 20;

/// All of stdin: to its end, or to the end of one object after which nothing comes.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::with_capacity(8 * 1024);
    // Small, because most events are small, and every page of memory that is touched takes time.
    let mut piece = [0; 8 * 1024];
    loop {
        if looks_whole(&input) && !is_ready(&stdin)? {
            return Ok(input);
        }
        match stdin.read(&mut piece) {
            Ok(0) => return Ok(input),
            Ok(read) => input.extend_from_slice(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if input.len() > MAX {
            return Err(io::Error::other("it is too large"));
        }
    }
}

/// Whether the bytes may be one object. Cheap if they are not, or not yet.
fn looks_whole(input: &[u8]) -> bool {
    input.trim_ascii_end().ends_with(b"}")
        && serde_json::from_slice::<&serde_json::value::RawValue>(input.trim_ascii()).is_ok()
}

fn is_ready(stdin: &impl AsFd) -> io::Result<bool> {
    let mut one = [PollFd::new(stdin, PollFlags::IN)];
    let wait = Timespec::try_from(QUIET_PERIOD).ok();
    match poll(&mut one, wait.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Guesses the agent from its event, when the command line does not name a known agent.
pub(super) fn guess(bytes: &[u8]) -> Option<&'static Agent> {
    let text = String::from_utf8_lossy(bytes);
    let says = |name: &str| text.contains(&format!("\"{name}\""));
    crosier_dialect::ALL.iter().copied().find(|agent| agent.signs.iter().any(|sign| says(sign)))
}
