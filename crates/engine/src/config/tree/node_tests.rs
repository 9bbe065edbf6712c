use super::super::{Source, parse_document};
use super::*;

fn read(text: &str) -> Node {
    parse_document(&Source::new("t", text)).unwrap()
}

#[test]
fn get_finds_the_value_of_a_key() {
    let node = read("a: 1\nb: {c: [x]}\n");
    assert_eq!(node.get("a").unwrap().as_number(), Some("1"));
    let inner = node.get("b").unwrap().get("c").unwrap();
    assert_eq!(inner.as_list().unwrap()[0].as_text(), Some("x"));
    assert!(node.get("z").is_none());
    assert!(node.get("a").unwrap().get("a").is_none());
    assert_eq!(node.entry("b").unwrap().key_span, Span::new(5, 6));
}

#[test]
fn kind_word_fits_every_kind() {
    let node = read("[~, true, 1, x, [], {}]");
    let words: Vec<&str> = node.as_list().unwrap().iter().map(Node::kind_word).collect();
    assert_eq!(words, ["nothing", "true/false", "a number", "text", "a list", "a mapping"]);
}

#[test]
fn parts_are_given_only_for_their_own_kind() {
    let node = read("[~, true, 1, x, [], {}]");
    let items = node.as_list().unwrap();
    let count = |f: fn(&Node) -> bool| items.iter().filter(|item| f(item)).count();
    assert_eq!(count(Node::is_null), 1);
    assert_eq!(count(|n| n.as_bool() == Some(true)), 1);
    assert_eq!(count(|n| n.as_number().is_some()), 1);
    assert_eq!(count(|n| n.as_text().is_some()), 1);
    assert_eq!(count(|n| n.as_list().is_some()), 1);
    assert_eq!(count(|n| n.as_map().is_some()), 1);
}

#[test]
fn is_plain_tells_quoted_text_from_bare() {
    let node = read("[yes, 'yes', \"yes\", 5]");
    let plain: Vec<bool> = node.as_list().unwrap().iter().map(Node::is_plain).collect();
    assert_eq!(plain, [true, false, false, true]);
    assert_eq!(read("a: |\n  x\n").get("a").unwrap().style, Style::Block);
}

#[test]
fn to_json_keeps_digits_and_order() {
    let text = "z: 1.0\na: 123456789012345678901234567890\nm: [1e5, -0, 'é\"\\']\n";
    assert_eq!(read(text).to_json(), r#"{"z":1.0,"a":123456789012345678901234567890,"m":[1e5,-0,"é\"\\"]}"#);
}

#[test]
fn to_json_escapes_control_characters() {
    let node = Node::new(Value::Text("\u{0}\u{1f}\n\r\t\u{7f}".into()), Span::default());
    assert_eq!(node.to_json(), "\"\\u0000\\u001f\\n\\r\\t\u{7f}\"");
}
