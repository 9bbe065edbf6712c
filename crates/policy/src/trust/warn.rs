//! Files that a recorded script runs and that are not recorded.

use std::path::{Path, PathBuf};

use crosier_builtins::shell::{Script, base_name};

use super::collect::{self, Collected};
use super::stamp;
use crate::request::Homes;

/// Files of the project that recorded shell scripts source or run, and that are not recorded, as pairs of script and
/// file. Nothing is run.
#[must_use]
pub fn unrecorded(folder: &Path, homes: &Homes) -> Vec<(PathBuf, PathBuf)> {
    let Ok(collected) = collect::collect(folder, homes) else { return Vec::new() };
    let mut found = Vec::new();
    for file in &collected.files {
        let path = folder.join(&file.path);
        let Some(bytes) = collected.contents.get(&file.path) else { continue };
        if !is_shell(&path, bytes) {
            continue;
        }
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        for command in &Script::parse(text).commands {
            let words: Vec<&str> = command.words.iter().filter_map(|word| word.known()).collect();
            let named = match words.as_slice() {
                ["." | "source", file, ..] => Some(*file),
                [program, file, ..]
                    if matches!(
                        base_name(program),
                        "sh" | "bash" | "dash" | "zsh" | "python3" | "python" | "node"
                    ) =>
                {
                    Some(*file)
                }
                [program, ..] if program.contains('/') => Some(*program),
                _ => None,
            };
            let Some(named) = named.filter(|named| !named.starts_with('-')) else { continue };
            // A hook's script runs in the folder of its configuration.
            let beside = path.parent().map(|folder| folder.join(named));
            let target =
                [Some(folder.join(named)), beside].into_iter().flatten().find(|target| target.is_file());
            let Some(target) = target.map(|target| collect::clean(&target)) else { continue };
            let is_inside = target.starts_with(collect::root_of(folder, homes.home.as_deref()));
            if is_inside
                && !is_recorded(&collected, folder, &target)
                && !found.contains(&(path.clone(), target.clone()))
            {
                found.push((path.clone(), target));
            }
        }
    }
    found
}

fn is_recorded(collected: &Collected, folder: &Path, target: &Path) -> bool {
    let is_it = |path: &Path| {
        path == target
            || stamp::find(path).ok().flatten().map(|found| found.stamp)
                == stamp::find(target).ok().flatten().map(|found| found.stamp)
    };
    collected.files.iter().any(|file| is_it(&collect::clean(&folder.join(&file.path))))
}

fn is_shell(path: &Path, bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let names_shell = first.starts_with("#!") && (first.ends_with("sh") || first.contains("sh "));
    names_shell || path.extension().is_some_and(|end| end == "sh" || end == "bash")
}
