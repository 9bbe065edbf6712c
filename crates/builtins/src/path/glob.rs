//! Patterns for paths.
//!
//! `*` and `?` stay within a name, `[…]` is one character of it, `**` is any number of folders. A pattern that
//! begins with `/` is absolute and one that begins with `~/` is in the home folder; one with a `/` elsewhere
//! (`./src/**`, `src/*.rs`) is relative to a base folder; one without any (`.env*`, `*.pem`) is a name at any
//! depth. One that begins with `**/` matches anywhere in a rule that forbids, and only below the base folder in a rule
//! that allows: the stricter reading in both cases.

use std::borrow::Cow;
use std::path::{Component, Path};

use crate::token::lowered;

/// How letters are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Exact,
    /// Ignoring case: a file system may treat `.ENV` as `.env`.
    Folded,
}

/// One compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct PathGlob {
    start: Start,
    segments: Vec<Segment>,
    case: Case,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Root,
    Home,
    Base,
    /// `**/…`
    Roaming,
    Anywhere,
}

#[derive(Debug, Clone)]
enum Segment {
    /// `**`
    Folders,
    Name(Name),
}

/// A pattern for one name. Most are simple.
#[derive(Debug, Clone)]
enum Name {
    Exact(String),
    /// `x*`
    Start(String),
    /// `*x`
    End(String),
    Parts(Vec<Part>),
}

impl Name {
    fn new(name: &str, case: Case) -> Result<Self, String> {
        let name = case.fold(name);
        let is_plain = |text: &str| !text.contains(['*', '?', '[']);
        if is_plain(&name) {
            return Ok(Self::Exact(name));
        }
        if let Some(end) = name.strip_prefix('*').filter(|end| is_plain(end)) {
            return Ok(Self::End(end.to_owned()));
        }
        if let Some(start) = name.strip_suffix('*').filter(|start| is_plain(start)) {
            return Ok(Self::Start(start.to_owned()));
        }
        Ok(Self::of_parts(parts(&name)?))
    }

    fn of_parts(parts: Vec<Part>) -> Self {
        let text = |parts: &[Part]| -> Option<String> {
            parts.iter().map(|part| if let Part::Char(c) = part { Some(*c) } else { None }).collect()
        };
        let simple = match parts.as_slice() {
            [start @ .., Part::Many] => text(start).map(Self::Start),
            [Part::Many, end @ ..] => text(end).map(Self::End),
            all => text(all).map(Self::Exact),
        };
        simple.unwrap_or(Self::Parts(parts))
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Exact(text) => text == name,
            Self::Start(text) => name.starts_with(text.as_str()),
            Self::End(text) => name.ends_with(text.as_str()),
            Self::Parts(parts) => name_fits(parts, name),
        }
    }
}

#[derive(Debug, Clone)]
enum Part {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl PathGlob {
    /// Compiles a pattern; the error says what is wrong with it.
    pub(crate) fn new(pattern: &str, case: Case) -> Result<Self, String> {
        let text = pattern.trim();
        let (start, rest) = if let Some(rest) = text.strip_prefix('/') {
            (Start::Root, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Start::Home, rest)
        } else if text == "~" {
            (Start::Home, "")
        } else if let Some(rest) = text.strip_prefix("./") {
            (Start::Base, rest)
        } else if text.starts_with("**/") {
            (Start::Roaming, text)
        } else if text.trim_end_matches('/').contains('/') {
            (Start::Base, text)
        } else {
            (Start::Anywhere, text)
        };
        if text.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        if text.starts_with('~') && start != Start::Home {
            return Err(format!("`{text}`: another user's home is not known here; write the path"));
        }
        let mut segments = Vec::new();
        for name in rest.split('/').filter(|name| !name.is_empty() && *name != ".") {
            match name {
                ".." => return Err(format!("`{text}`: a pattern cannot have `..`; write where it leads")),
                "**" => segments.push(Segment::Folders),
                name => segments.push(Segment::Name(Name::new(name, case)?)),
            }
        }
        Ok(Self { start, segments, case })
    }

    /// The same pattern, with `**/…` meaning anywhere.
    pub(crate) fn anywhere(mut self) -> Self {
        if self.start == Start::Roaming {
            self.start = Start::Root;
        }
        self
    }

    /// Whether it matches this absolute path, for a rule that allows.
    pub(crate) fn matches(&self, path: &Path, base: &Path, home: Option<&Path>) -> bool {
        self.matches_names(&Names::new(path, self.case), &Names::new(base, self.case), home)
    }

    /// The same for names that are compared with many patterns.
    pub(crate) fn matches_names(&self, path: &Names, base: &Names, home: Option<&Path>) -> bool {
        if let (Start::Anywhere, [Segment::Name(name)]) = (self.start, self.segments.as_slice()) {
            return path.0.last().is_some_and(|last| name.fits(last));
        }
        let home = home.map(|home| Names::new(home, self.case));
        self.fits(self.start, &path.0, &base.0, home.as_ref())
    }

