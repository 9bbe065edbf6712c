//! A loader that knows everything that a configuration may name.

use crosier::Catalog;
use crosier::config::Loader;
use crosier_builtins::OwnFiles;

use crate::reply::ReplyType;
use crate::request::Homes;

/// Every event: the built-in ones, and those that only some agents have.
#[must_use]
pub fn catalog() -> Catalog {
    crosier_dialect::catalog()
}

/// A loader that knows every event, built-in hook and pack.
pub fn loader(homes: &Homes) -> Loader {
    loader_with(homes, OwnFiles::default())
}

/// Like [`loader`], with files and folders that no tool may change.
pub(crate) fn loader_with(homes: &Homes, own_files: OwnFiles) -> Loader {
    // Registering is cheap: a built-in reads its data and compiles its patterns only when a hook names it.
    let mut host = crosier_builtins::Host::default();
    host.state_folder.clone_from(&homes.state);
    host.own_files = own_files;
    host.home.clone_from(&homes.home);
    host.own_folders.extend(homes.config.clone());
    crosier_builtins::register_for(Loader::new(catalog()), &host).hook_type(ReplyType)
}
