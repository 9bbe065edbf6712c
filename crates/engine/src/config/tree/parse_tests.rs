use super::super::node::Style;
use super::*;

fn read(text: &str) -> Node {
    let source = Source::new("t.yaml", text);
    let node = parse_document(&source).unwrap_or_else(|problems| panic!("{text:?}\n{problems}"));
    assert_eq!(parse_fully(&source).as_ref(), Ok(&node), "{text:?}");
    node
}

fn json(text: &str) -> String {
    read(text).to_json()
}

/// Line, column and message of each problem.
fn problems(text: &str) -> Vec<(usize, usize, String)> {
    let found = parse_document(&Source::new("t.yaml", text)).expect_err(text);
    found.iter().map(|p| (p.line(), p.column(), p.message().to_owned())).collect()
}

fn messages(text: &str) -> Vec<String> {
    problems(text).into_iter().map(|(.., message)| message).collect()
}

/// The text of every span of the tree, including keys, in the order of the tree.
fn spans<'a>(node: &Node, text: &'a str, out: &mut Vec<&'a str>) {
    out.push(text.get(node.span.start..node.span.end).unwrap());
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| spans(item, text, out)),
        Value::Map(entries) => {
            for entry in entries {
                out.push(text.get(entry.key_span.start..entry.key_span.end).unwrap());
                spans(&entry.value, text, out);
            }
        }
        _ => {}
    }
}

fn covered(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    spans(&read(text), text, &mut out);
    out
}

// Values.

#[test]
fn yaml_and_json_give_the_same_tree() {
    let yaml = "hooks:\n  timeout: 5\n  PreToolUse:\n    - matcher: Bash\n      command: ./x.sh\n";
    let expected = r#"{"hooks":{"timeout":5,"PreToolUse":[{"matcher":"Bash","command":"./x.sh"}]}}"#;
    assert_eq!(json(yaml), expected);
    assert_eq!(json(expected), expected);
}

#[test]
fn empty_text_is_nothing() {
    for text in ["", "\n\n", "# only a comment\n", "---\n", "\u{feff}", "  \t\n", "...\n"] {
        assert_eq!(read(text).value, Value::Null, "{text:?}");
    }
}

