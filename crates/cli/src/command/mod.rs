//! The commands, one file each.

pub(crate) mod events;
pub(crate) mod fire;
pub(crate) mod test;
