//! The engine: the only module that uses more than two of the others.

mod builder;
mod fire;
mod scope;
mod walk;
#[cfg(feature = "python")]
mod warm;

pub use builder::Builder;
pub use fire::Engine;
pub use scope::{Scope, ScopeHandle};
