//! Where a path leads: `.` and `..` taken out, symlinks followed. Nothing is opened.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that lead to links are followed so often.
const MOST_LINKS: usize = 40;
/// Longer paths are not looked up.
const LONGEST: usize = 8 << 10;
/// Entries that a wildcard is compared with.
const MOST_ENTRIES: usize = 20_000;

/// The folders that paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

/// A path as it is written and as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Absolute, without `.` and `..`.
    pub(crate) lexical: PathBuf,
    /// The same, with symlinks followed as far as it exists.
    pub(crate) real: PathBuf,
}

impl Places<'_> {
    /// Where this path leads.
    pub(crate) fn resolve(&self, path: &str) -> Resolved {
        let absolute = self.absolute(path);
        if absolute.as_os_str().len() > LONGEST {
            // No system opens it; its end is what it is known by.
            let lexical = shortened(lexical(&absolute));
            return Resolved { real: lexical.clone(), lexical };
        }
        let real = fs::canonicalize(&absolute).unwrap_or_else(|_| walk(&absolute, 0));
        Resolved { lexical: lexical(&absolute), real }
    }

    /// Where this path leads by its letters alone.
    pub(crate) fn lexical(&self, path: &str) -> PathBuf {
        shortened(lexical(&self.absolute(path)))
    }

    fn absolute(&self, path: &str) -> PathBuf {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let in_home = |rest: &str| {
            let home = self.home.unwrap_or(Path::new("/~"));
            home.join(rest.trim_start_matches('/'))
        };
        for prefix in ["~", "${HOME}", "$HOME"] {
            if let Some(rest) = path.strip_prefix(prefix)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return in_home(rest);
            }
        }
        self.cwd.join(path)
    }
}

/// The last names of a path that is too long.
fn shortened(path: PathBuf) -> PathBuf {
    if path.as_os_str().len() <= LONGEST {
        return path;
    }
    let names: Vec<Component<'_>> = path.components().collect();
    let from = names.len().saturating_sub(64);
    Path::new("/").join(names[from..].iter().collect::<PathBuf>())
}

/// The path without `.` and `..`, by its letters alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Follows links in a path of which the end does not exist.
fn walk(path: &Path, links: usize) -> PathBuf {
    // Most of it is there: only what is behind the longest part that is has to be looked at name by name.
    let components: Vec<Component<'_>> = path.components().collect();
    let real = |count: usize| fs::canonicalize(components[..count].iter().collect::<PathBuf>()).ok();
    let there = (1..components.len()).rev().find_map(|count| Some((count, real(count)?)));
    let (count, mut at) = there.unwrap_or_default();
    for component in &components[count..] {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            other => {
                let next = at.join(other);
                at = match fs::canonicalize(&next) {
                    Ok(real) => real,
                    // A link to something that is not there yet.
                    Err(_) => match fs::read_link(&next) {
                        Ok(target) if links < MOST_LINKS => walk(&at.join(target), links + 1),
                        _ => next,
                    },
                };
            }
        }
    }
    at
}

/// The files that a path with wildcards means now. None when there are too many to look at.
pub(crate) fn expand_glob(path: &Path) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    let mut seen = 0_usize;
    for component in path.components() {
        let name = component.as_os_str().to_string_lossy();
        if !name.contains(['*', '?']) {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        }
        let pattern = crate::token::of_wildcards(&name);
        let mut next = Vec::new();
        for folder in &found {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MOST_ENTRIES {
                    return None;
                }
                let file = entry.file_name();
                let file = file.to_string_lossy();
                let hidden = file.starts_with('.') && !name.starts_with('.');
                if !hidden && crate::token::covers(&pattern, &crate::token::of_text(&file)) {
                    next.push(entry.path());
                }
            }
        }
        found = next;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_dots_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("secret")).unwrap();
        std::os::unix::fs::symlink(root.join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("later"), root.join("dangling")).unwrap();
        let places = Places { cwd: &root, home: None };
        let real = |path: &str| places.resolve(path).real;
        assert_eq!(real("link/key"), root.join("secret/key"));
        assert_eq!(real("link/../x"), root.join("x"));
        assert_eq!(real("a/../link"), root.join("secret"));
        assert_eq!(real("dangling/y"), root.join("later/y"));
        assert_eq!(places.resolve("link/../x").lexical, root.join("x"));
        assert_eq!(places.resolve("~/x").lexical, Path::new("/~/x"));
    }

    #[test]
    fn wildcards_are_compared_with_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".env", "a.pem", "b.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = |pattern: &str| {
            let mut found = expand_glob(&folder.path().join(pattern)).unwrap();
            found.sort();
            found
                .iter()
                .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(found("*"), ["a.pem", "b.txt"]);
        assert_eq!(found(".e??"), [".env"]);
        assert_eq!(found("?.pem"), ["a.pem"]);
    }
}
