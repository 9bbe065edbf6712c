//! The one table of events, and what its rows are made of.
//!
//! Everything that knows an event by name reads it here: parsing, capabilities, documentation, schemas.
//! Adding an event is one row in [`TABLE`] and one block in [`crate::payload`].

mod catalog;
mod intern;
mod row;
mod table;

pub use catalog::{Catalog, ResolvedName};
pub use intern::{intern, intern_fields};
pub use row::{Capabilities, Capability, EventRow, Example, Field, FieldKind, Kind, Phase};
pub use table::TABLE;
pub(crate) use table::core_row;
