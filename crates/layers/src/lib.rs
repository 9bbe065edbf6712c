//! Which configuration files are in force, and in which order.
//!
//! [`Layers::discover`] looks for the files of the four layers: managed, user, project and local. It reads no
//! environment: the host says where to look ([`Places`]). What it returns is a value that says which files there are, in
//! the order in which they hold, and which were refused and why. [`Layers::load`] turns them into one configuration per
//! layer, which `Builder::layer` takes.
//!
//! A file is opened once: its owner and mode are those of the bytes that are loaded, whatever is put in its place later.
#![forbid(unsafe_code)]

mod discover;
mod load;
mod owner;
mod project;

pub use discover::{LayerFile, Layers, Places, RefusedFile};
pub use owner::Person;
