//! Which configuration files are in force, and in which order.
//!
//! [`Layers::discover`] looks for the files of the four layers: managed, user, project and local. It reads no
//! environment: the host says where to look ([`Places`]). It returns the files that are in force, in order of
//! precedence, and those that were refused, with the reason. [`Layers::load`] turns them into one configuration per
//! layer, which `Builder::layer` takes.
//!
//! A file is opened once, so that the owner and mode that were checked belong to the bytes that are loaded.
#![forbid(unsafe_code)]

mod discover;
mod group;
mod load;
mod owner;
mod project;
mod referenced;

pub use discover::{FILE, LOCAL_FILE, LayerFile, Layers, Places, RefusedFile, is_in_project, real};
pub use owner::{Person, read_own};
pub use project::project_folders;
