//! Patterns for files, indexed by a name that every matching path contains. Most paths contain none of these names, and
//! then no pattern has to be run.
//!
//! A program that judges one event needs few patterns. So the lists that come with this crate are indexed when the first
//! path is compared with them, and a pattern is compiled when a path contains its name.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::names::{self, Slot};
use crate::path::{Case, Names, PathGlob};
use crate::token::lowered;

/// A pattern as it was written, and compiled.
pub(crate) type Pattern = (String, PathGlob);

/// Patterns in their order.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    written: Vec<Pattern>,
    /// Those that come with this crate, after the others.
    fixed: &'static [&'static [&'static str]],
    index: OnceLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    all: Vec<Indexed>,
    /// The indexes of patterns that need a certain name in the path, by that name.
    by_name: Vec<Slot>,
    /// The indexes of all other patterns.
    others: Vec<usize>,
}

#[derive(Debug)]
struct Indexed {
    text: Cow<'static, str>,
    /// `None` when the text is not a valid pattern; tests check that all texts of this crate are valid.
    glob: OnceLock<Option<PathGlob>>,
}

impl Indexed {
    fn glob(&self) -> Option<&PathGlob> {
        let compile = || PathGlob::new(&self.text, Case::Folded).ok().map(PathGlob::anywhere);
        self.glob.get_or_init(compile).as_ref()
    }
}

impl Patterns {
    /// Patterns of a configuration, and after them lists that come with this crate.
    pub(crate) fn new(written: Vec<Pattern>, fixed: &'static [&'static [&'static str]]) -> Self {
        Self { written, fixed, index: OnceLock::new() }
    }

    /// Lists that come with this crate.
    pub(crate) fn fixed(fixed: &'static [&'static [&'static str]]) -> Self {
        Self::new(Vec::new(), fixed)
    }

    /// The text of the first pattern that this file fits.
    pub(super) fn find_file(&self, paths: &[Names], base: &Names) -> Option<&str> {
        self.find(paths, |glob, path| glob.matches_names(path, base, None))
    }

    /// The text of the first pattern that this file, or a folder that it is in, fits.
    pub(super) fn find_tree(&self, paths: &[Names], base: &Names) -> Option<&str> {
        self.find(paths, |glob, path| glob.matches_tree_names(path, base, None))
    }

    /// Whether the configuration itself has this pattern.
    pub(super) fn is_written(&self, pattern: &str) -> bool {
        self.written.iter().any(|(text, _)| text == pattern)
    }

    /// The text of the first pattern for this name, wherever it is.
    pub(super) fn find_name(&self, name: &str) -> Option<&str> {
        let fits = |pattern: &&Indexed| pattern.glob().is_some_and(|glob| glob.matches_name(name));
        self.index().all.iter().find(fits).map(|pattern| &*pattern.text)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.index().all.iter().map(|pattern| &*pattern.text)
    }

    fn find(&self, paths: &[Names], fits: impl Fn(&PathGlob, &Names) -> bool) -> Option<&str> {
        let Index { all, by_name, others } = self.index();
        let is_found = |place: &usize| {
            let glob = all.get(*place).and_then(Indexed::glob);
            glob.is_some_and(|glob| paths.iter().any(|path| fits(glob, path)))
        };
        let names = paths.iter().flat_map(Names::iter);
        let first = names.flat_map(|name| names::rows(by_name, name)).filter(is_found).min();
        let other = others.iter().copied().take_while(|place| first.is_none_or(|first| *place < first));
        let first = other.filter(is_found).min().or(first)?;
        all.get(first).map(|pattern| &*pattern.text)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let written = self.written.iter().map(|(text, glob)| Indexed {
                text: Cow::Owned(text.clone()),
                glob: OnceLock::from(Some(glob.clone())),
            });
            let fixed = self.fixed.iter().copied().flatten();
            let fixed = fixed.map(|text| Indexed { text: Cow::Borrowed(text), glob: OnceLock::new() });
            let mut index = Index { all: written.chain(fixed).collect(), ..Index::default() };
            for (place, pattern) in index.all.iter().enumerate() {
                match (key(&pattern.text), u16::try_from(place)) {
                    (Some(name), Ok(slot)) => index.by_name.push((names::hash(&name), slot)),
                    _ => index.others.push(place),
                }
            }
            index.by_name.sort_unstable();
            index
        })
    }
}

/// A name that every path which fits the pattern has in it, if there is one.
fn key(pattern: &str) -> Option<Cow<'_, str>> {
    let is_special = |name: &str| name.is_empty() || name == "." || name == "~";
    let names = pattern.trim().split('/').filter(|name| !is_special(name));
    names.into_iter().find(|name| !name.contains(['*', '?', '['])).map(|name| lowered(Cow::Borrowed(name)))
}

impl From<Vec<Pattern>> for Patterns {
    fn from(written: Vec<Pattern>) -> Self {
        Self::new(written, &[])
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::path::Case;

    #[test]
    fn the_first_pattern_is_found() {
        let texts = ["*.pem", "**/.aws/config", ".aws", "/etc/shadow", "id_*"];
        let pattern = |text: &str| (text.to_owned(), PathGlob::new(text, Case::Folded).unwrap().anywhere());
        let patterns = Patterns::from(texts.map(pattern).to_vec());
        let names = |path: &str| [Names::new(Path::new(path), Case::Folded)];
        let base = Names::new(Path::new("/w"), Case::Folded);
        for (path, tree, file) in [
            ("/w/a/.aws/config", Some("**/.aws/config"), Some("**/.aws/config")),
            ("/w/a/.AWS/x", Some(".aws"), None),
            ("/w/.aws/config/a.pem", Some("*.pem"), Some("*.pem")),
            ("/w/.aws/id_x", Some(".aws"), Some("id_*")),
            ("/etc/shadow/x", Some("/etc/shadow"), None),
            ("/w/etc/shadow", None, None),
            ("/w/src/main.rs", None, None),
        ] {
            assert_eq!(patterns.find_tree(&names(path), &base), tree, "{path}");
            assert_eq!(patterns.find_file(&names(path), &base), file, "{path}");
        }
    }

    #[test]
    fn every_pattern_of_this_crate_compiles() {
        use crate::protect_paths::defaults::*;
        for text in [NO_READ, NO_READ_FILES, ASK_READ, ASK_WRITE, ASK_WRITE_WINDOWS, NO_WRITE, WIRING, EXCEPT]
            .concat()
        {
            assert!(PathGlob::new(text, Case::Folded).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_key_is_a_name_that_every_path_has() {
        let keys = [
            ("**/.aws/config", Some(".aws")),
            ("~/.kube", Some(".kube")),
            ("/proc/*/environ", Some("proc")),
            ("./Secret/**", Some("secret")),
            ("*.pem", None),
            ("~/", None),
        ];
        for (pattern, wanted) in keys {
            assert_eq!(key(pattern).as_deref(), wanted, "{pattern}");
        }
    }
}
