//! Cases: behaviour as data. A config, an event, and what is expected of the outcome.
//!
//! In come case files; out goes a [`Verdict`] per case. Only what a case names is compared. The same runner
//! serves the project's own corpus and users' own hooks. Everything that is wrong with a file is found
//! before the first case runs.

mod compare;
mod diff;
mod expect;
mod filter;
mod model;
mod runner;

pub(crate) use compare::{Difference, derived, differences};
pub(crate) use diff::describe;
pub(crate) use filter::Filter;
pub(crate) use model::{Case, load, read};
pub(crate) use runner::{Verdict, default_jobs, run_all};
