//! The table of events, and the types of its rows.
//!
//! Parsing, capabilities, documentation and schemas are all derived from it. To add an event, add one row to
//! [`TABLE`] and one block to [`crate::payload`].

mod catalog;
mod intern;
mod row;
mod table;

pub use catalog::{Catalog, ResolvedName};
pub use intern::{intern, intern_fields};
pub use row::{Capabilities, Capability, EventKind, EventRow, Example, Field, FieldKind, Phase};
pub use table::TABLE;
pub(crate) use table::built_in_row;
