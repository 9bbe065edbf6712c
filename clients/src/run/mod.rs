//! Starts an agent and sees what happens: install, a home of its own, a process with a time limit, what was seen.

mod home;
mod install;
mod processes;
mod seen;
mod start;

pub(crate) use home::{Home, Hook};
pub(crate) use install::{Installed, Missing, install};
pub(crate) use processes::Ended;
pub(crate) use seen::Seen;
pub(crate) use start::{Case, start};
