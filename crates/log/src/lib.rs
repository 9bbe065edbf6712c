//! The log of what hooks decided: one line of JSON for every event that was fired.
//!
//! - [`Record`]: what is stored about one event, with secrets masked and every text bounded.
//! - [`Log`]: where records are appended (by many processes at once) and read.
//! - [`StoredEvent`]: whole events that were denied or asked, from which test cases can be made.
//! - [`Filter`], [`Stats`], [`Follow`]: ways to read it.
//!
//! No decision depends on the log: callers ignore a record that cannot be written. Nothing here
//! prints, reads the environment or follows a symbolic link in the log's own folder.
#![forbid(unsafe_code)]

mod filter;
mod follow;
mod lines;
mod log;
mod needed;
mod record;
mod short;
mod since;
mod stats;
mod stored_event;

pub use filter::Filter;
pub use follow::Follow;
pub use log::Log;
pub use record::{FailureNote, HookTime, Record, RecordKind};
pub use short::short_input;
pub use since::{SinceError, since};
pub use stats::{DenialCount, FailureCount, HookCount, Stats};
pub use stored_event::StoredEvent;
