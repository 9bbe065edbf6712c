//! Laws about any document.

use crosier_install::json::{self, Document, Nesting, WantedEntry};
use proptest::prelude::*;
use serde_json::json;

fn wanted() -> Vec<WantedEntry> {
    let handler =
        vec![("type", json!("command")), ("command", json!("/bin/crosier hook claude --deadline 5"))];
    ["PreToolUse", "Stop"]
        .map(|event| WantedEntry { event: event.to_owned(), handler: handler.clone() })
        .to_vec()
}

/// White space and comments between tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("// a \"comment\" {\n".to_owned()),
        1 => Just("/* [ */".to_owned()),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("hooks".to_owned()),
        Just("PreToolUse".to_owned()),
        Just("Stop".to_owned()),
        "[a-z\\\\\"é]{0,4}".prop_map(|text| text),
    ]
}

fn list(open: char, close: char, items: Vec<(String, String, String)>, comma: bool) -> String {
    let mut out = String::from(open);
    let last = items.len();
    for (at, (before, item, after)) in items.into_iter().enumerate() {
        out += &format!("{before}{item}{after}");
        if at + 1 < last || comma {
            out.push(',');
        }
    }
    out.push(close);
    out
}

/// Any value, with comments and trailing commas, mostly in the shape of settings.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("-2.50e3".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        name().prop_map(|text| json!(text).to_string()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let item = (gap(), inner.clone(), gap());
        let member =
            (gap(), name(), gap(), gap(), inner, gap()).prop_map(|(before, name, a, b, value, after)| {
                (before, format!("{}{a}:{b}{value}", json!(name)), after)
            });
        prop_oneof![
            (prop::collection::vec(item, 0..4), any::<bool>())
                .prop_map(|(items, comma)| list('[', ']', items, comma)),
            (prop::collection::vec(member, 0..4), any::<bool>())
                .prop_map(|(items, comma)| list('{', '}', items, comma)),
        ]
    })
}

fn document() -> impl Strategy<Value = String> {
    (gap(), value(), gap()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

/// Whether all of `small` is in `large`, in its order.
fn is_within(small: &str, large: &str) -> bool {
    let mut rest = large.chars();
    small.chars().all(|c| rest.any(|other| other == c))
}

fn tight(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Settings without anything odd about them.
fn plain() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("text")), Just(json!(true)), Just(json!(null))];
    let any = leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z]{1,3}", inner, 1..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    let group = any
        .clone()
        .prop_map(|value| json!([{"hooks": [{"type": "command", "command": "mine"}], "x": value}]));
    let hooks = prop::collection::btree_map("(PreToolUse|Stop|Other)", group, 1..3);
    let top = prop::collection::btree_map("[a-z]{1,3}", any, 1..4);
    (top, prop::option::of(hooks)).prop_map(|(top, hooks)| {
        let mut top: serde_json::Map<String, serde_json::Value> = top.into_iter().collect();
        if let Some(hooks) = hooks {
            top.insert("hooks".to_owned(), serde_json::Value::Object(hooks.into_iter().collect()));
        }
        serde_json::Value::Object(top)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Entries are only added; taken out again, what is left means the same.
    #[test]
    fn entries_are_added_to_any_document_and_taken_out_again(text in document(), flat in any::<bool>()) {
        let nesting = if flat { Nesting::Flat } else { Nesting::Groups };
        let Ok(document) = Document::parse(&text, nesting, "claude") else { return Ok(()) };
        if document.set_entries(&wanted(), &[]).is_err() {
            return Ok(());
        }
        let with = document.text();
        // An object on one line gets lines: white space may go, nothing else.
        prop_assert!(is_within(&tight(&text), &tight(&with)), "{with}");
        let again = Document::parse(&with, nesting, "claude").unwrap();
        prop_assert_eq!(again.found().len(), 2);
        again.set_entries(&wanted(), &[]).unwrap();
        prop_assert_eq!(again.text(), with.clone());
        let original = Document::parse(&text, nesting, "claude").unwrap();
        again.remove_entries(Some(&original));
        let without = again.text();
        prop_assert_eq!(json::value(&without).unwrap(), json::value(&text).unwrap());
    }

    /// A file as programs and people write it, one member a line, with comments: all of its bytes stay.
    #[test]
    fn usual_files_stay_byte_for_byte(value in plain(), comments in prop::collection::vec(any::<bool>(), 0..60), end in any::<bool>()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let mut comments = comments.into_iter();
        let mut commented = String::new();
        for line in text.lines() {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            if comments.next().unwrap_or(false) && !indent.is_empty() {
                commented += &format!("{indent}// a note\n");
            }
            commented += &format!("{line}\n");
        }
        let text = if end { commented } else { commented.trim_end().to_owned() };
        let document = Document::parse(&text, Nesting::Groups, "claude").unwrap();
        if document.set_entries(&wanted(), &[]).is_err() {
            return Ok(());
        }
        let with = document.text();
        prop_assert!(is_within(&text, &with), "{with}");
        let again = Document::parse(&with, Nesting::Groups, "claude").unwrap();
        again.remove_entries(Some(&Document::parse(&text, Nesting::Groups, "claude").unwrap()));
        prop_assert_eq!(again.text(), text);
    }

    #[test]
    fn any_text_is_edited_or_refused(text in ".{0,60}") {
        if let Ok(document) = Document::parse(&text, Nesting::Groups, "claude") {
            let _ = document.set_entries(&wanted(), &[]);
            let _ = document.text();
        }
    }
}

/// The whole way, with a back-up: the same bytes.
#[test]
fn any_document_is_the_same_after_installing_and_uninstalling() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut installed = 0;
    for _ in 0..300 {
        let text = document().new_tree(&mut runner).unwrap().current();
        let lab = crate::lab::Lab::new();
        lab.write(".claude/settings.json", &text);
        installed += u32::from(lab.install("claude").is_ok());
        lab.uninstall_if_there("claude");
        assert_eq!(lab.read(".claude/settings.json"), text);
    }
    assert!(installed > 20, "{installed}");
}
