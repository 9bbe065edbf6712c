//! Translates between agents and Crosier: what agents send to their hooks, and the replies that they accept.
//!
//! An event of an agent goes through here twice:
//!
//! - [`read`](mod@read): the agent's bytes → a [`Call`]: one event in the vocabulary of Crosier, or one per part when a
//!   call has several (a patch with its files, a list of commands). The agent's own words stay under `host`.
//! - [`Call::verdict`] and [`Call::answer`]: the outcomes → an [`Answer`]: exactly the stdout, stderr and exit status
//!   that the agent takes for them.
//!
//! The differences between agents are data: one file each in [`agent`], one table each ([`table::Agent`]). The code
//! that reads and answers is the same for all agents. Nothing here does I/O, and no input makes a function panic.
#![forbid(unsafe_code)]

pub mod agent;
mod compose;
pub mod import;
mod json;
pub mod page;
pub mod patch;
pub mod read;
pub mod rows;
pub mod say;
pub mod table;

pub use agent::{ALL, find};
pub use compose::compose;
pub use read::{Call, Read, Unreadable, read};
pub use rows::catalog;
pub use say::{Answer, PersonMessage, Verdict, closed, is_denied_when_closed};
