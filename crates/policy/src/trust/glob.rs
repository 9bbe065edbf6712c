//! File patterns of `trust:`: `*` and `?` match within a name, `**` across folders.

use std::fs;
use std::path::{Path, PathBuf};

/// The most files that are looked at for one pattern.
const MOST: usize = 100_000;

/// The files below a folder that a pattern matches, in order.
///
/// # Errors
/// When there are too many to look at.
pub(crate) fn files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    each_file(folder, pattern, |_| {}, |path| found.push(folder.join(path)))?;
    found.sort();
    Ok(found)
}

/// Calls `found` with every file below a folder that a pattern matches: with its path relative to the folder, in any
/// order. Before a folder is listed, `enter` is called with its path.
///
/// # Errors
/// When there are too many to look at.
pub(crate) fn each_file(
    folder: &Path,
    pattern: &str,
    mut enter: impl FnMut(&Path),
    mut found: impl FnMut(&Path),
) -> Result<(), String> {
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    // Search only below the folders that the pattern names literally.
    let fixed = plain.split('/').take_while(|part| !part.contains(['*', '?']));
    let start = fixed.fold(PathBuf::new(), |path, part| path.join(part));
    if folder.join(&start).is_file() {
        found(&start);
        return Ok(());
    }
    let is_deep = plain.contains("**") || !plain.contains(['*', '?']);
    let depth = if is_deep { usize::MAX } else { plain.split('/').count() };
    let parts = Parts::of(pattern);
    let (mut folders, mut seen) = (vec![start], 0_usize);
    while let Some(mut next) = folders.pop() {
        let depth_here = next.components().count();
        enter(&next);
        for entry in fs::read_dir(folder.join(&next)).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST {
                return Err(format!("`trust: {pattern}`: there are too many files to check"));
            }
            let name = entry.file_name();
            next.push(&name);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if name != ".git" && depth_here + 1 < depth {
                    folders.push(next.clone());
                }
            } else if parts.fit(&next.to_string_lossy()) {
                found(&next);
            }
            next.pop();
        }
    }
    Ok(())
}

/// A pattern, taken apart.
struct Parts<'a>(Vec<&'a str>);

impl<'a> Parts<'a> {
    fn of(pattern: &'a str) -> Self {
        Self(pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/').split('/').collect())
    }

    /// Whether a path, relative to the folder of the pattern, matches it.
    fn fit(&self, path: &str) -> bool {
        fit(&self.0, Some(path))
    }
}

/// Whether what is left of a path matches what is left of a pattern; `None` when nothing is left.
fn fit(pattern: &[&str], path: Option<&str>) -> bool {
    match (pattern, path) {
        // A pattern that matches a folder covers everything in it.
        ([], _) => true,
        (["**", rest @ ..], path) => {
            let tails = std::iter::successors(Some(path), |path| path.map(tail));
            (!rest.is_empty() || path.is_some()) && tails.into_iter().any(|path| fit(rest, path))
        }
        (_, None) => false,
        ([first, rest @ ..], Some(path)) => {
            let name = path.split('/').next().unwrap_or_default();
            fit_name(first.as_bytes(), name.as_bytes()) && fit(rest, tail(path))
        }
    }
}

/// A path without its first name.
fn tail(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, tail)| tail)
}

fn fit_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => fit_name(rest, name) || (!name.is_empty() && fit_name(pattern, &name[1..])),
        ([b'?', rest @ ..], [_, more @ ..]) => fit_name(rest, more),
        ([a, rest @ ..], [b, more @ ..]) if a == b => fit_name(rest, more),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn patterns() {
        for (pattern, path) in [
            ("lib/*.py", "lib/a.py"),
            ("**/*.py", "a.py"),
            ("**/*.py", "x/y/a.py"),
            ("lib", "lib/x/y"),
            ("./a?c", "abc"),
        ] {
            assert!(Parts::of(pattern).fit(path), "{pattern} {path}");
        }
        for (pattern, path) in [("lib/*.py", "lib/x/a.py"), ("*.py", "x/a.py"), ("lib", "library"), ("a", "")]
        {
            assert!(!Parts::of(pattern).fit(path), "{pattern} {path}");
        }
    }
}
