//! Secrets that are found, and texts that are protected.

use std::sync::Arc;

use crosier::config::Loader;
use crosier::{Catalog, Engine, Json};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RedactSecrets, Redactor, Style, redact};

const CORPUS: &str = include_str!("../../tests/data/secrets.txt");

struct Line {
    text: String,
    masked: String,
    known_wrong: bool,
    has_secret: bool,
}

fn corpus() -> Vec<Line> {
    let lines = CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let line = line.replace('¦', "").replace("\\n", "\n").replace("\\e", "\x1b");
            let (known_wrong, line) = match line.strip_prefix("~ ") {
                Some(rest) => (true, rest.to_owned()),
                None => (false, line),
            };
            let (sign, text) = line.split_once(' ').unwrap();
            let mut masked = String::new();
            let mut inside = false;
            for c in text.chars() {
                match c {
                    '«' => inside = true,
                    '»' => inside = false,
                    ' ' if masked.rsplit('\n').next().is_some_and(|line| line.trim().is_empty()) => {
                        masked.push(' ')
                    }
                    c if inside && c != '\n' => masked.push('*'),
                    c => masked.push(c),
                }
            }
            Line { text: text.replace(['«', '»'], ""), masked, known_wrong, has_secret: sign == "+" }
        })
        .collect()
}

#[test]
fn the_corpus_is_masked_as_it_should_be() {
    let redactor = Redactor::standard().unwrap();
    let lines = corpus();
    assert!(lines.len() >= 120, "{} lines", lines.len());
    let (mut found, mut missed, mut wrongly) = (0, 0, 0);
    let mut surprises = Vec::new();
    for line in &lines {
        let got = redactor.text(&line.text);
        let right = got == line.masked;
        match (line.has_secret, right) {
            (true, true) => found += 1,
            (true, false) => missed += 1,
            (false, true) => {}
            (false, false) => wrongly += 1,
        }
        if right == line.known_wrong {
            let rules: Vec<Arc<str>> =
                redactor.find(&line.text).into_iter().map(|secret| secret.rule).collect();
            surprises.push(format!("{}\n  expected {}\n  got      {got} {rules:?}", line.text, line.masked));
        }
    }
    let precision = f64::from(found) / f64::from(found + wrongly);
    let recall = f64::from(found) / f64::from(found + missed);
    assert!(surprises.is_empty(), "{} surprises\n{}", surprises.len(), surprises.join("\n"));
    // The documentation must have exactly these figures.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/builtins.md");
    let page = std::fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let (with, without) = (found + missed, lines.iter().filter(|line| !line.has_secret).count());
    let are = if wrongly == 1 { "is" } else { "are" };
    let figures = [
        format!("has {with} lines with a secret and {without} that only look like it"),
        format!("{found} secrets of {with} are found and {wrongly} of {without} lines {are} masked wrongly"),
        format!("(precision {:.1} %, recall {:.1} %)", precision * 100.0, recall * 100.0),
    ];
    for figure in figures {
        assert!(page.contains(&figure), "docs/builtins.md must say: {figure}");
    }
    assert!(precision >= 0.97 && recall >= 0.95);
}

#[test]
fn every_pattern_compiles() {
    let source = crosier::config::Source::new("rules.yaml", include_str!("rules.yaml"));
    super::rule::read_checked(&source).unwrap();
}

