//! Runs an agent: installs it, makes a home for it, starts it with a time limit, and collects what was observed.

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