    /// Whether it matches this absolute path or a folder that the path is in, for a rule that forbids.
    pub(crate) fn matches_tree(&self, path: &Path, base: &Path, home: Option<&Path>) -> bool {
        self.matches_tree_names(&Names::new(path, self.case), &Names::new(base, self.case), home)
    }

    /// The same for names that are compared with many patterns.
    pub(crate) fn matches_tree_names(&self, path: &Names, base: &Names, home: Option<&Path>) -> bool {
        let names = path.0.as_slice();
        if let (Start::Anywhere, [Segment::Name(wanted)]) = (self.start, self.segments.as_slice()) {
            return names.iter().any(|name| wanted.fits(name));
        }
        let start = if self.start == Start::Roaming { Start::Root } else { self.start };
        // `**/a/b`: the two names one after the other, anywhere.
        if let (Start::Root, [Segment::Folders, rest @ ..]) = (start, self.segments.as_slice())
            && !rest.is_empty()
            && rest.iter().all(Segment::is_name)
        {
            return names.windows(rest.len()).any(|names| begins(names, rest));
        }
        let home = home.map(|home| Names::new(home, self.case));
        // `/etc/x`: the names at the start of the path.
        if start != Start::Anywhere && self.segments.iter().all(Segment::is_name) {
            return self.fits_after_start(start, names, &base.0, home.as_ref(), begins);
        }
        (0..=names.len()).rev().any(|end| self.fits(start, &names[..end], &base.0, home.as_ref()))
    }

    /// Whether it is about one name at any depth, and this is such a name.
    pub(crate) fn matches_name(&self, name: &str) -> bool {
        let segments: Vec<&Segment> =
            self.segments.iter().filter(|segment| matches!(segment, Segment::Name(_))).collect();
        let anywhere = self.start == Start::Anywhere
            || (self.start != Start::Root && matches!(self.segments.first(), Some(Segment::Folders)));
        match segments.as_slice() {
            [Segment::Name(wanted)] if anywhere => wanted.fits(&self.case.fold(name)),
            _ => false,
        }
    }

    /// Whether the names after the folder in which the pattern starts match it.
    fn fits(&self, start: Start, names: &[String], base: &[String], home: Option<&Names>) -> bool {
        let all = |names: &[String], segments: &[Segment]| fits(segments, names);
        match start {
            Start::Anywhere => (0..names.len()).any(|from| fits(&self.segments, &names[from..])),
            start => self.fits_after_start(start, names, base, home, all),
        }
    }

    /// Compares with `fits` from the folder in which the pattern starts.
    fn fits_after_start(
        &self,
        start: Start,
        names: &[String],
        base: &[String],
        home: Option<&Names>,
        fits: impl Fn(&[String], &[Segment]) -> bool,
    ) -> bool {
        let fits_from = |from: usize| fits(&names[from..], &self.segments);
        let below = |folder: &[String]| names.starts_with(folder) && fits_from(folder.len());
        match start {
            Start::Root | Start::Anywhere => fits_from(0),
            Start::Base | Start::Roaming => below(base),
            Start::Home => match home {
                Some(home) => below(&home.0),
                None => home_length(names).is_some_and(fits_from),
            },
        }
    }
}

impl Segment {
    fn is_name(&self) -> bool {
        matches!(self, Self::Name(_))
    }
}

/// Whether names begin with these.
fn begins(names: &[String], segments: &[Segment]) -> bool {
    let fits = |(name, segment): (&String, &Segment)| match segment {
        Segment::Name(wanted) => wanted.fits(name),
        Segment::Folders => false,
    };
    names.len() >= segments.len() && names.iter().zip(segments).all(fits)
}

/// The names of an absolute path, ready to be compared.
#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether the path is this folder, or in it.
    pub(crate) fn is_in(&self, folder: &Self) -> bool {
        self.0.starts_with(&folder.0)
    }

    pub(crate) fn new(path: &Path, case: Case) -> Self {
        let name = |component: Component<'_>| match component {
            Component::Normal(name) => Some(case.fold(&name.to_string_lossy())),
            _ => None,
        };
        Self(path.components().filter_map(name).collect())
    }
}

impl Case {
    fn fold(self, name: &str) -> String {
        match self {
            Self::Exact => name.to_owned(),
            Self::Folded => lowered(Cow::Borrowed(name)).into_owned(),
        }
    }
}

/// How many leading names look like a home folder, for when the home folder is not known.
fn home_length(names: &[String]) -> Option<usize> {
    match names.first()?.as_str() {
        "root" | "~" => Some(1),
        "home" | "Users" | "users" if names.len() > 1 => Some(2),
        _ => None,
    }
}

