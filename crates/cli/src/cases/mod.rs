//! Cases: behaviour as data. A configuration, an event, and the expected outcome.
//!
//! It reads case files and makes a [`Verdict`] per case. Only what a case names is compared. The same runner
//! serves the project's own cases and users' own hooks. All mistakes in a file are found before the first
//! case runs.

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
