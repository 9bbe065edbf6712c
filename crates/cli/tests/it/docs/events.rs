//! `docs/events.md`: generated from the event table, with an example of each event that is really fired.

use std::fmt::Write;

use crosier::protocol::event::{EventRow, TABLE};
use crosier::protocol::ordered::Value;
use crosier::{Capability, Catalog, Engine, FieldKind, Hook, Phase, Reply};

const HEAD: &str = "# Events

<!-- Generated from the event table by a test; `CROSIER_GENERATE=1 cargo test -p crosier-cli docs` writes it. -->

Every event, what a hook gets, and what it may do. `crosier events` prints the same table;
`crosier events --json` prints it for programs. A configuration names an event by its name or by its point alias;
`pre:tool:shell` is `pre:tool` with the matcher `shell`.

## What every hook gets

One JSON object: these fields, then the payload of the event, then any other fields that the host added, unchanged.

| field | |
|---|---|
| `session_id` | the session; generated when the host gives none |
| `transcript_path` | where the conversation is written, or `\"\"` |
| `cwd` | the agent's working directory |
| `permission_mode` | the host's permission mode; may be absent |
| `hook_event_name`, `hook_type` | the name of the event; `hook_type` is MassGen's name for this field |
| `agent_id` | the agent in which the event happens; null outside an agent |
| `orchestrator_id` | the orchestrator of the agents, or `\"\"` |
| `timestamp` | RFC 3339, UTC |

## What a hook may do

";

const EFFECTS: &str = "
An effect that an event does not allow is not applied; the report lists it under `ignored`.
`halt` (`continue: false`) is allowed everywhere. [replies.md](replies.md) has the grammar.

In the examples, *input* is the payload, *reply* is what a hook answers, and *outcome* is what the host gets, without
its empty fields.
";

fn effect(capability: Capability) -> &'static str {
    match capability {
        Capability::Deny => {
            "the action does not happen; the reason goes to the model (or to the teammate, or the person)"
        }
        Capability::Ask => "a person decides",
        Capability::Allow => "the action happens without asking a person",
        Capability::Rewrite => "replaces the one field that the event allows to rewrite",
        Capability::Context => "text for the next model call",
        Capability::Inject => "text at the end of the tool result, or a message after it",
        Capability::Suppress => "the output is hidden",
        Capability::Resume => "the agent loop continues although it was about to stop",
        Capability::Interrupt => "part of a denial: the whole loop stops as well",
        Capability::Permissions => "`updatedPermissions` is handed to the host",
        other => panic!("no case for {other:?}"),
    }
}

