//! How everything is measured: interleaved rounds, medians, and an interval that says how sure we are.
//!
//! In come cases (closures that do the work once and say how long it took); out go samples, and from them
//! numbers with a 95 % interval. Nothing here knows what is measured.

mod quiet;
mod random;
mod rounds;
mod statistic;

pub(crate) use random::Random;
pub(crate) use rounds::{Budget, CaseId, Group, Samples, clock};
pub(crate) use statistic::{Interval, median, percentile};