#[test]
fn byte_order_mark_is_skipped() {
    let text = "\u{feff}a: 1\n";
    assert_eq!(json(text), r#"{"a":1}"#);
    assert_eq!(covered(text), ["a: 1", "a", "1"]);
}

#[test]
fn words_of_older_yaml_stay_text() {
    assert_eq!(
        json("[yes, no, on, off, 0x1F, 1_000, .5, 012, +1, .inf]"),
        r#"["yes","no","on","off","0x1F","1_000",".5","012","+1",".inf"]"#
    );
}

#[test]
fn quoted_scalars_are_text() {
    assert_eq!(json("['5', \"true\", '']"), r#"["5","true",""]"#);
    assert_eq!(read("'5'").style, Style::Quoted);
}

#[test]
fn block_scalars_are_text() {
    assert_eq!(json("a: |\n  one\n  two\nb: >-\n  one\n  two\n"), r#"{"a":"one\ntwo\n","b":"one two"}"#);
    assert_eq!(json("|\n5\n"), r#""5\n""#);
}

#[test]
fn merge_keys_and_tags_are_left_alone() {
    assert_eq!(json("a: &a {x: 1}\nb: {<<: *a, y: 2}\n"), r#"{"a":{"x":1},"b":{"<<":{"x":1},"y":2}}"#);
    assert_eq!(json("a: !env HOME\nb: !!int 5\nc: !x\nd: !x [1]"), r#"{"a":"HOME","b":"5","c":"","d":[1]}"#);
}

#[test]
fn keys_that_are_not_text_become_the_text_they_were_written_with() {
    assert_eq!(
        json("1.0: a\nTrue: b\nnull: c\n~: d\n'q': e\n: f\n"),
        r#"{"1.0":"a","True":"b","null":"c","~":"d","q":"e","":"f"}"#
    );
}

#[test]
fn flow_collections_may_span_lines_and_end_with_a_comma() {
    assert_eq!(json("a: [\n  1,\n  2,\n]\nb: {\n  c: d,\n}\ne: f\n"), r#"{"a":[1,2],"b":{"c":"d"},"e":"f"}"#);
    assert_eq!(json("[a: b, c]"), r#"[{"a":"b"},"c"]"#);
}

#[test]
fn json_may_be_indented_with_tabs() {
    assert_eq!(json("\t{\n\t\"a\":\t1,\n\t\"b\":\ttrue,\t\"c\"\t:\t[\t]\n}"), r#"{"a":1,"b":true,"c":[]}"#);
}

#[test]
fn surrogate_pairs_are_one_character() {
    assert_eq!(json(r#""\ud83d\ude00""#), "\"😀\"");
    assert_eq!(
        json(r#"{"\uD83D\uDE00a": "b\ud83d\ude00\ud83d\ude00c\\ud83d\\ude00"}"#),
        r#"{"😀a":"b😀😀c\\ud83d\\ude00"}"#
    );
    // Outside of double quotes a backslash is a backslash.
    let plain = r"[\ud83d\ude00, '\ud83d\ude00']";
    assert_eq!(json(plain), r#"["\\ud83d\\ude00","\\ud83d\\ude00"]"#);
}

#[test]
fn first_document_may_be_marked() {
    assert_eq!(json("%YAML 1.2\n---\na: 1\n...\n"), r#"{"a":1}"#);
}

// Positions.

#[test]
fn spans_cover_values_and_keys() {
    let text = "a: 1 # c\nb:   'x y'  # 'c'\nc: [1, {d: \"e\"} ] # ]\nf:\n  - g h\n  - i\n";
    let expected = [
        text.trim_end(),
        "a",
        "1",
        "b",
        "'x y'",
        "c",
        "[1, {d: \"e\"} ]",
        "1",
        "{d: \"e\"}",
        "d",
        "\"e\"",
        "f",
        "- g h\n  - i",
        "g h",
        "i",
    ];
    assert_eq!(covered(text), expected);
}

#[test]
fn spans_are_right_when_characters_are_wide_and_lines_end_in_crlf() {
    let text = "\u{feff}ключ: 'é'\r\n日本: [😀, x]\r\nz: é日\r\n  ö\r\n";
    let whole = text.trim_start_matches('\u{feff}').trim_end();
    let expected = [whole, "ключ", "'é'", "日本", "[😀, x]", "😀", "x", "z", "é日\r\n  ö"];
    assert_eq!(covered(text), expected);
}

#[test]
fn spans_are_right_after_a_surrogate_pair() {
    let text = r#"["\ud83d\ude00é", é, "\ud83d\ude00", x, [y]]"#;
    let expected = [text, r#""\ud83d\ude00é""#, "é", r#""\ud83d\ude00""#, "x", "[y]", "y"];
    assert_eq!(covered(text), expected);
}

#[test]
fn span_of_quoted_text_ends_at_its_quote() {
    assert_eq!(covered(r#"["a\"b\\" , 'it''s' , "" ]"#)[1..], [r#""a\"b\\""#, "'it''s'", "\"\""]);
}

#[test]
fn span_of_an_anchor_or_tag_belongs_to_the_value() {
    let text = "a: &x 1\nb: !t 'q' # c\nc: &y !t [z]\nd: !<u,v> # e\n  \"w\"\n";
    let expected = ["a", "&x 1", "b", "!t 'q'", "c", "&y !t [z]", "z", "d", "!<u,v> # e\n  \"w\""];
    assert_eq!(covered(text)[1..], expected);
}

#[test]
fn span_of_block_text_covers_its_lines() {
    assert_eq!(covered("a: | # c\n  one\n\n  two\n\nb: 1\n")[1..], ["a", "one\n\n  two", "b", "1"]);
}

#[test]
fn span_of_nothing_is_empty_and_after_the_colon() {
    let at = |text: &str, key: &str| read(text).get(key).unwrap().span;
    assert_eq!(at("a:\nb: 1\n", "a"), Span::at(2));
    assert_eq!(at("b: 1\na:", "a"), Span::at(7));
    assert_eq!(at("{a: , b: 1}", "a"), Span::at(3));
    assert_eq!(at("a: ~", "a"), Span::new(3, 4));
}

#[test]
fn span_of_an_alias_is_its_own_and_inside_it_the_original() {
    let text = "a: &x {k: v}\nb: *x\n";
    assert_eq!(covered(text)[5..], ["b", "*x", "k", "v"]);
}

// Aliases.

#[test]
fn aliases_repeat_what_was_anchored() {
    assert_eq!(json("[&a 1, &b [x, *a], *b, *a, &a 2, *a]"), r#"[1,["x",1],["x",1],1,2,2]"#);
    let nested = "a:\n  b: &b\n    c: &c [1]\n    d: *c\n  e: *b\nf: {g: *c, h: [*b]}\n";
    let inner = r#"{"c":[1],"d":[1]}"#;
    let expected = format!(r#"{{"a":{{"b":{inner},"e":{inner}}},"f":{{"g":[1],"h":[{inner}]}}}}"#);
    assert_eq!(json(nested), expected);
}

#[test]
fn aliases_can_be_keys() {
    assert_eq!(json("&k key: 1\nv: {*k : 2}\n"), r#"{"key":1,"v":{"key":2}}"#);
    assert_eq!(json("a: &k 5\nv: {*k : 2}\n"), r#"{"a":5,"v":{"5":2}}"#);
}

#[test]
fn alias_to_itself_is_a_problem() {
    assert_eq!(messages("a: &x [1, *x]"), ["`*x` is inside the value that it refers to"]);
}

#[test]
fn alias_without_anchor_is_a_problem() {
    let found = problems("a: *x\n");
    assert_eq!(found, [(1, 4, "`*x` is an alias, but there is no anchor `&x` above it".to_owned())]);
}

#[test]
fn expansion_bomb_stops_at_once() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let last = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", [last.as_str(); 9].join(", ")));
    }
    let found = problems(&text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, "`*a3` repeats too much: aliases may add 10,000 values and 4 MiB");
}

#[test]
fn budget_of_aliases_is_ten_thousand_values() {
    let text = |count: usize| format!("- &a x\n{}", "- *a\n".repeat(count));
    assert_eq!(read(&text(10_000)).as_list().unwrap().len(), 10_001);
    let found = problems(&text(10_001));
    assert_eq!((found.len(), found[0].0), (1, 10_002));
}

#[test]
fn long_text_cannot_be_repeated_without_end() {
    let text = format!("- &a \"{}\"\n{}", "x".repeat(1_000_000), "- *a\n".repeat(9));
    let found = problems(&text);
    assert_eq!((found.len(), found[0].0), (1, 6));
}

#[test]
fn aliases_cannot_nest_too_deep() {
    let mut text = String::from("- &a0 [x]\n");
    for level in 1..140 {
        text.push_str(&format!("- &a{level} [*a{}]\n", level - 1));
    }
    assert_eq!(messages(&text), ["lists and mappings are nested more than 128 deep"]);
}

// Problems.

#[test]
fn every_duplicate_key_is_reported_with_the_first() {
    let text = "a: 1\nb: {c: 1, c: 2, c: 3}\na: 2\n";
    let found = parse_document(&Source::new("t.yaml", text)).unwrap_err();
    let places: Vec<_> =
        found.iter().map(|p| (p.message(), p.span().start, p.related().unwrap().span.start)).collect();
    let twice = |key| match key {
        'a' => "the key `a` is written twice",
        _ => "the key `c` is written twice",
    };
    assert_eq!(places, [(twice('c'), 15, 9), (twice('c'), 21, 9), (twice('a'), 27, 0)]);
    assert_eq!(found.iter().next().unwrap().related().unwrap().label, "first written here");
}

#[test]
fn duplicate_keys_are_found_among_many() {
    let mut text: String = (0..500).map(|n| format!("k{n}: {n}\n")).collect();
    text.push_str("k250: x\nk7: y\nk250: z\n");
    let found = problems(&text);
    let lines: Vec<usize> = found.iter().map(|(line, ..)| *line).collect();
    assert_eq!(lines, [501, 502, 503]);
}

#[test]
fn duplicate_keys_are_found_when_written_in_different_ways() {
    assert_eq!(messages("a: 1\n'a': 2\n"), ["the key `a` is written twice"]);
    assert_eq!(messages("{&k a: 1, *k : 2}"), ["the key `a` is written twice"]);
}

#[test]
fn duplicate_keys_are_reported_when_the_syntax_breaks_later() {
    let found = problems("a: 1\na: 2\nb: \"x\n");
    let places: Vec<_> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
    assert_eq!(places, [(2, 1), (3, 4)]);
}

#[test]
fn syntax_error_is_reported_when_there_are_countless_other_problems() {
    let text = format!("{}- ]\n", "- {a: 1, a: 2}\n".repeat(1_000));
    let found = problems(&text);
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].2, "this bracket closes nothing");
}

#[test]
fn lists_and_mappings_cannot_be_keys() {
    let found = problems("? [a]\n: 1\n? {b: c}\n: 2\nd: 3\n");
    let expected = [
        (1, 3, "a key must be text, but this is a list".to_owned()),
        (3, 3, "a key must be text, but this is a mapping".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn refused_key_causes_no_further_problem() {
    let only = ["a key must be text, but this is a list"];
    assert_eq!(messages("? [&a [x], 1]\n: &b [y]\nc: *a\nd: *b\ne: {*a : 1}"), only);
    assert_eq!(messages("? [&a x]\n: 1\nc: *a\n"), only);
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(&nested(128)).kind_word(), "a list");
    let deep = ["lists and mappings are nested more than 128 deep"];
    assert_eq!(messages(&nested(129)), deep);
    for text in [&"[".repeat(100_000), &"{a: ".repeat(100_000), &"- ".repeat(100_000), &"? ".repeat(100_000)]
    {
        assert_eq!(messages(text), deep, "{:?}", text.get(..4));
    }
}

#[test]
fn second_document_is_a_problem() {
    let message = "a second document starts here, but a configuration file holds only one";
    assert_eq!(problems("a: 1\n---\nb: 2\n"), [(2, 1, message.to_owned())]);
    assert_eq!(problems("a: 1\n...\n---\n"), [(3, 1, message.to_owned())]);
}

#[test]
fn large_text_is_refused() {
    let text = format!("a: {}", "x".repeat(MAX_BYTES));
    assert!(messages(&text)[0].contains("larger than 4 MiB"));
    let text = format!("[{}]", "a,".repeat(MAX_INDICATORS));
    assert!(messages(&text)[0].contains("too many values"));
    let text = format!("a: {}", "x".repeat(MAX_BYTES - 3));
    assert_eq!(read(&text).get("a").unwrap().as_text().unwrap().len(), MAX_BYTES - 3);
}

#[test]
fn nul_is_refused() {
    assert_eq!(problems("a: 1\nb: \0"), [(2, 4, "the file contains a NUL character".to_owned())]);
}

#[test]
fn tag_directive_is_refused() {
    for head in ["", "\u{feff}", "# c\n\n  # d\n", "%YAML 1.2\r", "...\n"] {
        let text = format!("{head}%TAG ! tag:x,2000:\n---\na: !b c\n");
        assert_eq!(messages(&text), ["`%TAG` directives are not supported"], "{head:?}");
    }
    assert_eq!(json("a: |\n  x\n  %TAG\n"), r#"{"a":"x\n%TAG\n"}"#);
}

#[test]
fn tab_indentation_is_a_problem() {
    let tab = "a tab cannot be used as indentation; use spaces".to_owned();
    for (text, line, column) in [
        ("\ta: 1\n\tb: 2\n", 1, 1),
        ("a:\n\tb: 1\n", 2, 1),
        ("a:\n  b: 1\n\tc: 2\n", 3, 1),
        ("a:\n  b: 1\n  \tc: 2\n", 3, 3),
        ("a:\n\t- b\n", 2, 1),
        ("a:\n  - b\n\t- c\n", 3, 1),
        ("- a\n-\n\tb: 1\n", 3, 1),
        ("a: |\n\tfoo\n", 2, 1),
        ("a: \"x\n\ty\"\n", 2, 1),
        ("-\t- a\n", 1, 2),
    ] {
        assert_eq!(problems(text), [(line, column, tab.clone())], "{text:?}");
    }
}

#[test]
fn tabs_elsewhere_are_no_problem() {
    assert_eq!(json("a: x\ty\t# c\nb:\tz\n\t\nc: [\t1,\t2\t]\n"), r#"{"a":"x\ty","b":"z","c":[1,2]}"#);
}
