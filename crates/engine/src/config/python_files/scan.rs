//! Finds the imports in a python source, without running anything.
//!
//! `import` is a keyword that occurs only in import statements, so it is enough to split the text into
//! tokens: strings and comments are skipped as in python, and the rest is read statement by statement.

/// What an import statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The number of leading dots: 0 is absolute, 1 the file's own folder, 2 the folder above.
    pub(super) level: usize,
    /// The module; empty in `from . import x`.
    pub(super) module: String,
    /// The names after `import` in `from … import …`: each may be a module too.
    pub(super) names: Vec<String>,
}

/// What a source imports, and why it may import more than that.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Imports {
    pub(super) found: Vec<Import>,
    pub(super) unseen: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a [u8]),
    /// The content of a string without a prefix, a backslash or a line end.
    Plain(&'a [u8]),
    /// Any other string.
    Text,
    Mark(u8),
    /// The end of a line that ends a statement.
    End,
}

pub(super) fn scan(source: &[u8]) -> Imports {
    let tokens = Lexer { source, at: 0, depth: 0 }.tokens();
    let mut imports = Imports::default();
    for statement in tokens.split(|token| matches!(token, Token::End | Token::Mark(b';'))) {
        read_statement(statement, &mut imports);
    }
    imports.unseen.sort_unstable();
    imports.unseen.dedup();
    imports
}

fn read_statement(statement: &[Token<'_>], imports: &mut Imports) {
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| statement.get(at));
        let rest = &statement[at + 1..];
        // A statement may follow a colon: `try: import x`.
        let begins = matches!(before, None | Some(Token::Mark(b':')));
        match token {
            Token::Name(b"from") if begins => imports.found.extend(read_from(rest)),
            Token::Name(b"import") if begins => imports.found.extend(read_import(rest)),
            Token::Name(b"import_module" | b"__import__") => match rest {
                [Token::Mark(b'('), Token::Plain(name), ..] => {
                    imports.found.push(Import { level: 0, module: text(name), names: Vec::new() })
                }
                [Token::Mark(b'('), ..] => {
                    imports.unseen.push("imports a module by a name that is made at run time")
                }
                _ => {}
            },
            Token::Name(b"sys") if matches!(rest, [Token::Mark(b'.'), Token::Name(b"path"), ..]) => {
                imports.unseen.push("changes or reads sys.path");
            }
            Token::Name(b"spec_from_file_location" | b"run_path" | b"run_module" | b"exec" | b"execfile")
                if matches!(rest, [Token::Mark(b'('), ..]) =>
            {
                imports.unseen.push("loads code by other means than an import statement");
            }
            _ => {}
        }
    }
}

