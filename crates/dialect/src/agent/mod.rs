//! The agents, one file each.

mod claude;
mod codex;
mod gemini;
mod shape;

use crate::table::Agent;

/// Every agent that is known, in the order of the documentation.
pub static ALL: &[&Agent] = &[&claude::CLAUDE, &codex::CODEX, &gemini::GEMINI];

/// The agent of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Agent> {
    ALL.iter().copied().find(|agent| agent.name == name)
}
