//! The entries that call Crosier, in the configuration of AI agents.
//!
//! - [`table`]: where each agent keeps its configuration, in which form, and what an entry looks like.
//! - [`plan`]: what would change in which file, as a value that can be shown; nothing is written yet.
//! - [`Store`]: applies a plan, and keeps the previous content of the files in the state folder.
//! - [`installed`]: what is installed, whether it is up to date, and what keeps the agent from using it.
//!
//! Files are edited in place: what is not Crosier's stays byte for byte, including comments and order. A file
//! that cannot be read is refused and not changed. Nothing here reads the environment or prints.
#![forbid(unsafe_code)]

pub mod codex;
pub mod detect;
mod diff;
mod file;
pub mod installed;
pub mod json;
pub mod line;
mod obstacle;
pub mod places;
pub mod plan;
pub mod project;
mod record;
pub mod table;
pub mod toml;

pub use diff::diff;
pub use line::Program;
pub use places::Places;
pub use plan::{Change, Plan, Refused, Scope};
pub use record::{Lock, Store};
pub use table::Row;
