//! Words, quotes, escapes, comments and variables of one line.

use super::*;

/// The words of a line, with variables as they were written, and the messages of its problems.
fn read(text: &str, dollar: Dollar) -> (Vec<String>, Vec<String>) {
    let mut line = Lexer::new(text);
    let mut words = Vec::new();
    while let Some(word) = line.word(dollar) {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Variable(Reference::Broken, _) => "<broken>".to_owned(),
            Piece::Variable(_, span) => format!("<{}>", &text[span.start..span.end]),
        };
        words.push(word.pieces.iter().map(piece).collect());
    }
    (words, line.problems.into_iter().map(|problem| problem.message).collect())
}

fn words(text: &str) -> Vec<String> {
    let (words, problems) = read(text, Dollar::Variable);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    words
}

fn problem(text: &str) -> String {
    let (_, mut problems) = read(text, Dollar::Variable);
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems.remove(0)
}

#[test]
fn words_end_at_white_space_of_any_kind() {
    assert_eq!(words(" a\tb\u{a0}c  "), ["a", "b", "c"]);
    assert_eq!(words(""), Vec::<String>::new());
}

#[test]
fn pieces_without_white_space_between_are_one_word() {
    assert_eq!(words(r#"a"b c"'d e'f"#), ["ab cd ef"]);
    assert_eq!(words(r#""" '' x"#), ["", "", "x"]);
}

#[test]
fn variables_are_found_bare_and_in_double_quotes_only() {
    assert_eq!(words(r#"$tool "a $tool." '$tool $$ ${x' "#), ["<$tool>", "a <$tool>.", "$tool $$ ${x"]);
    assert_eq!(words("$tool$agent${a.b}x"), ["<$tool><$agent><${a.b}>x"]);
    assert_eq!(words("$$tool $$$tool"), ["$tool", "$<$tool>"]);
}

#[test]
fn a_dollar_is_plain_when_variables_have_no_place() {
    assert_eq!(read(r#"re:a$ "b $c" 'd$'"#, Dollar::Plain).0, ["re:a$", "b $c", "d$"]);
    assert!(read(r"re:a\$b\w+", Dollar::Plain).1.is_empty());
}

#[test]
fn escapes_work_in_double_quotes_and_nowhere_else() {
    assert_eq!(words(r#""a\"b\\c\nd\te\$f""#), ["a\"b\\c\nd\te$f"]);
    assert_eq!(words(r"'a\nb' a\nb C:\dir"), [r"a\nb", r"a\nb", r"C:\dir"]);
    assert_eq!(problem(r#""C:\dir""#), r"`\d` is not a valid escape in double quotes");
}

#[test]
fn a_bare_backslash_is_refused_where_it_looks_like_an_escape() {
    for text in [r"a\ b", r"\$tool", r"a\'b'", r#"a\"b""#] {
        assert_eq!(problem(text), "a backslash outside quotes escapes nothing", "{text}");
    }
}

#[test]
fn a_comment_begins_at_the_beginning_of_a_word() {
    assert_eq!(words("a #b c"), ["a"]);
    assert_eq!(words("#a"), Vec::<String>::new());
    assert_eq!(words(r##"a#b "#c" '#'"##), ["a#b", "#c", "#"]);
}

#[test]
fn an_open_quote_is_reported_at_its_beginning() {
    for text in ["a 'b", "a \"b", "a \"b\\", "a \"b\\\""] {
        let mut line = Lexer::new(text);
        while line.word(Dollar::Variable).is_some() {}
        assert!(line.unclosed);
        assert_eq!((line.problems.len(), line.problems[0].span), (1, Span::new(2, 3)), "{text}");
    }
}

#[test]
fn a_dollar_that_names_nothing_is_refused() {
    for text in ["$", "a$", "\"$\"", "$ x", "$-x", "$.x"] {
        assert_eq!(problem(text), "this `$` names nothing", "{text}");
    }
}

#[test]
fn paths_take_names_and_numbers() {
    assert_eq!(words("${a} ${a.b.0} ${a[0][1].b} ${a-b.é}").len(), 4);
    assert_eq!(path("a[0].b"), path("a.0.b"));
    assert_eq!(problem("${}"), "`${}` names no field");
    for text in ["${a..b}", "${.a}", "${a.}", "${[0]}", "${a]}"] {
        assert!(problem(text).ends_with("lacks a name"), "{text}");
    }
    for text in ["${a[x]}", "${a[0}", "${a[]}", "${a[-1]}", "${a[0]b}"] {
        assert!(problem(text).ends_with("lacks a number in `[…]`"), "{text}");
    }
}

#[test]
fn an_open_path_does_not_swallow_what_comes_after() {
    assert_eq!(problem("${a"), "this `${` is not closed");
    assert_eq!(problem("\"${a\" '}'"), "this `${` is not closed");
    assert_eq!(problem("${a b} c"), "` ` is not allowed in a `${…}`");
    assert_eq!(read("\"${a b} c\" d", Dollar::Variable).0, ["<broken> c", "d"]);
    assert_eq!(read("\"x ${a\" d", Dollar::Variable).0, ["x <broken>", "d"]);
}

#[test]
fn reading_goes_on_after_a_mistake() {
    assert_eq!(read("$ \"\\q\" ${} \\$", Dollar::Variable).1.len(), 5);
}