#[test]
fn the_shape_of_a_text_stays() {
    let key = format!(
        "-----BEGIN RSA {}-----\n{}\n{}\n-----END RSA {}-----\n",
        "PRIVATE KEY",
        "Ab1+".repeat(16),
        "Cd2/".repeat(8),
        "PRIVATE KEY"
    );
    let masked = redact(&key).into_owned();
    assert_eq!(masked.lines().count(), 4);
    assert_eq!(
        masked.lines().map(str::len).collect::<Vec<_>>(),
        key.lines().map(str::len).collect::<Vec<_>>()
    );
    assert!(!masked.contains("Ab1+") && masked.starts_with("-----BEGIN RSA"));
    assert!(matches!(redact("nothing here"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn labels_name_the_rule() {
    let redactor = Redactor::with_rules(&[], &[], Style::Label).unwrap();
    let token = format!("gh{}_{}", "p", "a1B2".repeat(9));
    assert_eq!(redactor.text(&format!("x {token} y")), "x ghp_[redacted github-token] y");
}

#[test]
fn json_changes_only_in_its_texts() {
    let redactor = Redactor::standard().unwrap();
    let token = format!("gh{}_{}", "p", "a1B2".repeat(9));
    let mask = "*".repeat(36);
    let masked = |json: &str| {
        redactor.json(&Json::parse(json).unwrap(), &mut |_| {}).map(|json| json.text().to_owned())
    };
    assert_eq!(
        masked(&format!(r#"{{"z": 1.50, "a":["{token}"], "n":123456789012345678901}}"#)).unwrap(),
        format!(r#"{{"z": 1.50, "a":["ghp_{mask}"], "n":123456789012345678901}}"#)
    );
    assert_eq!(masked(r#"{"password": "sw0rdf1sh!"}"#).unwrap(), r#"{"password": "**********"}"#);
    assert_eq!(
        masked(r#"{"db_password":"sw0rdf1sh!","note":"password"}"#).unwrap(),
        r#"{"db_password":"**********","note":"password"}"#
    );
    // Characters as escapes, and a slash with a backslash.
    let hidden = token.replace('g', "\\u0067");
    assert_eq!(masked(&format!("[\"{hidden}\"]")).unwrap(), format!("[\"ghp_{mask}\"]"));
    assert_eq!(masked(r#""a:\/\/b:p4ssw0rd9@host""#).unwrap(), r#""a://b:*********@host""#);
    assert_eq!(masked(r#"{"password": 12345678}"#), None);
    assert_eq!(masked(r#"{"a": "plain", "token_count": "100"}"#), None);
    // A list of variables, and a value with quotes and line breaks in it.
    assert_eq!(
        masked(r#"[{"name":"DB_PASSWORD","value":"sw0rdf1sh!"}]"#).unwrap(),
        r#"[{"name":"DB_PASSWORD","value":"**********"}]"#
    );
    assert_eq!(masked(r#"{"password":"a\"b1\\c!\nd9"}"#).unwrap(), r#"{"password":"*******\n**"}"#);
    let deep = format!("{}\"{token}\"{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(masked(&deep).unwrap().contains(&mask));
}

#[test]
fn json_in_texts_of_json_is_taken_apart() {
    let redactor = Redactor::standard().unwrap();
    let mut text = json!({"password": "sw0rdf1sh!", "note": "plain"}).to_string();
    let mut expected = json!({"password": "**********", "note": "plain"}).to_string();
    for _ in 0..6 {
        text = json!({"body": text, "n": 1}).to_string();
        expected = json!({"body": expected, "n": 1}).to_string();
        let masked = redactor.json(&Json::parse(text.as_str()).unwrap(), &mut |_| {}).unwrap();
        assert_eq!(masked.text(), expected);
    }
}

#[test]
fn results_and_answers_are_masked() {
    let hook = json!({"type": "builtin", "handler": "redact-secrets"});
    let config = json!({"hooks": {"PostToolUse": [hook], "PostMessage": [hook]}}).to_string();
    let loader = Loader::new(Catalog::default()).builtin(RedactSecrets);
    let engine = Engine::builder().config(loader.text("h", &config, "/").load().unwrap()).build().unwrap();
    let fire = |name: &str, input: Value| {
        engine.fire_blocking(engine.event(name, input.to_string().as_bytes()).unwrap())
    };
    let token = format!("gh{}_{}", "p", "a1B2".repeat(9));
    let outcome = fire(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": token, "code": 0}}),
    );
    assert_eq!(
        outcome.updated_output.unwrap().get("stdout").unwrap().plain(),
        format!("ghp_{}", "*".repeat(36))
    );
    assert!(outcome.notices[0].text.contains("1 github-token") && !outcome.notices[0].text.contains("a1B2"));
    let outcome = fire("PostMessage", json!({"output": format!("the key is {token}")}));
    assert_eq!(outcome.updated_output.unwrap().plain(), format!("the key is ghp_{}", "*".repeat(36)));
    assert_eq!(fire("PostMessage", json!({"output": "nothing"})).updated_output, None);
}

proptest! {
    #[test]
    fn any_text_keeps_its_length_and_nothing_panics(text in any::<String>()) {
        let masked = redact(&text);
        prop_assert_eq!(masked.chars().count(), text.chars().count());
    }

    #[test]
    fn text_around_a_secret_stays(before in "[a-z ]{0,20}", after in "[ .,;\n][a-z ]{0,20}") {
        let token = format!("gh{}_{}", "p", "a1B2".repeat(9));
        let masked = redact(&format!("{before} {token}{after}")).into_owned();
        prop_assert_eq!(masked, format!("{before} ghp_{}{after}", "*".repeat(36)));
    }
}