fn parts(name: &str) -> Result<Vec<Part>, String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' => parts.push(Part::Many),
            '?' => parts.push(Part::One),
            '[' => {
                let negated = matches!(chars.get(at), Some('!' | '^'));
                let first = at + usize::from(negated);
                let length = chars.get(first + 1..).and_then(|rest| rest.iter().position(|c| *c == ']'));
                let Some(length) = length else { return Err(format!("`[` is never closed in `{name}`")) };
                let end = first + 1 + length;
                let mut ranges = Vec::new();
                let mut from = first;
                while from < end {
                    let is_range = from + 2 < end && chars[from + 1] == '-';
                    let high = if is_range { chars[from + 2] } else { chars[from] };
                    ranges.push((chars[from], high));
                    from += if is_range { 3 } else { 1 };
                }
                parts.push(Part::Class { negated, ranges });
                at = end + 1;
            }
            c => parts.push(Part::Char(c)),
        }
    }
    Ok(parts)
}

/// `**` backs up over the last one only, as `*` does within a name: the time is bounded by both lengths.
fn fits(segments: &[Segment], names: &[String]) -> bool {
    let (mut segment, mut name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let good = match (segments.get(segment), names.get(name)) {
            (Some(Segment::Folders), _) => {
                segment += 1;
                retry = Some((segment, name));
                continue;
            }
            (None, None) => return true,
            (Some(Segment::Name(wanted)), Some(one)) => wanted.fits(one),
            _ => false,
        };
        if good {
            (segment, name) = (segment + 1, name + 1);
            continue;
        }
        let Some((after_star, from)) = &mut retry else { return false };
        if *from >= names.len() {
            return false;
        }
        *from += 1;
        (segment, name) = (*after_star, *from);
    }
}

fn name_fits(parts: &[Part], name: &str) -> bool {
    let (mut part, mut rest) = (0, name.chars());
    let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        let next = rest.clone().next();
        let good = match (parts.get(part), next) {
            (Some(Part::Many), _) => {
                part += 1;
                retry = Some((part, rest.clone()));
                continue;
            }
            (None, None) => return true,
            (Some(Part::One), Some(_)) => true,
            (Some(Part::Char(wanted)), Some(c)) => *wanted == c,
            (Some(Part::Class { negated, ranges }), Some(c)) => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            _ => false,
        };
        if good {
            part += 1;
            rest.next();
            continue;
        }
        let Some((after_star, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        part = *after_star;
        rest = from.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let glob = PathGlob::new(pattern, Case::Exact).unwrap();
        glob.matches(Path::new(path), Path::new("/w"), Some(Path::new("/home/u")))
    }

    #[test]
    fn patterns_start_where_they_say() {
        for (pattern, path, good) in [
            ("./src/**", "/w/src/a/b.rs", true),
            ("./src/**", "/w/src", true),
            ("./src/**", "/w/other/src/a", false),
            ("src/*.rs", "/w/src/a.rs", true),
            ("src/*.rs", "/w/src/a/b.rs", false),
            ("/etc/**", "/etc/passwd", true),
            ("/etc", "/etc/passwd", false),
            ("~/.ssh/*", "/home/u/.ssh/id", true),
            ("~/.ssh/*", "/home/v/.ssh/id", false),
            (".env*", "/w/deep/.env.local", true),
            ("*.pem", "/a/b.pem", true),
            ("**/x/[a-c]?", "/w/q/x/b1", true),
            ("**/x/[!a-c]?", "/w/q/x/b1", false),
            ("a/**/b", "/w/a/b", true),
            ("a/**/b", "/w/a/1/2/b", true),
            ("*", "/a/b", true),
            ("id_*_sk", "/a/id_x_sk", true),
            ("id_*_sk", "/a/id_x_sk/b", false),
            ("x*", "/x/y", false),
        ] {
            assert_eq!(matches(pattern, path), good, "{pattern} {path}");
        }
    }

    #[test]
    fn trees_names_and_cases() {
        let git = PathGlob::new(".git", Case::Folded).unwrap();
        assert!(git.matches_tree(Path::new("/w/.GIT/config"), Path::new("/w"), None));
        assert!(!git.matches_tree(Path::new("/w/git/config"), Path::new("/w"), None));
        assert!(git.matches_name(".git") && !PathGlob::new("./x", Case::Exact).unwrap().matches_name("x"));
        // Forbidding applies anywhere, allowing only here.
        let keys = PathGlob::new("**/.aws/keys", Case::Exact).unwrap();
        let elsewhere = Path::new("/home/u/.aws/keys");
        assert!(keys.matches_tree(elsewhere, Path::new("/w"), None));
        assert!(!keys.matches(elsewhere, Path::new("/w"), None));
        assert!(keys.matches(Path::new("/w/a/.aws/keys"), Path::new("/w"), None));
        assert!(keys.anywhere().matches(elsewhere, Path::new("/w"), None));
        let home = PathGlob::new("~/.ssh", Case::Exact).unwrap();
        assert!(home.matches_tree(Path::new("/Users/me/.ssh/id"), Path::new("/w"), None));
        assert!(PathGlob::new("../x", Case::Exact).is_err() && PathGlob::new("[a", Case::Exact).is_err());
    }
}