fn may(row: &EventRow) -> String {
    let words: Vec<String> = row
        .capabilities
        .iter()
        .map(|capability| match (capability, row.rewrites) {
            (Capability::Rewrite, Some((_, field))) => format!("rewrite `{field}`"),
            (capability, _) => capability.word().to_owned(),
        })
        .collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

fn section(page: &mut String, row: &EventRow) {
    let alias = row.alias.map(|alias| format!(" (`{alias}`)")).unwrap_or_default();
    writeln!(page, "\n### {}{alias}\n\n{}{}.\n", row.name, row.about[..1].to_uppercase(), &row.about[1..])
        .unwrap();
    page.push_str("| payload | | |\n|---|---|---|\n");
    for field in row.fields {
        let optional = match (field.required, field.default) {
            (true, _) => String::new(),
            (false, Some(default)) => format!(", {default} when absent"),
            (false, None) if field.about.contains("derived") => String::new(),
            (false, None) => ", may be absent".to_owned(),
        };
        let kind = match field.kind {
            FieldKind::Any => "any JSON",
            kind => kind.wanted(),
        };
        let values = match field.values {
            [] => String::new(),
            values => format!(": {}", values.join(", ")),
        };
        writeln!(page, "| `{}` | {kind}{optional} | {}{values} |", field.name, field.about).unwrap();
    }
    let matcher = match row.matcher {
        Some(field) => format!("A matcher is compared with `{field}`."),
        None => "It takes no matcher.".to_owned(),
    };
    let answer = match row.rewrites {
        Some((Phase::Pre, _)) => " A rewrite is `updated_input` in the outcome.",
        Some(_) => " A rewrite is `updated_output` in the outcome.",
        None => "",
    };
    let may = match may(row) {
        nothing if nothing == "–" => "only halt".to_owned(),
        may => may,
    };
    writeln!(page, "\n{matcher} A hook may: {may}.{answer}\n").unwrap();
    let example = row.example.unwrap_or_else(|| panic!("the row of {} has no example", row.name));
    let (input, reply) = (example.input, example.reply);
    let outcome = fired(row, input, reply);
    writeln!(page, "```text\ninput    {input}\nreply    {reply}\noutcome  {outcome}\n```").unwrap();
}

/// What really comes of it, without what is empty. Nothing of the reply may be ignored.
fn fired(row: &EventRow, input: &str, reply: &str) -> Value {
    let kind = Catalog::default().find(row.name).unwrap();
    let answer =
        Reply::decode(reply.as_bytes(), &kind).unwrap_or_else(|failure| panic!("{}: {failure:?}", row.name));
    let hook = Hook::on_event(kind).named("example").callback(move |_| answer.clone());
    let engine = Engine::builder().hook(hook).build().unwrap();
    let event =
        engine.event(row.name, input.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", row.name));
    let outcome: Value = engine.fire_blocking(event).to_json().to_ordered().unwrap();
    let report = &outcome["reports"][0];
    assert_eq!(
        (&report["failure"], &report["ignored"]),
        (&Value::Null, &Value::Array(vec![])),
        "{}",
        row.name
    );
    let is_empty = |value: &Value| {
        value.is_null() || *value == Value::Bool(false) || value.as_array().is_some_and(Vec::is_empty)
    };
    let told = outcome
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, value)| !is_empty(value) && !["event", "reports"].contains(&key.as_str()));
    let told: Value = Value::Object(told.map(|(key, value)| (key.clone(), value.clone())).collect());
    assert!(told.as_object().is_some_and(|told| !told.is_empty()), "{}: the reply does nothing", row.name);
    told
}

const HOST_EVENTS: &str = "
## Events of some agents

Only some agents send these events to [`crosier hook`](agents/README.md); `crosier events` says which. Hooks can be registered on them
too.

| event | when | matcher | a hook may |
|---|---|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("| effect | |\n|---|---|\n");
    for capability in Capability::ALL {
        writeln!(page, "| {} | {} |", capability.word(), effect(capability)).unwrap();
    }
    page.push_str(EFFECTS);
    page.push_str("\n## The table\n\nThese are the *core* events, which `crosier run` fires.\n\n| event | point alias | matcher | a hook may |\n|---|---|---|---|\n");
    let code = |text: Option<&str>| text.map(|text| format!("`{text}`")).unwrap_or_default();
    for row in TABLE {
        let link = row.name.to_lowercase()
            + &row.alias.map(|alias| format!("-{}", alias.replace(':', ""))).unwrap_or_default();
        writeln!(
            page,
            "| [{}](#{link}) | {} | {} | {} |",
            row.name,
            code(row.alias),
            code(row.matcher),
            may(row)
        )
        .unwrap();
    }
    page.push_str(HOST_EVENTS);
    for row in crosier_dialect::rows::ROWS {
        let matcher = row.matcher.map_or_else(|| "–".to_owned(), |field| format!("`{field}`"));
        writeln!(page, "| {} | {} | {matcher} | {} |", row.name, row.about, may(row)).unwrap();
    }
    page.push_str("\n## One by one\n");
    for row in TABLE {
        section(&mut page, row);
    }
    page
}

#[test]
fn the_page_of_events_is_what_the_table_says_and_what_happens() {
    super::is_up_to_date("docs/events.md", &page());
}
