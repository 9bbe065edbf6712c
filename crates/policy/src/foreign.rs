//! Problems in files outside a project that its configuration names: the content of these files is not quoted.
//!
//! Otherwise a repository could name any file of the person as its pack or script, and have it quoted in an error.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crosier::config::{Node, Problem, Problems, Severity, Source, Span, Value, parse_document};

/// The same problems, without the content of files outside `root`.
pub(crate) fn hide(problems: &Problems, root: &Path, is_known: impl Fn(&str) -> bool) -> Problems {
    let is_foreign = |name: &str| {
        // A name that is not an absolute path is a pack or a text of this program.
        Path::new(name).is_absolute()
            && !is_known(name)
            && !fs::canonicalize(name).is_ok_and(|real| real.starts_with(root))
    };
    // An option of a built-in hook names it, and the message about that option quotes it.
    let is_outside = |path: &Path| !fs::canonicalize(path).is_ok_and(|real| real.starts_with(root));
    let quoted = |problem: &Problem| {
        let folder = Path::new(problem.path()).parent().filter(|_| !is_known(problem.path()))?;
        let named = rules(problem.source());
        let is_quoted = |name: &&String| problem.message().contains(&format!("`{name}`"));
        let file =
            named.iter().filter(is_quoted).map(|name| folder.join(name)).find(|path| is_outside(path))?;
        Some(file.display().to_string())
    };
    let mut seen = BTreeSet::new();
    let mut hidden = Problems::new();
    for problem in problems.iter() {
        let related = problem.related().map(|related| related.source.name.as_str());
        let foreign = [Some(problem.path()), related].into_iter().flatten().find(|name| is_foreign(name));
        match foreign.map(str::to_owned).or_else(|| quoted(problem)) {
            None => hidden.push(problem.clone()),
            Some(name) if seen.insert(name.clone()) => {
                hidden.push(without_content(&name, problem.severity()))
            }
            Some(_) => {}
        }
    }
    hidden
}

/// Every text in the options of built-in hooks: some of them name files.
fn rules(source: &Arc<Source>) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(node) = parse_document(source) {
        options(&node, false, &mut found);
    }
    found
}

fn options(node: &Node, is_within: bool, found: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().for_each(|entry| options(&entry.value, is_within || entry.key == "options", found))
        }
        Value::List(items) => items.iter().for_each(|item| options(item, is_within, found)),
        _ => found.extend(node.as_text().filter(|_| is_within).map(str::to_owned)),
    }
}

fn without_content(name: &str, severity: Severity) -> Problem {
    let (source, span) = (Source::new(name, ""), Span { start: 0, end: 0 });
    let message = "this file cannot be used; its content is not shown, because it is outside the project";
    match severity {
        Severity::Error => Problem::error(&source, span, message),
        _ => Problem::warning(&source, span, message),
    }
}
