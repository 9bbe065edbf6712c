//! Lines of fish, written as those of other shells, as far as a list of commands needs them.
//!
//! `for`, `if` and the like are left out, and what stands between them stays: commands one after the other. So a
//! variable of a loop is unknown.

/// Words in front of a command that do not change what it is.
const FRONTS: [&str; 9] = ["if", "while", "begin", "and", "or", "not", "else", "end", "!"];

/// Statements without a command.
const OTHERS: [&str; 4] = ["for", "function", "switch", "case"];

/// The commands of this code, with the substitutions and assignments of other shells.
pub(super) fn as_shell(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for statement in statements(code) {
        let mut text = statement.trim_start();
        while let Some(front) = FRONTS.iter().find(|front| starts_with(text, front)) {
            text = text[front.len()..].trim_start();
        }
        if text.is_empty() || OTHERS.iter().any(|other| starts_with(text, other)) {
            continue;
        }
        let text = assignment(text).unwrap_or_else(|| text.to_owned());
        out.push_str(&text);
        out.push('\n');
    }
    out
}

fn starts_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The statements, with `$(` for each `(` outside of quotes.
fn statements(code: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let (mut quote, mut depth) = (None, 0_u32);
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let last = all.len() - 1;
        match (quote, c) {
            (_, '\\') => {
                all[last].push(c);
                all[last].extend(chars.next());
            }
            (Some(open), _) => {
                all[last].push(c);
                quote = Some(open).filter(|open| *open != c);
            }
            (None, '"' | '\'') => {
                all[last].push(c);
                quote = Some(c);
            }
            (None, '(') => {
                depth += 1;
                let mark = if all[last].ends_with('$') { "(" } else { "$(" };
                all[last].push_str(mark);
            }
            (None, ')') => {
                depth = depth.saturating_sub(1);
                all[last].push(c);
            }
            (None, ';' | '\n') if depth == 0 => all.push(String::new()),
            (None, _) => all[last].push(c),
        }
    }
    all
}

/// `set -g name value`
fn assignment(text: &str) -> Option<String> {
    let mut words = text.strip_prefix("set ")?.split_whitespace().skip_while(|word| word.starts_with('-'));
    let (name, value, more) = (words.next()?, words.next()?, words.next());
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && more.is_none()).then(|| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::as_shell;

    #[test]
    fn commands_are_found() {
        for (code, wanted) in [
            (
                "set out (complete -C \"git clean \"); count $out",
                "set out $(complete -C \"git clean \")\ncount $out\n",
            ),
            ("for f in *.fish; rm $f; or begin; echo a; end; end", "rm $f\necho a\n"),
            ("set -g x /tmp/a; if test -e $x; rm -r $x; end", "x=/tmp/a\ntest -e $x\nrm -r $x\n"),
            ("function a; end; echo 'b; c'", "echo 'b; c'\n"),
        ] {
            assert_eq!(as_shell(code), wanted);
        }
    }
}
