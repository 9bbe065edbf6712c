//! Trust: code of a repository runs only after a person has approved it, and only while it is unchanged.
//!
//! A folder with a configuration is in one of three states. *Never trusted*: its hooks do not run. *Trusted*: the files
//! it runs are as recorded. *Closed*: it was trusted and has changed, or its record cannot be relied on; then
//! actions are denied.

mod collect;
mod compare;
mod diff;
mod glob;
mod lines;
mod project;
mod record;
mod review;
mod stamp;
mod trusted_folders;
mod unrecorded;

pub(crate) use collect::root_of;
pub(crate) use project::{Project, Trusted, project};
pub use project::{TrustState, configured, recorded, trust_states};
pub use review::{Change, HookLine, ListedProject, Review, Reviewed, list, review, revoke};
pub use unrecorded::unrecorded;
