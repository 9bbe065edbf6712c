//! Appends messages about running hooks to a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{self, TryRecvError};
use std::time::Duration;

use crosier::{Engine, Listener, Outcome, Received};

use crate::exit::{Exit, Failed};

/// The maximum number of messages that can wait to be written.
const CAPACITY: usize = 16 * 1024;

/// Runs a fire while its messages are appended to a file, which all events of a session can share.
pub(super) fn to_file(
    engine: &Engine,
    path: &Path,
    fire: impl FnOnce() -> Outcome,
) -> Result<Outcome, Failed> {
    let cannot = |error| {
        Failed::new(Exit::Failed, format!("messages cannot be written to {}: {error}", path.display()))
    };
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(cannot)?;
    let listener = engine.subscribe(CAPACITY);
    let (outcome, written) = std::thread::scope(|scope| {
        let (over, is_over) = mpsc::sync_channel::<()>(0);
        let writer = scope.spawn(move || {
            // The sender is dropped when the fire is over; what is queued by then is still written.
            while matches!(is_over.try_recv(), Err(TryRecvError::Empty)) {
                write(&mut file, listener.next_within(Duration::from_millis(5)))?;
            }
            drain(&mut file, &listener)
        });
        let outcome = fire();
        drop(over);
        (outcome, writer.join())
    });
    match written {
        Ok(Ok(())) => Ok(outcome),
        Ok(Err(error)) => Err(cannot(error)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn drain(file: &mut File, listener: &Listener) -> io::Result<()> {
    while let Some(received) = listener.try_next() {
        write(file, Some(received))?;
    }
    Ok(())
}

fn write(file: &mut File, received: Option<Received>) -> io::Result<()> {
    let line = match received {
        None => return Ok(()),
        Some(Received::Message(message)) => serde_json::to_string(&message)?,
        Some(Received::Missed(count)) => {
            format!("{{\"type\":\"system\",\"subtype\":\"hook_messages_missed\",\"count\":{count}}}")
        }
    };
    // One write per line, because others may append to the same file.
    file.write_all(format!("{line}\n").as_bytes())
}
