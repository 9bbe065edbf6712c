//! A shell that cannot parse its script exits with 2, like a hook that denies, and so do some interpreters
//! whose script is missing. The error message tells them apart.

use std::path::Path;

use crosier_protocol::{Failure, FailureKind};

use crate::registry::{CommandSpec, Program};

/// Shells that exit with 2 on a syntax error.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "busybox"];
/// Their messages, in lowercase.
const MESSAGES: [&str; 2] = ["syntax error", "unexpected eof while looking for matching"];

/// What dash, Python and Perl write when there is no script.
const CANNOT_OPEN: [&str; 3] = [": cannot open ", ": can't open file ", "Can't open perl script "];

/// The failure of a command whose script could not be parsed or opened: `import`, because the hook's code
/// could not be loaded. It denies, and says that the hook is broken.
pub(super) fn shell_error(spec: &CommandSpec, stderr: &[u8]) -> Option<Failure> {
    let text = String::from_utf8_lossy(stderr);
    let (line, what) = text.lines().find_map(|line| {
        if is_shell_error(spec, line) {
            Some((line, "the shell could not read the hook's script"))
        } else {
            is_missing_script(spec, line).then_some((line, "the hook's script could not be opened"))
        }
    })?;
    let line: String = line.trim().chars().filter(|c| !c.is_control()).take(300).collect();
    Some(Failure::new(FailureKind::Import, format!("{what}, so the hook is broken: {line}")))
}

/// `sh: 0: cannot open SCRIPT: No such file`, `python3: can't open file 'SCRIPT': …`. The script must be one
/// that the hook's command names.
fn is_missing_script(spec: &CommandSpec, line: &str) -> bool {
    let Some((before, rest)) = CANNOT_OPEN.iter().find_map(|message| line.split_once(message)) else {
        return false;
    };
    let program = before.split(':').next().unwrap_or_default();
    let program = file_name(program);
    let is_interpreter = program.is_empty() || SHELLS.contains(&program) || program.starts_with("python");
    let script = match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => rest[1..].split(quote).next(),
        _ => rest.split(':').next(),
    };
    is_interpreter && script.is_some_and(|script| !script.is_empty() && names(spec, file_name(script)))
}

/// `SCRIPT: 3: Syntax error: …`, `SCRIPT: line 3: syntax error …`, `sh: -c: line 1: …`. The script must be
/// the hook's own: a hook that checks scripts may deny with the same message about another file.
fn is_shell_error(spec: &CommandSpec, line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let Some(at) = MESSAGES.iter().find_map(|message| lower.find(message)) else { return false };
    let mut parts = line[..at].split(':').map(str::trim);
    let script = parts.next().unwrap_or_default();
    let is_position = |part: &str| {
        let number = part.strip_prefix("line ").unwrap_or(part);
        part.is_empty()
            || part == "-c"
            || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    !script.is_empty() && parts.all(|part| is_position(part) || part == script) && is_own(spec, script)
}

fn is_own(spec: &CommandSpec, script: &str) -> bool {
    let name = file_name(script);
    SHELLS.contains(&name) || names(spec, name)
}

fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// Whether the command contains this name.
fn names(spec: &CommandSpec, name: &str) -> bool {
    match &spec.program {
        Program::Shell(line) => line.contains(name),
        Program::Argv(words) => words.iter().any(|word| word.contains(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syntax_error_of_the_hooks_own_script_is_found() {
        let spec = CommandSpec::shell("./hooks/guard.sh --strict", "/");
        for line in [
            "/bin/sh: 1: Syntax error: \"fi\" unexpected",
            "sh: 1: Syntax error: Unterminated quoted string",
            "bash: -c: line 1: syntax error near unexpected token `fi'",
            "./hooks/guard.sh: 12: ./hooks/guard.sh: Syntax error: end of file unexpected",
            "./hooks/guard.sh: line 5: syntax error: unexpected end of file",
            "guard.sh: line 2: unexpected EOF while looking for matching `\"'",
            "sh: syntax error: unexpected \"fi\"",
        ] {
            let found = shell_error(&spec, format!("before\n{line}\nafter").as_bytes());
            assert!(found.is_some_and(|failure| failure.detail.contains(line)), "{line}");
        }
    }

    #[test]
    fn a_script_that_is_not_there_is_found() {
        for (command, line) in [
            ("sh guard.sh", "sh: 0: cannot open guard.sh: No such file"),
            (
                "python3 hooks/guard.py",
                "/usr/bin/python3: can't open file '/x/hooks/guard.py': [Errno 2] No such file",
            ),
            ("perl guard.pl", "Can't open perl script \"guard.pl\": No such file or directory"),
        ] {
            let found = shell_error(&CommandSpec::shell(command, "/"), line.as_bytes());
            assert!(found.is_some_and(|failure| failure.detail.contains("could not be opened")), "{line}");
        }
        let spec = CommandSpec::shell("python3 hooks/guard.py", "/");
        for line in [
            "guard: cannot open guard.py: it is protected",
            "python3: can't open file '/x/other.py': [Errno 2] No such file",
            "sh: 0: cannot open : No such file",
            "sh: 0: cannot open ",
            "python3: can't open file '",
        ] {
            assert!(shell_error(&spec, line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_denial_that_speaks_of_a_syntax_error_stays_a_denial() {
        let spec = CommandSpec::shell("./hooks/guard.sh", "/");
        for line in [
            "app/main.py: syntax error",
            "deploy.sh: line 3: syntax error near unexpected token `fi'",
            "the file has a syntax error",
            "guard.sh says: syntax error in your SQL",
            "no syntax error, but: no",
            "",
        ] {
            assert!(shell_error(&spec, line.as_bytes()).is_none(), "{line}");
        }
    }
}
