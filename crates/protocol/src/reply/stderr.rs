//! Finds the lines of stderr that say why a command failed. Shown to people, never used for decisions.

/// How many of the last lines are searched.
const MAX_LINES: usize = 200;
/// How long a cause may be, in characters.
const MAX_CHARS: usize = 300;
/// How many lines a cause may have.
const MAX_CAUSE_LINES: usize = 3;

/// The lines that state the cause: the exception of a traceback, else the one before the usage, else the last few
/// lines that are not noise. Cut to a length limit, without control characters.
pub(super) fn cause(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let lines = &lines[lines.len().saturating_sub(MAX_LINES)..];
    let exception = lines.iter().rposition(|line| is_exception(line));
    let cause = match exception.or_else(|| before_usage(lines)) {
        Some(at) => with_introduction(lines, at),
        None => last_lines(lines)?,
    };
    Some(cause.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect())
}

/// The last lines that are not noise, as many as fit. After a usage it is one line: the others belong to the usage.
fn last_lines(lines: &[&str]) -> Option<String> {
    let most = if lines.iter().any(|line| is_usage(line)) { 1 } else { MAX_CAUSE_LINES };
    let mut cause: Option<String> = None;
    for line in lines.iter().map(|line| line.trim()).rev().filter(|line| !is_noise(line)).take(most) {
        cause = match cause {
            None => Some(line.to_owned()),
            Some(after) => {
                let separator = if line.ends_with(':') { " " } else { " | " };
                let both = format!("{line}{separator}{after}");
                if both.chars().count() > MAX_CHARS {
                    return Some(after);
                }
                Some(both)
            }
        };
    }
    cause
}

fn with_introduction(lines: &[&str], at: usize) -> String {
    let cause = lines[at].trim();
    // A line such as `thread 'main' panicked at src/main.rs:1:5:` belongs to the line that follows it.
    let before = at.checked_sub(1).map(|before| lines[before].trim());
    match before.filter(|line| line.ends_with(':') && !is_noise(line) && !line.starts_with("Traceback ")) {
        Some(before) => format!("{before} {cause}"),
        None => cause.to_owned(),
    }
}

/// The line before `Usage: …`, which says what is wrong with the arguments. Some programs say it after the
/// usage instead: `guard.py: error: …`.
fn before_usage(lines: &[&str]) -> Option<usize> {
    let usage = lines.iter().position(|line| is_usage(line))?;
    let is_after = lines[usage..].iter().any(|line| line.contains(": error: "));
    usage.checked_sub(1).filter(|before| !is_after && !is_noise(lines[*before]))
}

fn is_usage(line: &str) -> bool {
    line.to_ascii_lowercase().starts_with("usage:")
}

/// `ModuleNotFoundError: No module named 'x'`, `Error: Cannot find module 'y'`, `TypeError [ERR_X]: …`. Only
/// at the start of a line: indented text belongs to a stack trace or to quoted code.
fn is_exception(line: &str) -> bool {
    let Some(name) = line.strip_prefix("Uncaught ").unwrap_or(line).split([':', ' ']).next() else {
        return false;
    };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let is_error = ["Error", "Exception"].iter().any(|end| name.ends_with(end));
    let rest = line.split_once(name).map_or("", |(_, rest)| rest);
    is_name && is_error && (rest.starts_with(':') || (rest.starts_with(" [") && rest.contains("]:")))
}

/// Lines around a cause that do not state it: stack frames, dumped objects, versions, hints.
fn is_noise(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "Try '",
        "at ",
        "Node.js v",
        "Bun v",
        "code: ",
        "requireStack: ",
        "stack backtrace:",
        "note: run with `RUST_BACKTRACE",
        "note: Some details are omitted",
        "npm ERR! A complete log",
    ];
    let line = line.trim();
    let is_punctuation = line.chars().all(|c| c.is_ascii_punctuation());
    is_punctuation || STARTS.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_found_in_what_programs_write() {
        let node = "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module '/x/guard.js'\n    \
                    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)\n    at node:internal/main:28:49 {\n  \
                    code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.11.1\n";
        let python = "Traceback (most recent call last):\n  File \"/x/guard.py\", line 1, in <module>\n    import nope\n\
                      ModuleNotFoundError: No module named 'nope'\n";
        let chained = "Traceback (most recent call last):\nKeyError: 'a'\n\nDuring handling of the above exception, \
                       another exception occurred:\n\nTraceback (most recent call last):\n  File \"x\"\nValueError: b\n";
        let rust = "\nthread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1` environment \
                    variable to display a backtrace\n";
        for (stderr, expected) in [
            (node, Some("Error: Cannot find module '/x/guard.js'")),
            (python, Some("ModuleNotFoundError: No module named 'nope'")),
            (chained, Some("ValueError: b")),
            (rust, Some("thread 'main' panicked at src/main.rs:2:5: boom")),
            (
                "TypeError [ERR_INVALID_ARG]: x\n    at y\n\nNode.js v22\n",
                Some("TypeError [ERR_INVALID_ARG]: x"),
            ),
            ("first\nlast\n\n", Some("first | last")),
            ("1\n2\n3\n4\n", Some("2 | 3 | 4")),
            (
                "sed: unrecognized option '--x'\nUsage: sed [OPTION]...\n\n  -n\nGNU sed home page: <x>.\n",
                Some("sed: unrecognized option '--x'"),
            ),
            (
                "usage: guard.py [-h]\nguard.py: error: unrecognized arguments: --x\n",
                Some("guard.py: error: unrecognized arguments: --x"),
            ),
            (
                "ls: unrecognized option '--x'\nTry 'ls --help' for more information.\n",
                Some("ls: unrecognized option '--x'"),
            ),
            ("sh: 1: nope: not found\n", Some("sh: 1: nope: not found")),
            ("a\u{7}b\n  }\n", Some("ab")),
            ("", None),
            ("  \n ^^^ \n", None),
        ] {
            assert_eq!(cause(stderr.as_bytes()).as_deref(), expected, "{stderr}");
        }
        assert_eq!(cause("x".repeat(9000).as_bytes()).map(|cause| cause.len()), Some(MAX_CHARS));
    }
}
