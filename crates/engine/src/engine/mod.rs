//! The engine: the only place that sees more than two rooms.

mod builder;
mod fire;
mod scope;
mod walk;
#[cfg(feature = "python")]
mod warm;

pub use builder::Builder;
pub use fire::Engine;
pub use scope::{Scope, ScopeHandle};
