//! The policy in force for one project, as a value: layers, trust, the self-guard, and what a person switched off.
//!
//! Every command that decides about events begins with [`in_force`]. It reads no environment variables: the host passes
//! Crosier's folders ([`Homes`]) and the project folder ([`Request`]).
#![forbid(unsafe_code)]

mod closed;
mod foreign;
mod in_force;
mod inspection;
mod loader;
mod reply;
mod request;
pub mod show;
mod state;
mod switch;
pub mod trust;

pub use closed::{Closed, Fault, is_told_when_closed};
pub use crosier_layers::{Person, real};
pub use in_force::{Loaded, Notice, Notices, Policy, in_force, in_force_in};
pub use inspection::{Inspection, inspect, switches};
pub use loader::{catalog, loader};
pub use reply::ReplyType;
pub use request::{Homes, Request, SelfGuard, Venvs};
pub use state::{StateFolder, lock_file, read_file, state_folder};
pub use switch::{Switch, SwitchResult, Switches, owner, shown};
