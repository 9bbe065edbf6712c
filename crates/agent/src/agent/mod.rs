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
mod listener;
mod permit;
mod person;
mod session_context;
mod setup;
mod spawn;
mod team;
mod tools;
mod turn;
mod write;

pub use actor::Actor;
pub use end::End;
pub use events::EVENTS;
pub use interrupt::Interrupt;
pub use listener::{FireRecorder, Fired, SessionListener};
pub use person::{Person, Question};
pub use session_context::{AgentHooks, SessionContext, Settings};
pub use team::{Member, Task, TaskEnd, TeamEnd};

/// The id of the main agent.
pub const MAIN: &str = "main";
