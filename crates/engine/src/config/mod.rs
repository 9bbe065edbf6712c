//! Configuration: text → checked hooks with positions.
//!
//! In come YAML or JSON files (and `.arma` scripts that they name); out goes a [`Config`]: hooks and scopes
//! that a builder takes, or *all* problems at once, each with its place and a remedy. One bad file loads
//! nothing. Inside `hooks` sections every unknown key is an error; outside them keys belong to somebody
//! else. Nothing here runs a hook: script lines and test replies become callbacks, commands stay data.

mod agents;
mod builtin;
mod command;
mod hook;
pub mod keys;
mod lint;
mod loader;
mod names;
mod python;
mod reply;
mod script;
mod section;
pub mod tree;
mod value;

pub use builtin::{Builtin, BuiltinOption, BuiltinRequest};
pub use loader::{AgentConfig, Config, Loader};
pub use names::Named;
pub use script::{Argument, Complaint, SlashCommand, takes};
