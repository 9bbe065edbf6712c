//! The loop: one agent, from its first prompt to its end, with every event.
//!
//! ```text
//! SessionStart → Setup → phase → UserPromptSubmit
//!   → [over budget: PreCompact → compact → SessionStart(compact)]
//!   → PreMessage → model → PostMessage
//!   → for each tool call: PreToolUse → permission → run → PostToolUse | PostToolUseFailure
//!   → … → Stop (may resume) → phase → SessionEnd
//! ```
//!
//! Input: a prompt. Output: an [`End`]. An [`Actor`] is one agent; the main agent and every subagent run the
//! same code. A denial becomes a result that the model sees with its reason; a halt stops the loop.

mod actor;
mod compact;
mod end;
mod events;
mod fire;
mod interrupt;
mod parts;
mod permit;
mod person;
mod setup;
mod spawn;
mod team;
mod tools;
mod turn;
mod witness;
mod write;

pub use actor::Actor;
pub use end::End;
pub use events::EVENTS;
pub use interrupt::Interrupt;
pub use parts::{AgentHooks, Parts, Settings};
pub use person::{Person, Question};
pub use team::{Member, Task, TaskEnd, TeamEnd};
pub use witness::{Fired, Recording, Witness};

/// The id of the main agent.
pub const MAIN: &str = "main";
