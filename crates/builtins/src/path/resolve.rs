//! Where a path leads: `.` and `..` taken out, symlinks followed. Nothing is opened.

use std::cell::{OnceCell, RefCell};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::glob::{Case, Names};

/// How many links are followed in one path: as many as any system follows.
const MAX_LINKS: usize = 64;
/// Longer paths are not looked up on disk.
const LONGEST: usize = 8 << 10;
/// The most directory entries that a wildcard is compared with.
const MAX_ENTRIES: usize = 20_000;

/// The folders that paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

/// A path as it is written, and with links resolved.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    /// Absolute, without `.` and `..`.
    pub(crate) lexical: PathBuf,
    /// The same, with symlinks followed as far as the path exists.
    pub(crate) real: PathBuf,
    /// The names of both, when they were asked for.
    names: OnceCell<Vec<Names>>,
}

impl Resolved {
    fn new(lexical: PathBuf, real: PathBuf) -> Self {
        Self { lexical, real, names: OnceCell::new() }
    }

    /// The names of the lexical path and, if it differs, of the real path, for comparison without regard to case.
    pub(crate) fn folded(&self) -> &[Names] {
        self.names.get_or_init(|| {
            let mut names = vec![Names::new(&self.lexical, Case::Folded)];
            if self.lexical != self.real {
                names.push(Names::new(&self.real, Case::Folded));
            }
            names
        })
    }
}

/// Looks up paths for one call: a folder that many of them are in is walked once.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    folders: RefCell<Vec<(PathBuf, PathPosition)>>,
}

/// More folders than this are not remembered.
const MAX_FOLDERS: usize = 16;

impl Resolver {
    /// Where this path leads.
    pub(crate) fn resolve(&self, places: Places<'_>, path: &str) -> Resolved {
        let (folder, rest) = places.parts(path);
        let absolute = folder.join(rest);
        if absolute.as_os_str().len() > LONGEST {
            // Too long for any system to open; only its end is compared.
            let lexical = shortened(lexical(&absolute));
            return Resolved::new(lexical.clone(), lexical);
        }
        // Other systems write a name in more than one way.
        if !cfg!(target_os = "linux")
            && let Ok(real) = fs::canonicalize(&absolute)
        {
            return Resolved::new(lexical(&absolute), real);
        }
        let mut spot = self.spot(folder, rest);
        spot.follow(Path::new(rest));
        Resolved::new(lexical(&absolute), spot.real)
    }

    /// Where following a path in this folder begins.
    fn spot(&self, folder: &Path, rest: &str) -> PathPosition {
        if Path::new(rest).has_root() {
            return PathPosition::default();
        }
        let mut known = self.folders.borrow_mut();
        if let Some((_, spot)) = known.iter().find(|(other, _)| other == folder) {
            return spot.clone();
        }
        let mut spot = PathPosition::default();
        if folder.is_relative() {
            spot.real = fs::canonicalize(".").unwrap_or_default();
        }
        spot.follow(folder);
        if known.len() < MAX_FOLDERS {
            known.push((folder.to_owned(), spot.clone()));
        }
        spot
    }
}

/// A position reached while following a path.
#[derive(Debug, Clone, Default)]
struct PathPosition {
    /// Where it is, without links, `.` and `..`.
    real: PathBuf,
    /// How many names at its end do not exist: nothing below them does.
    missing: usize,
    /// How many links were followed.
    links: usize,
}

impl PathPosition {
    /// Follows a path, name by name. The end of it need not exist.
    fn follow(&mut self, path: &Path) {
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    self.real.pop();
                    self.missing = self.missing.saturating_sub(1);
                }
                Component::Normal(name) if self.missing == 0 => {
                    self.real.push(name);
                    match fs::read_link(&self.real) {
                        Ok(target) if self.links < MAX_LINKS => {
                            self.links += 1;
                            self.real.pop();
                            self.follow(&target);
                        }
                        // It is there, and no link.
                        Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                        _ => self.missing = 1,
                    }
                }
                Component::Normal(name) => {
                    self.real.push(name);
                    self.missing += 1;
                }
                Component::RootDir | Component::Prefix(_) => {
                    self.real.push(component);
                    self.missing = 0;
                }
            }
        }
    }
}

impl Places<'_> {
    /// Where this path leads.
    pub(crate) fn resolve(&self, path: &str) -> Resolved {
        Resolver::default().resolve(*self, path)
    }

    /// Where this path leads, judging by its text alone.
    pub(crate) fn lexical(&self, path: &str) -> PathBuf {
        let (folder, rest) = self.parts(path);
        shortened(lexical(&folder.join(rest)))
    }

    /// The folder that a path is relative to, and the rest of it. An absolute one is all rest.
    fn parts<'p>(&'p self, path: &'p str) -> (&'p Path, &'p str) {
        let path = path.strip_prefix("file://").unwrap_or(path);
        match in_home(path) {
            Some(rest) => (self.home.unwrap_or(Path::new(UNKNOWN_HOME)), rest),
            None => (self.cwd, path),
        }
    }
}

/// The home folder, where its path is not known.
pub(crate) const UNKNOWN_HOME: &str = "/~";

/// The part of a path after the home folder, for a path that begins with `~` or `$HOME`.
pub(crate) fn in_home(path: &str) -> Option<&str> {
    let rest = ["~", "${HOME}", "$HOME"].iter().find_map(|home| path.strip_prefix(home))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
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

/// The path without `.` and `..`, judging by its text alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    // Most paths have none of that.
    if cfg!(unix) && bytes.strip_prefix(b"/").unwrap_or(bytes).split(|byte| *byte == b'/').all(is_name) {
        return path.to_owned();
    }
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

/// The files that a path with wildcards currently matches. None when there are too many entries.
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
                if seen > MAX_ENTRIES {
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
        assert_eq!(real("dangling/../link/./z"), root.join("secret/z"));
        assert_eq!(real("no/such/../../link/z"), root.join("secret/z"));
        std::os::unix::fs::symlink("secret/../link", root.join("chain")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        assert_eq!(real("chain/z"), root.join("secret/z"));
        assert_eq!(real("loop/z"), root.join("loop/z"));
        // Resolving in the same folder twice gives the same result.
        let resolver = Resolver::default();
        for _ in 0..2 {
            let below = Places { cwd: &root.join("link"), home: None };
            assert_eq!(resolver.resolve(below, "../x").real, root.join("x"));
            assert_eq!(resolver.resolve(below, "/proc/self/root/etc/../x").real, Path::new("/x"));
        }
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
