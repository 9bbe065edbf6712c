//! The hooks of agents: `agents: [{id, hooks}]`, `agents: [{id, backend: {hooks}}]`, or a map by id.

use std::sync::Arc;

use super::loader::{AgentConfig, LoadContext};
use super::misplaced;
use super::section::{Owner, Settings, section};
use super::tree::{Node, Span, Value};
use super::value::Reader;

pub(super) fn agents(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    settings: &Settings,
) -> Vec<AgentConfig> {
    let mut found: Vec<AgentConfig> = Vec::new();
    match &node.value {
        Value::List(items) => {
            for item in items {
                misplaced::in_agent(reader, context, item);
                let sections = sections(item);
                if sections.is_empty() {
                    continue;
                }
                let id = match item.get("id") {
                    Some(id) => reader.filled_text("id", id),
                    None => {
                        let span = Span::new(item.span.start, item.span.start);
                        reader.error_with_help(span, "an agent with hooks needs an `id`", "add `id: NAME`");
                        None
                    }
                };
                if let Some(id) = id {
                    found.push(agent(reader, context, &id, &sections, settings));
                }
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                misplaced::in_agent(reader, context, &entry.value);
                let sections = sections(&entry.value);
                if !sections.is_empty() {
                    found.push(agent(reader, context, &entry.key, &sections, settings));
                }
            }
        }
        // Another program may use the key `agents` for something else.
        _ => {}
    }
    found
}

/// The hook sections of one agent, in order of precedence.
pub(super) fn sections(node: &Node) -> Vec<&Node> {
    let backend = node.get("backend").and_then(|backend| backend.get("hooks"));
    backend.into_iter().chain(node.get("hooks")).collect()
}

fn agent(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    id: &str,
    sections: &[&Node],
    settings: &Settings,
) -> AgentConfig {
    let id: Arc<str> = id.into();
    let mut agent = AgentConfig { id: Arc::clone(&id), hooks: Vec::new(), overrides: Vec::new() };
    for node in sections {
        let mut settings = settings.clone();
        let found = section(reader, context, node, &Owner::Agent(Arc::clone(&id)), &mut settings);
        agent.hooks.extend(found.hooks);
        let source = reader.source;
        agent
            .overrides
            .extend(found.overrides.into_iter().map(|(kind, span)| (kind, span, Arc::clone(source))));
    }
    agent
}
