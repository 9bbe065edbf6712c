//! How everything is measured: interleaved rounds, medians, and confidence intervals.
//!
//! Input: cases (closures that do the work once and return how long it took). Output: samples, and from them
//! numbers with a 95 % interval. Nothing here knows what is measured.

mod quiet;
mod random;
mod rounds;
mod statistic;

pub(crate) use random::Random;
pub(crate) use rounds::{Budget, CaseId, Group, Samples, clock};
pub(crate) use statistic::{Interval, median, percentile};
