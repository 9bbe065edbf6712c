//! Folds the answers of hooks into one outcome. The only module that knows what a decision means.
//!
//! Input: answers, one by one and in plan order. Output: an [`Outcome`]. Pure: no clock, no runtime, and the
//! same answers in the same order give the same outcome. An effect that the event does not allow is never
//! applied, and is listed in the report. Nothing undoes a deny.

mod applied;
mod effect;
mod policy;
mod role;
mod settle;

pub(crate) use settle::Fold;
