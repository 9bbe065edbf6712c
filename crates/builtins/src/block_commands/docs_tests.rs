//! The table of rules in `docs/builtins.md` is made from the rules themselves.

use crosier::config::{Node, Source, parse_document};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/builtins.md");
const BEGIN: &str = "<!-- rules of block-commands: generated -->\n";
const END: &str = "<!-- end of the rules -->\n";

fn cell(text: &str) -> String {
    let text = text.replace('\n', " ").replace('|', "\\|");
    if text.is_empty() { "–".to_owned() } else { text }
}

fn code(text: &str) -> String {
    let text = cell(text);
    if text == "–" || text.contains('`') { text } else { format!("`{text}`") }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person asks for the page to be written")]
fn the_page_has_every_rule_with_its_examples() {
    let source = Source::new("commands.yaml", include_str!("commands.yaml"));
    let node = parse_document(&source).unwrap();
    let mut table = String::from("| rule | stops | lets through | the safer way |\n|---|---|---|---|\n");
    for entry in node.get("commands").and_then(Node::as_list).unwrap() {
        let text = |key: &str| entry.get(key).and_then(Node::as_text).unwrap_or_default().to_owned();
        table.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            text("id"),
            code(&text("stops")),
            code(&text("passes")),
            cell(&text("instead"))
        ));
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (front, rest) = page.split_once(BEGIN).unwrap();
    let (found, back) = rest.split_once(END).unwrap();
    if std::env::var_os("CROSIER_GENERATE").is_some() {
        std::fs::write(PAGE, format!("{front}{BEGIN}\n{table}\n{END}{back}")).unwrap();
    } else {
        assert_eq!(found.trim(), table.trim(), "run CROSIER_GENERATE=1 cargo test -p crosier-builtins");
    }
}
