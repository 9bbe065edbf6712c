//! The quick reader agrees with the full parser about every text that it accepts, and it accepts common
//! files.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::parse::parse_fully;
use super::super::source::Source;
use super::*;

/// Pieces of simple files, and some that the quick reader does not accept.
const PIECES: &[&str] = &[
    "a: b\n",
    "a:\n",
    "b:\n",
    "  c: d\n",
    "  e:\n",
    "    f: 1\n",
    "- x\n",
    "  - y\n",
    "- k: v\n",
    "  l: w\n",
    "  - m: n\n",
    "    o: p\n",
    "- \"q\"\n",
    "- [a, 'b']\n",
    "g: {h: i, \"j\": 2}\n",
    "{\"a\": [1, {}], \"b\":\"c\"}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ", ",
    ":",
    ": ",
    "-",
    "- ",
    " ",
    "  ",
    "\n",
    "#",
    " # c\n",
    "# c\n",
    "'",
    "\"",
    "''",
    "\\\"",
    "\\n",
    "\\u0041",
    "\\",
    "a",
    "1",
    "-1",
    "~",
    "null",
    "true",
    "yes",
    ".5",
    "/x",
    "$y",
    "(z)",
    "a:b",
    "a: b: c",
    "x y",
    "é",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "---\n",
    "...\n",
    "%",
    "&a ",
    "*a",
    "!t ",
    "|\n",
    ">\n",
    "?",
    "@",
    "`",
    "\t",
    "\r",
    "<<: ",
    "=",
    "+",
    "~a",
    "|",
    "*",
];

const SAMPLE: &str = "\
# Guards.
hooks:
  timeout: 5000   # milliseconds
  PreToolUse:
    - name: no-rm
      matcher: \"Bash|shell\"
      command: ./guard.sh --fast
      env: {A: '1', \"B\": [x, y]}
    - matcher: '*'
      type: command
      argv: [\"sh\", \"-c\", \"echo \\\"hi\\\"\"]

      on_error: abort
  PostToolUse:
  - command: cat >/dev/null; echo {}
    priority: -5
  Stop:
permissions:
  git: allow
";

/// Reads a text with both readers. Returns whether the quick reader accepted it.
fn agree(text: &str) -> bool {
    let Some(node) = read(text) else { return false };
    let source = Source::new("t.yaml", text);
    assert_eq!(Ok(&node), parse_fully(&source).as_ref(), "{text}");
    true
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            files(&path, found);
        } else if name.ends_with(".yaml") || name.ends_with(".json") {
            found.push(path);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn both_agree_on_joined_pieces(pieces in vec(select(PIECES), 0..12)) {
        agree(&pieces.concat());
    }

    #[test]
    fn both_agree_on_any_change_of_a_sample(changes in vec((any::<Index>(), 0..12_usize, select(PIECES)), 1..4)) {
        let mut text = SAMPLE.to_owned();
        for (at, drop, piece) in changes {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.floor_char_boundary(start + drop).max(start);
            text.replace_range(start..end, piece);
        }
        agree(&text);
    }
}

#[test]
fn both_agree_on_every_file_of_the_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root, &mut found);
    let read = found.iter().filter(|path| agree(&fs::read_to_string(path).unwrap())).count();
    assert!(read > found.len() / 2, "{read} of {} files are plain", found.len());
}

#[test]
fn what_people_write_is_plain() {
    for text in [
        SAMPLE,
        "hooks:\n  PreToolUse:\n    - {matcher: Bash, command: \"cat >/dev/null; echo {}\"}\n",
        "{\"hooks\": {\"PreToolUse\": [\n  {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"a \\\"b\\\"\"}]}\n]}}\n",
        "{\"hooks\":{\"PreToolUse\":[{\"timeout\":10,\"x\":null}]}}",
    ] {
        assert!(agree(text), "{text}");
    }
}

#[test]
fn what_is_not_plain_is_left_to_the_whole_parser() {
    for text in [
        "",
        "a",
        "a: &x b\n",
        "a: |\n  b\n",
        "a: b\na: c\n",
        "a:\n  b\n  c\n",
        "a: [b,\n  c]\n",
        "a: b: c\n",
        "\ta: b\n",
    ] {
        assert!(!agree(text), "{text:?}");
    }
}
