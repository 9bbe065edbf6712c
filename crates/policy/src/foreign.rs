//! Problems in files outside a project that its configuration names: the content of these files is not quoted.
//!
//! Otherwise a repository could name any file of the person as its pack or script, and have it quoted in an error.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crosier::config::{Problem, Problems, Severity, Source, Span};

/// The same problems, without the content of files outside `root`.
pub(crate) fn hide(problems: &Problems, root: &Path, is_known: impl Fn(&str) -> bool) -> Problems {
    let is_foreign = |name: &str| {
        // A name that is not an absolute path is a pack or a text of this program.
        Path::new(name).is_absolute()
            && !is_known(name)
            && !fs::canonicalize(name).is_ok_and(|real| real.starts_with(root))
    };
    let mut seen = BTreeSet::new();
    let mut hidden = Problems::new();
    for problem in problems.iter() {
        let related = problem.related().map(|related| related.source.name.as_str());
        let foreign = [Some(problem.path()), related].into_iter().flatten().find(|name| is_foreign(name));
        match foreign {
            None => hidden.push(problem.clone()),
            Some(name) if seen.insert(name.to_owned()) => {
                hidden.push(without_content(name, problem.severity()))
            }
            Some(_) => {}
        }
    }
    hidden
}

fn without_content(name: &str, severity: Severity) -> Problem {
    let (source, span) = (Source::new(name, ""), Span { start: 0, end: 0 });
    let message = "this file cannot be used; its content is not shown, because it is outside the project";
    match severity {
        Severity::Error => Problem::error(&source, span, message),
        _ => Problem::warning(&source, span, message),
    }
}
