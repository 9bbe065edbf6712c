//! The lines that call Crosier, in the configuration of AI agents.
//!
//! - [`table`]: where each agent keeps its configuration, in which form, and what an entry looks like.
//! - [`plan`]: what would change in which file, as a value that can be shown; nothing is written yet.
//! - [`Store`]: does what a plan says, and remembers in the state folder what the files were before.
//! - [`look`]: what is installed, whether it is up to date, and what keeps the agent from using it.
//!
//! A file is edited in its own form: what is not Crosier's stays byte for byte, comments and order included. A file
//! that cannot be read is refused and left as it is. Nothing here reads the environment or prints.
#![forbid(unsafe_code)]

pub mod codex;
pub mod detect;
mod diff;
mod file;
pub mod json;
pub mod line;
pub mod look;
mod obstacle;
pub mod plan;
pub mod project;
mod record;
pub mod table;
pub mod toml;

pub use diff::diff;
pub use line::Program;
pub use plan::{Change, Plan, Refused, Scope};
pub use record::{Lock, Store};
pub use table::{Places, Row};
