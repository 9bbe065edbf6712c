//! The search path of hooks: no program of the project runs because of its name.
//!
//! A repository can make its agent set `PATH`. Then `grep` in a person's own hook, or `python3`, would be a file of the
//! repository that nobody has reviewed. So folders of the project are left out, except virtual environments that a person
//! trusted.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crosier::{Handler, Layer};
use crosier_policy::{Loaded, Request};

/// Folders that only the system's administrator can change, as a rule: links in them are not followed.
const OF_THE_SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/opt", "/nix", "/snap"];

/// The variables for hooks, with a `PATH` in which nothing belongs to the project. Files that a person named with `-c`
/// run as that person's shell would run them.
pub(crate) fn without_project(
    mut variables: Vec<(OsString, OsString)>,
    request: &Request,
    loaded: &Loaded,
) -> Vec<(OsString, OsString)> {
    let mut hooks = loaded.layers.iter().flat_map(|(_, config)| &config.hooks);
    let starts_programs =
        hooks.any(|hook| matches!(hook.handler(), Handler::Command(_) | Handler::Python(_)));
    if request.named.is_empty()
        && starts_programs
        && let Some((_, path)) = variables.iter_mut().find(|(name, _)| name == "PATH")
        && let Some(less) = filtered(path, request, loaded)
    {
        *path = less;
    }
    variables
}

/// The search path without the folders of the project; `None` if it has none.
fn filtered(path: &OsStr, request: &Request, loaded: &Loaded) -> Option<OsString> {
    let roots: Vec<PathBuf> = std::iter::once(&request.project)
        .chain(&request.also)
        .filter_map(|folder| root_of(folder, request))
        .collect();
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let real = |folder: &PathBuf| match OF_THE_SYSTEM.iter().any(|system| folder.starts_with(system)) {
        true => folder.clone(),
        false => std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone()),
    };
    let is_inside = |folder: &PathBuf| {
        let real = real(folder);
        roots.iter().any(|root| folder.starts_with(root) || real.starts_with(root))
    };
    if !folders.iter().any(is_inside) {
        return None;
    }
    let trusted = loaded.sources(Layer::Project(0)).map(|sources| sources.python().units).unwrap_or_default();
    let is_trusted = |folder: &PathBuf| trusted.iter().any(|unit| folder.starts_with(unit));
    let kept = folders.iter().filter(|folder| !is_inside(folder) || is_trusted(folder));
    std::env::join_paths(kept).ok()
}

/// The repository that a project folder is in, or else the folder. `None` if it is the home folder, or above it: a
/// person's own programs are there.
fn root_of(project: &Path, request: &Request) -> Option<PathBuf> {
    let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let root = real.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&real).to_owned();
    let holds = |folder: &PathBuf| folder.starts_with(&root);
    (root.parent().is_some() && !request.homes.home.as_ref().is_some_and(holds)).then_some(root)
}
