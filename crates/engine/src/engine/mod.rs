//! The engine: the only place that sees more than two rooms.

mod builder;
mod fire;
mod scope;
mod walk;

pub use builder::Builder;
pub use fire::Engine;
pub use scope::{Scope, ScopeHandle};
