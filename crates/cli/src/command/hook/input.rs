//! Reads what an agent sends.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use crosier_dialect::table::Agent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long to wait for more input after what looks like a whole event: some agents leave stdin open.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// Some agents send it in front of the event, even twice.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The maximum number of bytes that one event may have.
const MAX: usize = 256 << 20;

/// All of stdin: to its end, or to the end of one object after which nothing comes.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::with_capacity(8 * 1024);
    // Small, because most events are small, and every page of memory that is touched takes time.
    let mut piece = [0; 8 * 1024];
    loop {
        // What was read is looked at only when nothing more is there: looking at it after every piece of a large event
        // would take longer than the agent waits.
        let is_silent = !input.is_empty() && !is_ready(&stdin, Duration::ZERO)?;
        if is_silent && looks_whole(&input) && !is_ready(&stdin, QUIET_PERIOD)? {
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
    let mut input = input.trim_ascii();
    while let Some(rest) = input.strip_prefix(BYTE_ORDER_MARK) {
        input = rest;
    }
    input.ends_with(b"}") && serde_json::from_slice::<&serde_json::value::RawValue>(input).is_ok()
}

fn is_ready(stdin: &impl AsFd, within: Duration) -> io::Result<bool> {
    let mut one = [PollFd::new(stdin, PollFlags::IN)];
    let wait = Timespec::try_from(within).ok();
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
    crosier_dialect::ALL.iter().copied().find(|agent| agent.marker_fields.iter().any(|sign| says(sign)))
}
