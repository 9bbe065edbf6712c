//! Properties that hold for any text: parsing ends, spans fit the text, and JSON is read unchanged.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use saphyr_parser::StrInput;
use serde_json::Value as Json;

use super::super::node::Style;
use super::*;

/// Pieces with a meaning in YAML, to be joined at random.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:",
    "- ",
    "-",
    "? ",
    "?",
    ": ",
    ":",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    "&a ",
    "*a",
    "&b",
    "*b ",
    "!t ",
    "!!str ",
    "!<x> ",
    "!",
    "'",
    "\"",
    "''",
    "\\u",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\x4",
    "\\",
    "|",
    "|+",
    "|2",
    ">-",
    ">",
    "\n",
    "\n ",
    "\n  ",
    "\n    ",
    "\t",
    "#",
    " # c",
    "---",
    "--- ",
    "...",
    "%YAML 1.2",
    "%TAG ! a",
    "%",
    "\r",
    "\r\n",
    "é",
    "日",
    "\u{feff}",
    "<<: *a",
    "~",
    "null",
    "true",
    "1",
    "-1.5e3",
    " ",
    "  ",
    "@",
    "`",
    "x y",
    "\u{85}",
    "\u{2028}",
    "key: value\n",
    "- item\n",
    "  - item\n",
    "  key: value\n",
    "[a, b]",
    "{a: b}",
    "\"q\"",
    "'q'",
    "k: [\n",
    "k: {\n",
    "- |\n  text\n",
    "- >\n\n  t\n\n",
    ":\t",
    "-\t",
    "\n\t",
    "\0",
    "\u{1b}",
];

/// A file as people write it.
const SAMPLE: &str = "\
hooks:
  error_behavior: log        # skip | log | abort
  timeout: 5000
  PreToolUse: &pre
    - name: no-rm
      matcher: \"Bash|shell\"
      command: ./guard.sh --café
      env: {A: '1', \"B\": [x, y], C: \"\\ud83d\\ude00\"}
    - matcher: '*'
      run: |
        one
          two

      note: >-
        folded
        text
  PostToolUse: {override: false, hooks: *pre}
scripts:
- hooks.arma
- [a, {b: c}, 日本, !env HOME]
";

/// Checks the invariants that hold for any text. Returns whether it could be read.
fn check(text: &str) -> bool {
    let source = Source::new("p.yaml", text);
    match parse_document(&source) {
        Ok(node) => {
            // The full parser reads the same tree.
            assert_eq!(parse_fully(&source).as_ref(), Ok(&node), "{text}");
            check_node(&node, text, 0);
            let json = node.to_json();
            let again = parse_document(&Source::new("again", json.as_str())).unwrap();
            assert_eq!(again.to_json(), json);
            true
        }
        Err(problems) => {
            assert!(problems.errors() > 0 && problems.len() <= 2 * MAX_PROBLEMS);
            for problem in &problems {
                assert!(problem.span().start <= problem.span().end);
                assert!(text.get(problem.span().start..problem.span().end).is_some(), "{problem:?}");
                assert!(problem.line() <= text.split(['\n', '\r']).count());
            }
            let shown = problems.to_string();
            assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
            false
        }
    }
}

fn check_node(node: &Node, text: &str, depth: usize) {
    assert!(depth <= MAX_DEPTH);
    let written = text.get(node.span.start..node.span.end).unwrap();
    let marked = written.starts_with(['&', '!', '*']);
    match &node.value {
        Value::Number(digits) if !marked => assert_eq!(written, &**digits),
        Value::Text(inner) if !marked => match node.style {
            Style::Plain if !inner.contains(' ') && !inner.contains('\n') => assert_eq!(written, inner),
            Style::Quoted => {
                let quote = written.chars().next().unwrap();
                assert!(written.len() >= 2 && matches!(quote, '\'' | '"') && written.ends_with(quote));
            }
            _ => {}
        },
        Value::List(items) => items.iter().for_each(|item| check_node(item, text, depth + 1)),
        Value::Map(entries) => {
            for entry in entries {
                assert!(text.get(entry.key_span.start..entry.key_span.end).is_some());
                check_node(&entry.value, text, depth + 1);
            }
        }
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![any::<String>(), select(PIECES).prop_map(str::to_owned), "[ -~]{0,40}"];
    let number = prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        number,
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Json::from),
            btree_map(text.clone(), inner, 0..8).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// Writes JSON in the most unusual form that is allowed: escapes for everything that is not a letter, and the
/// given white space wherever it is allowed.
fn write_odd_json(value: &Json, blanks: &[&str], out: &mut String) {
    let blank = |out: &mut String| out.push_str(blanks[out.len() % blanks.len()]);
    let text = |text: &str, out: &mut String| {
        out.push('"');
        for unit in text.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
                Ok(b'/') => out.push_str("\\/"),
                _ => out.push_str(&format!("\\u{unit:04X}")),
            }
        }
        out.push('"');
    };
    blank(out);
    match value {
        Json::String(inner) => text(inner, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_odd_json(item, blanks, out);
            }
            blank(out);
            out.push(']');
        }
        Json::Object(map) => {
            out.push('{');
            for (index, (key, item)) in map.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                blank(out);
                text(key, out);
                blank(out);
                out.push(':');
                write_odd_json(item, blanks, out);
            }
            blank(out);
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
    blank(out);
}

