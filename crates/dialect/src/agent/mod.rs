//! The agents, one file each.

mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod derived;
mod droid;
mod gemini;
mod goose;
mod kimi;
mod kiro;
mod opencode;
mod openhands;
mod qwen;
mod replies;
mod vscode;
mod windsurf;

use crate::table::Agent;

pub use opencode::plugin as opencode_plugin;

/// Every agent that is known, in the order of the documentation.
pub static ALL: &[&Agent] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &droid::DROID,
    &copilot::COPILOT,
    &cline::CLINE,
    &opencode::OPENCODE,
    &cursor::CURSOR,
    &windsurf::WINDSURF,
    &crush::CRUSH,
    &goose::GOOSE,
    &kimi::KIMI,
    &openhands::OPENHANDS,
    &kiro::KIRO,
    &vscode::VSCODE,
];

/// The agent of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Agent> {
    ALL.iter().copied().find(|agent| agent.name == name)
}
