use super::super::snippet::is_unsafe_to_print;
use super::*;

fn span_of(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    Span::new(start, start + part.len())
}

fn shown(text: &str, part: &str) -> String {
    let source = Source::new("f.yaml", text);
    Problem::error(&source, span_of(text, part), "bad").to_string()
}

#[test]
fn display_reads_like_a_compiler() {
    let text = "hooks:\n  PreToolUse:\n    - matchr: Bash\n";
    let source = Source::new("path/file.yaml", text);
    let problem = Problem::error(&source, span_of(text, "matchr"), "unknown key `matchr`")
        .with_help("did you mean `matcher`?");
    let expected = "\
path/file.yaml:3:7: error: unknown key `matchr`
  |
3 |     - matchr: Bash
  |       ^^^^^^
  help: did you mean `matcher`?";
    assert_eq!(problem.to_string(), expected);
}

#[test]
fn display_shows_the_related_place_with_gutters_aligned() {
    let text = format!("a: 1\n{}a: 2\n", "\n".repeat(9));
    let source = Source::new("f.yaml", text.as_str());
    let second = text.rfind('a').unwrap();
    let problem = Problem::error(&source, Span::new(second, second + 1), "`a` is written twice")
        .with_related(&source, Span::new(0, 1), "first written here");
    let expected = "\
f.yaml:11:1: error: `a` is written twice
   |
11 | a: 2
   | ^
  first written here: f.yaml:1:1
   |
 1 | a: 1
   | ^";
    assert_eq!(problem.to_string(), expected);
}

#[test]
fn carets_stand_under_the_place_when_characters_are_wide_or_tabs() {
    let expected = "f.yaml:1:6: error: bad\n  |\n1 | 日本:     xyz\n  |           ^^^";
    assert_eq!(shown("日本:\t xyz", "xyz"), expected);
    let expected = "f.yaml:1:4: error: bad\n  |\n1 | k: 日本\n  |    ^^^^";
    assert_eq!(shown("k: 日本", "日本"), expected);
}

#[test]
fn one_caret_is_shown_when_the_place_is_empty() {
    let source = Source::new("f.yaml", "a:\n");
    let text = Problem::warning(&source, Span::at(2), "nothing here").to_string();
    assert_eq!(text, "f.yaml:1:3: warning: nothing here\n  |\n1 | a:\n  |   ^");
}

#[test]
fn first_line_is_marked_when_the_place_spans_several() {
    let text = shown("a: x\r\n  y\r\nb: 1", "x\r\n  y");
    assert_eq!(text, "f.yaml:1:4: error: bad\n  |\n1 | a: x\n  |    ^");
}

#[test]
fn no_snippet_is_shown_when_the_text_is_empty() {
    let source = Source::new("f.yaml", "");
    let problem = Problem::error(&source, Span::at(0), "cannot be read");
    assert_eq!(problem.to_string(), "f.yaml:1:1: error: cannot be read");
}

#[test]
fn long_line_is_cut_around_the_place() {
    let text = format!("{}NEEDLE{}", "a".repeat(5_000), "b".repeat(5_000));
    let shown = shown(&text, "NEEDLE");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "f.yaml:1:5001: error: bad");
    let (lead, rest) = ("a".repeat(30), "b".repeat(64));
    assert_eq!(lines[2], format!("1 | …{lead}NEEDLE{rest}…"));
    assert_eq!(lines[3], format!("  | {}^^^^^^", " ".repeat(31)));
}

#[test]
fn carets_stop_at_the_cut_when_the_place_is_longer() {
    let text = "x".repeat(3_000);
    let shown = shown(&text, &text);
    assert_eq!(shown.lines().last().unwrap(), format!("  | {}", "^".repeat(70)));
}

#[test]
fn line_stays_short_when_characters_have_no_width() {
    let text = format!("{}!", "\u{301}".repeat(100_000));
    assert!(shown(&text, "!").len() < 2_000);
    assert!(shown(&text, "\u{301}").len() < 2_000);
}

#[test]
fn control_characters_are_escaped_everywhere() {
    let text = "k: \u{1b}[31m\u{202e}x\u{9b}\u{7}";
    let source = Source::new("a\u{1b}]0;b\n", text);
    let problem = Problem::error(&source, span_of(text, "x"), "k\u{1b}[2J\nline two\tend")
        .with_help("\u{8}\u{2066}")
        .with_related(&source, Span::at(0), "\rl\u{85}");
    let shown = problem.to_string();
    let active = |c: char| c != '\n' && is_unsafe_to_print(c);
    assert!(!shown.contains(active), "{shown:?}");
    assert!(shown.starts_with("a\\u{1b}]0;b\\n:1:10: error: k\\u{1b}[2J\\nline two\\tend\n"));
    assert!(shown.contains("k: \\u{1b}[31m\\u{202e}x\\u{9b}\\u{7}\n"), "{shown}");
}

#[test]
fn parts_are_told_in_lines_and_columns() {
    let text = "é: [a,\n  ü]\n";
    let source = Source::new("f.yaml", text);
    let problem = Problem::error(&source, span_of(text, "[a,\n  ü]"), "bad").with_help("mend");
    assert_eq!((problem.line(), problem.column()), (1, 4));
    assert_eq!((problem.end_line(), problem.end_column()), (2, 5));
    assert_eq!(problem.path(), "f.yaml");
    assert_eq!(problem.severity().word(), "error");
    assert_eq!((problem.message(), problem.help()), ("bad", Some("mend")));
}

#[test]
fn nothing_panics_when_the_place_is_not_in_the_text() {
    for text in ["", "é", "a\r\nb", "\u{feff}é\n\n"] {
        let source = Source::new("f", text);
        for start in 0..9 {
            for end in 0..9 {
                let problem = Problem::error(&source, Span::new(start, end), "m");
                assert!(problem.to_string().starts_with("f:"));
                assert!(problem.end_line() >= problem.line());
            }
        }
    }
}

#[test]
fn problems_are_ordered_by_file_and_place() {
    let (a, b) = (Source::new("a", "xyz"), Source::new("b", "xyz"));
    let mut problems = Problems::new();
    problems.push(Problem::error(&b, Span::at(0), "3"));
    problems.push(Problem::warning(&a, Span::at(2), "2"));
    problems.push(Problem::error(&a, Span::at(1), "1"));
    problems.extend([Problem::error(&a, Span::at(0), "0")]);
    let order: Vec<&str> = problems.iter().map(Problem::message).collect();
    assert_eq!(order, ["0", "1", "2", "3"]);
    assert_eq!((problems.len(), problems.errors(), problems.warnings()), (4, 3, 1));
}

#[test]
fn problems_are_shown_with_a_blank_line_between() {
    let source = Source::new("f", "ab");
    let both: Problems =
        [Problem::error(&source, Span::at(1), "two"), Problem::error(&source, Span::at(0), "one")]
            .into_iter()
            .collect();
    let expected = "f:1:1: error: one\n  |\n1 | ab\n  | ^\n\nf:1:2: error: two\n  |\n1 | ab\n  |  ^";
    assert_eq!(both.to_string(), expected);
}

#[test]
fn shorten_cuts_between_characters() {
    assert_eq!(shorten("short"), "short");
    assert_eq!(shorten(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
}
