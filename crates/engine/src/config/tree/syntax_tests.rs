use super::super::parse_document;
use super::*;

/// Line, column, marked text and message of the only problem.
fn problem(text: &str) -> (usize, usize, String, String) {
    let found = parse_document(&Source::new("t.yaml", text)).expect_err(text);
    let last = found.iter().last().unwrap();
    assert_eq!(found.len(), 1, "{found}");
    assert!(!last.message().contains("valid YAML"), "{found}");
    (last.line(), last.column(), last.source().slice(last.span()).to_owned(), last.message().to_owned())
}

fn check(text: &str, line: usize, column: usize, marked: &str, message: &str) {
    let expected = (line, column, marked.to_owned(), message.to_owned());
    assert_eq!(problem(text), expected, "{text:?}");
}

fn help(text: &str) -> String {
    let found = parse_document(&Source::new("t.yaml", text)).expect_err(text);
    found.iter().last().unwrap().help().unwrap().to_owned()
}

#[test]
fn missing_colon_is_reported_at_its_line() {
    let message = "this line is neither `key: value` nor `- item`";
    check("a: 1\nfoo bar\n# c\n\nb: 2\n", 2, 1, "foo bar", message);
    check("a: 1\nfoo\n", 2, 1, "foo", message);
    check("- x\ny", 2, 1, "y", message);
}

#[test]
fn key_with_wrong_indentation_is_reported() {
    let message = "this key does not fit the line above it";
    check("a: 1\n  b: 2\n", 2, 3, "b", message);
    check("a:b\nlong key: d", 2, 1, "long key", message);
    check("a:\n    b: 1\n  c: 2\n", 3, 3, "c", "this line does not belong to the mapping above it");
    check("a:\n  - x: 1\n  y: 2\n", 3, 3, "y", "this line does not belong to the list above it");
}

#[test]
fn second_colon_in_a_value_is_reported() {
    check("a: b: c\n", 1, 5, ":", "a second `: ` in one line");
    assert!(help("cmd: echo \"hi\": x").contains("in quotes"));
}

#[test]
fn bare_glob_is_reported_with_the_quotes_it_needs() {
    check("matcher: *\n", 1, 10, "*", "the name is missing after `*`");
    assert_eq!(help("matcher: *\n"), "write `\"*\"` if it is meant as text");
    assert_eq!(help("matcher: [*.py, b]\n"), "write `\"*.py\"` if it is meant as text");
    check("a: &\n", 1, 4, "&", "the name is missing after `&`");
}

#[test]
fn reserved_character_is_reported() {
    check("a: @x\n", 1, 4, "@", "a value cannot start with `@`");
    check("a: `x`\n", 1, 4, "`", "a value cannot start with a backtick");
    check("a: %x\n", 1, 4, "%", "a value cannot start with `%`");
}

#[test]
fn quote_that_is_not_closed_is_reported_where_it_opens() {
    check("a: \"foo\n", 1, 4, "\"", "this quoted text is never closed");
    check("a: 'foo\nb: 1\n", 1, 4, "'", "this quoted text goes on in a line that is not indented");
    check("a: 'b\n---\nc'", 1, 4, "'", "this quoted text is not closed before the document ends");
    check("a: 'it's'\n", 1, 8, "s", "unexpected text after the closing quote");
}

#[test]
fn wrong_escape_is_reported_where_it_is() {
    check("é: \"\\\\ re:\\d+\"\n", 1, 11, "\\d", "`\\d` is not a valid escape in double quotes");
    check("a: \"\\xZZ\"\n", 1, 5, "\\x", "hexadecimal digits are missing in `\\x`");
    check("a: \"\\n\\u00e\"", 1, 7, "\\u00e", "hexadecimal digits are missing in `\\u00e`");
    check("a: \"\\ud83d\\ude00\\ud83d\"\n", 1, 17, "\\ud83d", "`\\ud83d` is not a character");
    check("a: \"\\é\"\n", 1, 5, "\\é", "`\\é` is not a valid escape in double quotes");
    check("a: \"\\UFFFFFFFF\"\n", 1, 5, "\\UFFFFFFFF", "`\\UFFFFFFFF` is not a character");
}

#[test]
fn bracket_that_is_not_closed_is_reported_where_it_opens() {
    check("a: 1\nb: [1, {c: 2}\n\n", 2, 4, "[", "this `[` is never closed");
    check("b: &x {c: 2\n", 1, 7, "{", "this `{` is never closed");
    check("a: [1,\n", 1, 4, "[", "this `[` is never closed");
    check("a: [b: c\n", 1, 4, "[", "this `[` is never closed");
    check("a: [1, 2]]", 1, 10, "]", "this bracket closes nothing");
    check("a: [1, 2\nb: 3\n", 2, 2, ":", "a `:` is not allowed here");
    check("a:\n  b: [\n1]", 3, 1, "1", "this line must be indented more than the key it belongs to");
}

#[test]
fn missing_comma_is_reported_with_the_bracket() {
    check("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 6, ":", "expected `,` or `}` here");
    check("[{a: 1} {b: 2}]", 1, 9, "{", "expected `,` or `]` here");
    let found = parse_document(&Source::new("t", "[[a] b]")).unwrap_err();
    let related = found.iter().next().unwrap().related().unwrap().clone();
    assert_eq!((related.span, related.label.as_str()), (Span::new(0, 1), "opened here"));
}

#[test]
fn surplus_comma_is_reported() {
    check("{\"a\": 1,,}", 1, 9, ",", "a value is missing here");
}

#[test]
fn missing_spaces_are_reported() {
    check("{a:[1]}", 1, 3, ":", "a space is missing after the `:`");
    check("a: \"x\"#c\n", 1, 7, "#", "a space is missing before the `#` of this comment");
}

#[test]
fn list_item_in_the_wrong_place_is_reported() {
    check("a: - b\n", 1, 4, "-", "a list item cannot start here");
    check("a: [\n  - b ]", 2, 3, "-", "an item with `- ` is not allowed inside `[ ]` or `{ }`");
    check("a: [-]", 1, 5, "-", "a single `-` must be in quotes here");
}

#[test]
fn broken_block_is_reported() {
    check("a: |x\n", 1, 4, "|", "nothing may follow `|` or `>` on its line");
    check("a: |0\n x", 1, 4, "|", "a block cannot be indented by 0");
    check(
        "a:\n  b: |\n\n     \n   c\n",
        5,
        4,
        "c",
        "this line is indented less than the block it belongs to",
    );
}

#[test]
fn rare_mistakes_have_words_too() {
    check("a: x # c\n  y\n", 1, 6, "#", "a comment is not allowed in the middle of a text of several lines");
    check("a: !x!y z\n", 1, 4, "!", "this tag is not valid");
    check("a: !é z\n", 1, 4, "!", "this tag is not valid");
    check("{a: 1} b\n", 1, 8, "b", "this does not belong to the value above it");
    check("a: 1\n... x\n", 2, 5, "x", "nothing may follow `...` on its line");
    check("%YAML 1\n---\na", 1, 1, "%", "this `%` line is not understood");
    check("a: ? b\n", 1, 4, "?", "a `?` key is not allowed here");
    let bom = "there is an invisible character, a byte order mark, in the middle of the file";
    check("a: 1\n\u{feff}b: 2\n", 2, 1, "\u{feff}", bom);
}

#[test]
fn unknown_complaint_is_passed_on() {
    let source = Source::new("t", "abc\n");
    let problem = explain(&source, "the moon is full", 99, None);
    assert_eq!(problem.message(), "this is not valid YAML: the moon is full");
    assert_eq!(problem.span(), Span::at(3));
}
