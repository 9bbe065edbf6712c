//! File patterns of `trust:`: `*` and `?` match within a name, `**` across folders.

use std::fs;
use std::path::{Path, PathBuf};

/// The most files that are looked at for one pattern.
const MOST: usize = 100_000;

/// The files below a folder that a pattern matches.
///
/// # Errors
/// When there are too many to look at.
pub(crate) fn files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    // Search only below the folders that the pattern names literally.
    let fixed = plain.split('/').take_while(|part| !part.contains(['*', '?']));
    let start = fixed.fold(folder.to_owned(), |path, part| path.join(part));
    let mut found = Vec::new();
    if start.is_file() {
        found.push(start);
        return Ok(found);
    }
    let is_deep = plain.contains("**") || !plain.contains(['*', '?']);
    let depth = if is_deep { usize::MAX } else { plain.split('/').count() };
    let (mut folders, mut seen) = (vec![start], 0_usize);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST {
                return Err(format!("`trust: {pattern}`: there are too many files to check"));
            }
            let path = entry.path();
            let from_here = path.strip_prefix(folder).unwrap_or(&path);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name() != ".git" && from_here.components().count() < depth {
                    folders.push(path);
                }
            } else if fits(pattern, &from_here.to_string_lossy()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a path, relative to the folder of the pattern, matches it.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts(&pattern, &path)
}

fn parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        // A pattern that matches a folder covers everything in it.
        ([], _) => true,
        (["**", rest @ ..], _) => {
            (!rest.is_empty() || !path.is_empty()) && (0..=path.len()).any(|skip| parts(rest, &path[skip..]))
        }
        (_, []) => false,
        ([first, rest @ ..], [name, more @ ..]) => {
            part(first.as_bytes(), name.as_bytes()) && parts(rest, more)
        }
    }
}

fn part(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => part(rest, name) || (!name.is_empty() && part(pattern, &name[1..])),
        ([b'?', rest @ ..], [_, more @ ..]) => part(rest, more),
        ([a, rest @ ..], [b, more @ ..]) if a == b => part(rest, more),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        for (pattern, path) in [
            ("lib/*.py", "lib/a.py"),
            ("**/*.py", "a.py"),
            ("**/*.py", "x/y/a.py"),
            ("lib", "lib/x/y"),
            ("./a?c", "abc"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [("lib/*.py", "lib/x/a.py"), ("*.py", "x/a.py"), ("lib", "library"), ("a", "")]
        {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
    }
}