/// `a.b as c, d`
fn read_import(tokens: &[Token<'_>]) -> Vec<Import> {
    let parts = tokens.split(|token| *token == Token::Mark(b','));
    let modules = parts.map(|part| dotted(part).0).filter(|module| !module.is_empty());
    modules.map(|module| Import { level: 0, module, names: Vec::new() }).collect()
}

/// `..a.b import (c as d, e)`
fn read_from(tokens: &[Token<'_>]) -> Option<Import> {
    let level = tokens.iter().take_while(|token| **token == Token::Mark(b'.')).count();
    let (module, rest) = dotted(&tokens[level..]);
    let [Token::Name(b"import"), names @ ..] = rest else { return None };
    let names = names.split(|token| *token == Token::Mark(b','));
    let first_name = |part: &[Token<'_>]| {
        part.iter().find_map(|token| if let Token::Name(name) = token { Some(text(name)) } else { None })
    };
    Some(Import { level, module, names: names.filter_map(first_name).collect() })
}

/// A dotted name, and what follows it.
fn dotted<'t, 's>(mut tokens: &'t [Token<'s>]) -> (String, &'t [Token<'s>]) {
    let mut name = String::new();
    while let [Token::Name(part), rest @ ..] = tokens {
        if *part == b"import" || *part == b"as" {
            break;
        }
        name.push_str(&text(part));
        tokens = rest;
        match tokens {
            [Token::Mark(b'.'), rest @ ..] => {
                name.push('.');
                tokens = rest;
            }
            _ => break,
        }
    }
    (name, tokens)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    /// How many brackets are open: a line end inside brackets does not end a statement.
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn tokens(mut self) -> Vec<Token<'a>> {
        let mut tokens = Vec::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'#' => self.skip_comment(),
                b'\\' => {
                    self.at += if self.peek(1) == Some(b'\r') && self.peek(2) == Some(b'\n') { 3 } else { 2 }
                }
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.depth == 0 {
                        tokens.push(Token::End);
                    }
                }
                b'"' | b'\'' => tokens.push(self.string(b"")),
                _ if is_name(byte) => {
                    let start = self.at;
                    while self.peek(0).is_some_and(is_name) {
                        self.at += 1;
                    }
                    let name = &self.source[start..self.at];
                    let quoted = matches!(self.peek(0), Some(b'"' | b'\''));
                    tokens.push(if quoted && is_prefix(name) {
                        self.string(name)
                    } else {
                        Token::Name(name)
                    });
                }
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                mark => {
                    self.at += 1;
                    match mark {
                        b'(' | b'[' | b'{' => self.depth += 1,
                        b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    tokens.push(Token::Mark(mark));
                }
            }
        }
        tokens
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n' && byte != b'\r') {
            self.at += 1;
        }
    }

    /// Reads a string at its first quote.
    fn string(&mut self, prefix: &[u8]) -> Token<'a> {
        let Some(quote) = self.peek(0) else { return Token::Text };
        let is_long = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let has_fields = prefix.iter().any(|byte| matches!(byte.to_ascii_lowercase(), b'f' | b't'));
        self.at += if is_long { 3 } else { 1 };
        let start = self.at;
        let mut is_plain = prefix.is_empty() && !is_long;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => {
                    is_plain = false;
                    self.at += 2;
                }
                b'{' if has_fields && self.peek(1) == Some(b'{') => self.at += 2,
                b'{' if has_fields => {
                    self.at += 1;
                    self.skip_field();
                }
                // An unclosed string that is not triple-quoted ends with its line.
                b'\n' if !is_long => return Token::Text,
                _ if byte == quote && !is_long => {
                    self.at += 1;
                    let inside = &self.source[start..self.at - 1];
                    return if is_plain { Token::Plain(inside) } else { Token::Text };
                }
                _ if byte == quote && self.peek(1) == Some(quote) && self.peek(2) == Some(quote) => {
                    self.at += 3;
                    return Token::Text;
                }
                _ => self.at += 1,
            }
        }
        Token::Text
    }

    /// Skips a replacement field of an f-string, after its `{`: an expression that may contain strings, even
    /// with the quotes of the f-string, and a format that may contain more fields.
    fn skip_field(&mut self) {
        // The open brackets; the innermost one decides what a colon or a quote means.
        let mut open = vec![Open::Field];
        while let (Some(byte), Some(innermost)) = (self.peek(0), open.last().copied()) {
            match (byte, innermost) {
                (b'{', Open::Format) => open.push(Open::Field),
                (b'(' | b'[' | b'{', Open::Field | Open::Bracket) => open.push(Open::Bracket),
                (b'}', _) | (b')' | b']', Open::Bracket) => {
                    open.pop();
                }
                (b':', Open::Field) => {
                    open.pop();
                    open.push(Open::Format);
                }
                (b'#', Open::Field | Open::Bracket) => {
                    self.skip_comment();
                    continue;
                }
                (b'"' | b'\'', Open::Field | Open::Bracket) => {
                    self.string(b"");
                    continue;
                }
                (b'\n', Open::Format) => return,
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// The expression of a field.
    Field,
    /// A bracket in an expression.
    Bracket,
    /// The format after an expression.
    Format,
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn is_prefix(name: &[u8]) -> bool {
    name.len() <= 2 && name.iter().all(|byte| b"rRbBuUfFtT".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(source: &str) -> String {
        let show = |import: &Import| {
            let names =
                if import.names.is_empty() { String::new() } else { format!(":{}", import.names.join("+")) };
            format!("{}{}{names}", ".".repeat(import.level), import.module)
        };
        scan(source.as_bytes()).found.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn imports_are_found_wherever_a_statement_can_stand() {
        for (source, expected) in [
            ("import a", "a"),
            ("import a.b as c, d . e,f\n", "a.b d.e f"),
            ("from a.b import c", "a.b:c"),
            ("from . import x as y, z", ".:x+z"),
            ("from ...up.more import (\n  x, # why\n  y,\n)", "...up.more:x+y"),
            ("from a import *", "a"),
            ("try: import a\nexcept ImportError: import b\nelse:\n\timport c", "a b c"),
            ("x = 1; import a; import b", "a b"),
            ("def f():\n    if x:\n        from a import b\n", "a:b"),
            ("import \\\n  a, \\\r\n  b", "a b"),
            ("class A: from a import b", "a:b"),
            ("importlib.import_module('a.b')", "a.b"),
            ("m = __import__(\"a\")", "a"),
            ("import größe", "größe"),
        ] {
            assert_eq!(found(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_statement_imports_nothing() {
        for source in [
            "'import a'",
            "\"\"\"\nimport a\n\"\"\"",
            "# import a",
            "x = r'\\\\'; y = '''\nimport a'''",
            "raise E from e",
            "yield from a",
            "f'{x}\\\nimport a'",
            "print(f\"{d['import']}\")",
            "f'''{x!r:>{width}}\nimport a\n'''",
            "b'\\\nimport a'",
            "x = f\"{d[\"a\"]}import a\"",
        ] {
            assert_eq!(found(source), "", "{source}");
        }
    }

    #[test]
    fn strings_end_where_they_end() {
        for before in [
            "x = 'a\\'b'",
            "x = \"\"\"a\"b\"\"c\"\"\"",
            "x = f\"{d[\"k\"]}\"",
            "x = f'{d['k']:{w}}{{'",
            "x = f'{{{a}}}'",
            "x = f'{x:%H:%M}'",
            "x = f'{lambda_:>{1 + (2)}}'",
            "x = Rb'\\'",
            "x = ''",
            "x = f''",
            "x = f'''{\n a # }\n}'''",
            "x = {'a': f'{b}'}",
            "x = f'{a[1:2]}{(lambda: 1)()}'",
        ] {
            assert_eq!(found(&format!("{before}\nimport a")), "a", "{before}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_told() {
        let unseen = |source: &str| scan(source.as_bytes()).unseen.len();
        assert_eq!(unseen("import sys\nsys.path.insert(0, 'lib')"), 1);
        assert_eq!(unseen("__import__(name); exec(text)"), 2);
        assert_eq!(unseen("import_module('a'); sys.exit()"), 0);
    }

    /// For every file of the standard library, the result is the same as that of python's own parser.
    #[test]
    fn it_agrees_with_python() {
        const CODE: &str = "\
import ast, os, sysconfig
folder = sysconfig.get_path('stdlib')
for name in sorted(os.listdir(folder)):
    if not name.endswith('.py'): continue
    path = os.path.join(folder, name)
    found = set()
    for node in ast.walk(ast.parse(open(path, 'rb').read())):
        if isinstance(node, ast.Import): found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom): found.add('.' * node.level + (node.module or ''))
    print(path, *sorted(found), sep='\\t')
";
        let output = std::process::Command::new("python3").args(["-I", "-c", CODE]).output();
        let output =
            String::from_utf8(output.expect("python3 is needed: see CONTRIBUTING.md").stdout).unwrap();
        let mut files = 0;
        for line in output.lines() {
            let mut fields = line.split('\t');
            let path = fields.next().unwrap();
            let expected: std::collections::BTreeSet<String> = fields.map(str::to_owned).collect();
            let imports = scan(&std::fs::read(path).unwrap()).found.into_iter();
            let names = imports.map(|import| ".".repeat(import.level) + &import.module);
            let found: std::collections::BTreeSet<String> = names.collect();
            let is_named_by_a_call = |name: &&String| found.contains(*name) && !expected.contains(*name);
            let extra = found.iter().filter(is_named_by_a_call).count();
            assert!(expected.is_subset(&found) && extra <= 2, "{path}: {expected:?} {found:?}");
            files += 1;
        }
        assert!(files > 100, "only {files} files were compared");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(source in proptest::collection::vec(any::<u8>(), 0..200)) {
            scan(&source);
        }

        #[test]
        fn any_text_of_quotes_and_brackets_is_read(source in "[fb'\"{}()\\[\\]:\\\\\n#x ]{0,60}") {
            scan(source.as_bytes());
        }
    }
}
