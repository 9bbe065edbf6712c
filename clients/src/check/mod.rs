//! Scenarios of one run each, and the expected observations.

mod claude;
mod cline;
mod codex;
mod copilot;
mod droid;
mod edge;
mod expect;
mod gemini;
mod opencode;
mod qwen;
mod scenario;
mod shared;
mod trust;

pub(crate) use claude::claude;
pub(crate) use cline::cline;
pub(crate) use codex::codex;
pub(crate) use copilot::copilot;
pub(crate) use droid::droid;
pub(crate) use gemini::gemini;
pub(crate) use opencode::opencode;
pub(crate) use qwen::qwen;
pub(crate) use scenario::{Check, Scenario, Verdict};
