//! The tables of rules in `docs/builtins.md` are generated from the rules themselves, and every example in them is run.

use crosier::config::{Loader, Node, Source, parse_document};
use crosier::{Catalog, Decision, Engine};
use serde_json::{Value, json};

use crate::redact_secrets::Redactor;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/builtins.md");
const COMMANDS: &str = include_str!("block_commands/commands.yaml");
const EXAMPLES: &str = include_str!("../tests/data/rule-examples.yaml");
const SECRET_RULES: &str = include_str!("redact_secrets/rules.yaml");
const SECRETS: &str = include_str!("../tests/data/secrets.txt");

fn cell(text: &str) -> String {
    let text = text.replace('\n', "⏎").replace('|', "\\|");
    if text.is_empty() { "–".to_owned() } else { text }
}

fn code(text: &str) -> String {
    let text = cell(text);
    if text == "–" || text.contains('`') { text } else { format!("`{text}`") }
}

fn text(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::as_text).unwrap_or_default().to_owned()
}

fn items(node: &Node) -> &[Node] {
    node.as_list().unwrap_or_default()
}

fn parse(name: &str, source: &str) -> Node {
    parse_document(&Source::new(name, source)).unwrap()
}

struct Row {
    id: String,
    stops: String,
    passes: String,
    instead: String,
}

fn row(node: &Node) -> Row {
    Row {
        id: text(node, "id"),
        stops: text(node, "stops"),
        passes: text(node, "passes"),
        instead: text(node, "instead"),
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = String::from("| rule | stops | lets through | the safer way |\n|---|---|---|---|\n");
    for Row { id, stops, passes, instead } in rows {
        let id = if id.contains(' ') { cell(id) } else { code(id) };
        table.push_str(&format!("| {id} | {} | {} | {} |\n", code(stops), code(passes), cell(instead)));
    }
    table
}

/// One row for each rule about secrets, with the first line of the corpus that it finds.
fn secret_rows() -> Vec<Row> {
    let redactor = Redactor::standard().unwrap();
    let found: Vec<(String, String)> = SECRETS
        .lines()
        .filter_map(|line| line.strip_prefix("+ "))
        .filter_map(|line| {
            let line = line.replace('¦', "").replace("\\n", "\n").replace("\\e", "\x1b");
            let secrets = redactor.find(&line.replace(['«', '»'], ""));
            Some((secrets.first()?.rule.to_string(), line))
        })
        .collect();
    let (mut rows, mut missing): (Vec<Row>, Vec<String>) = Default::default();
    for rule in items(&parse("rules.yaml", SECRET_RULES)) {
        let id = text(rule, "id");
        if rows.iter().any(|row| row.id == id) {
            continue;
        }
        let example = found.iter().filter(|(rule, line)| *rule == id && !line.contains('\x1b'));
        let Some((_, line)) = example.min_by_key(|(_, line)| line.len()) else {
            missing.push(id);
            continue;
        };
        // Where the secret was.
        let with = |text: &str| {
            let (mut out, mut inside) = (String::new(), false);
            for c in line.chars() {
                match c {
                    '«' => {
                        inside = true;
                        out.push_str(text);
                    }
                    '»' => inside = false,
                    c if !inside => out.push(c),
                    _ => {}
                }
            }
            out
        };
        let passes = with("<secret>");
        if !redactor.find(&passes).is_empty() {
            missing.push(format!("{id}: {passes}"));
        }
        rows.push(Row {
            id,
            stops: with("…"),
            passes,
            instead: "name the secret, and do not show it".to_owned(),
        });
    }
    assert!(missing.is_empty(), "rules without an example: {missing:#?}");
    rows
}

/// What the built-in says about an example.
fn decide(builtin: &str, node: &Node, example: &str) -> Option<Decision> {
    let folder = tempfile::tempdir().unwrap();
    let options = text(node, "options");
    let options = if options.is_empty() { "{}".to_owned() } else { options };
    let event = if node.get("event").is_some() { text(node, "event") } else { "PreToolUse".to_owned() };
    let config = format!("hooks: {{{event}: [{{type: builtin, handler: {builtin}, options: {options}}}]}}");
    let loader = crate::register(Loader::new(Catalog::default()));
    let config = loader.text("hooks.yaml", &config, folder.path()).load().unwrap();
    let engine = Engine::builder().config(config).build().unwrap();
    let tool = example.split_once(' ').filter(|(_, input)| input.starts_with('{'));
    let mut payload = match tool {
        _ if event == "UserPromptSubmit" => json!({"prompt": example}),
        Some((tool, input)) => {
            json!({"tool_name": tool, "tool_input": serde_json::from_str::<Value>(input).unwrap()})
        }
        None => json!({"tool_name": "Bash", "tool_input": {"command": example}}),
    };
    payload["cwd"] = json!(folder.path());
    let payload = payload.to_string();
    engine.fire_blocking(engine.event(&event, payload.as_bytes()).unwrap()).decision
}

#[test]
fn every_example_is_stopped_or_let_through() {
    let examples = parse("rule-examples.yaml", EXAMPLES);
    let mut wrong = Vec::new();
    for section in examples.as_map().unwrap() {
        for node in items(&section.value) {
            let expected = if text(node, "decision") == "ask" { Decision::Ask } else { Decision::Deny };
            let (stops, passes) = (text(node, "stops"), text(node, "passes"));
            let stopped = decide(&section.key, node, &stops);
            if stopped != Some(expected) {
                wrong.push(format!("{}: {stops}: {stopped:?} instead of {expected:?}", section.key));
            }
            let passed = decide(&section.key, node, &passes);
            if matches!(passed, Some(Decision::Deny | Decision::Ask)) {
                wrong.push(format!("{}: {passes}: {passed:?}", section.key));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person asks for the page to be written")]
fn the_page_has_every_rule_with_its_examples() {
    let mut tables: Vec<(String, Vec<Row>)> = Vec::new();
    let commands = parse("commands.yaml", COMMANDS);
    tables.push((
        "block-commands".to_owned(),
        items(commands.get("commands").unwrap()).iter().map(row).collect(),
    ));
    for section in parse("rule-examples.yaml", EXAMPLES).as_map().unwrap() {
        tables.push((section.key.clone(), items(&section.value).iter().map(row).collect()));
    }
    tables.push(("redact-secrets".to_owned(), secret_rows()));
    let mut page = std::fs::read_to_string(PAGE).unwrap();
    for (builtin, rows) in tables {
        let begin = format!("<!-- rules of {builtin}: generated -->\n");
        let (front, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no place for {builtin}"));
        let (found, back) = rest.split_once("<!-- end of the rules -->\n").unwrap();
        let table = table(&rows);
        if std::env::var_os("CROSIER_GENERATE").is_some() {
            page = format!("{front}{begin}\n{table}\n<!-- end of the rules -->\n{back}");
        } else {
            assert_eq!(found.trim(), table.trim(), "run CROSIER_GENERATE=1 cargo test -p crosier-builtins");
        }
    }
    if std::env::var_os("CROSIER_GENERATE").is_some() {
        std::fs::write(PAGE, page).unwrap();
    }
}
