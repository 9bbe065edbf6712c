//! Cases: behaviour as data. A config, an event, and what is expected of the outcome.
//!
//! In come case files; out goes a [`Verdict`] per case. Only what a case names is compared. The same runner
//! serves the project's own corpus and users' own hooks.

mod compare;
mod filter;
mod model;
mod runner;

pub(crate) use filter::Filter;
pub(crate) use model::{Case, load};
pub(crate) use runner::{Verdict, describe, run_all};