/// Reads JSON with both readers, which must agree.
fn compare(text: &str) -> String {
    let source = Source::new("j.json", text);
    let node = parse_document(&source).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    assert_eq!(parse_fully(&source).as_ref(), Ok(&node), "{text}");
    check_node(&node, text, 0);
    let json = node.to_json();
    let ours: Json = serde_json::from_str(&json).unwrap();
    let theirs: Json = serde_json::from_str(text).unwrap();
    assert_eq!(ours, theirs);
    json
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_ends_well_for_any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn reading_ends_well_for_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn reading_ends_well_for_any_joined_pieces(pieces in vec(select(PIECES), 0..40)) {
        check(&pieces.concat());
    }

    #[test]
    fn reading_ends_well_for_any_change_of_a_sample(
        changes in vec((any::<prop::sample::Index>(), 0..20_usize, select(PIECES)), 1..5)
    ) {
        let mut text = SAMPLE.to_owned();
        for (at, drop, piece) in changes {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.floor_char_boundary(start + drop).max(start);
            text.replace_range(start..end, piece);
        }
        check(&text);
    }

    #[test]
    fn json_survives(value in any_json()) {
        let compact = value.to_string();
        prop_assert_eq!(&compare(&compact), &compact);
        prop_assert_eq!(&compare(&serde_json::to_string_pretty(&value).unwrap()), &compact);
    }

    #[test]
    fn json_survives_when_written_oddly(
        value in any_json(),
        blanks in vec(select(&["", " ", "\t", "\n", "\r\n", " \t ", "\n\n\t"][..]), 1..6)
    ) {
        let mut text = String::new();
        write_odd_json(&value, &blanks, &mut text);
        prop_assert_eq!(compare(&text), value.to_string());
    }

    #[test]
    fn parser_sees_the_text_as_it_is(pieces in vec(select(PIECES), 0..40)) {
        // Tabs and surrogate pairs are read differently on purpose, and the parser's own input miscounts
        // characters in directives.
        let text = pieces.concat().replace('\t', " ").replace("\\ud83d\\ude00", "").replace('%', "");
        let ours: Vec<_> = Parser::new(Chars::new(&text, 0)).take_while(Result::is_ok).collect();
        let theirs: Vec<_> = Parser::new(StrInput::new(&text)).take_while(Result::is_ok).collect();
        prop_assert_eq!(ours, theirs);
    }
}

#[test]
fn sample_can_be_read() {
    assert!(check(SAMPLE));
    assert!(check(&SAMPLE.replace('\n', "\r\n")));
    assert!(check(&format!("\u{feff}{SAMPLE}")));
}
