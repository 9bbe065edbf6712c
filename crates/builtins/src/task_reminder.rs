//! `task-reminder`: reads a tool's result and reminds the agent of something when a condition on it holds.
//!
//! The result may be JSON, text that is JSON, or the content blocks of an MCP tool with JSON in their text.
//!
//! # Options
//! - `when`: fields and the values they must have, all of them. A field is a path like `task.status`; a value
//!   may be a list, of which one is enough. Default: `{task.status: completed, task.priority: high}`.
//! - `each`: the path of a list; then `when` is about its items, one by one.
//! - `text`: the reminder. `${task.title}` is a field of the result (of the item, with `each`).
//! - `strategy`: `user_message` (default) or `tool_result`.
//!
//! On `PostToolUse`. Which tool it is about is the hook's `matcher`.

use std::sync::Arc;

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::config::{Node, Value as Tree};
use crosier::protocol::ordered::Value;
use crosier::{Answer, Call, Callback, Capability, Json, Reply, Strategy};

use crate::{guard, option};

/// The built-in hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskReminder;

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("when", "fields of the result and the values they must have"),
    BuiltinOption::new("each", "the path of a list whose items are looked at one by one"),
    BuiltinOption::new("text", "the reminder"),
    BuiltinOption::new("strategy", "user_message or tool_result"),
];

const TEXT: &str = "A task of high priority is completed. Before you go on, write down what will help next time: \
which tools and approaches worked, which did not and why, and what the person turned out to want.";

#[derive(Debug)]
struct Reminder {
    when: Vec<(String, Vec<Value>)>,
    each: Option<String>,
    text: String,
    strategy: Strategy,
}

impl Builtin for TaskReminder {
    fn name(&self) -> &'static str {
        "task-reminder"
    }

    fn about(&self) -> &'static str {
        "injects a reminder when the fields of a tool's result meet a condition"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = guard::check_mode(request, self.name());
        if request.event().field("tool_response").is_none()
            || !request.event().capabilities.has(Capability::Inject)
        {
            let message = format!("{} has no result of a tool", request.event().name);
            request.error("", message, "put it under PostToolUse");
            fine = None;
        }
        let when = match request.node("when").cloned() {
            None => vec![
                ("task.status".to_owned(), vec![Value::from("completed")]),
                ("task.priority".to_owned(), vec![Value::from("high")]),
            ],
            Some(node) => conditions(request, &node)?,
        };
        let strategies = [("user_message", Strategy::UserMessage), ("tool_result", Strategy::ToolResult)];
        let strategy = option::word(request, "strategy", &strategies).ok()?;
        let each = request.text("each");
        let text = request.text("text").unwrap_or_else(|| TEXT.to_owned());
        fine?;
        let reminder = Reminder { when, each, text, strategy: strategy.unwrap_or(Strategy::UserMessage) };
        Some(Callback::Inline(Arc::new(move |call: Call<'_>| reminder.answer(call))))
    }
}

fn conditions(request: &mut BuiltinRequest<'_>, node: &Node) -> Option<Vec<(String, Vec<Value>)>> {
    let help = "write it like `when: {task.status: completed}`";
    let Some(entries) = node.as_map().filter(|entries| !entries.is_empty()) else {
        request.error_at(node, "`when` must be a mapping of fields to values", help);
        return None;
    };
    let mut found = Vec::new();
    for entry in entries {
        let items = match &entry.value.value {
            Tree::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.value),
        };
        let values: Vec<Value> =
            items.iter().filter_map(|item| serde_json::from_str(&item.to_json()).ok()).collect();
        if values.is_empty() || values.iter().any(|value| value.is_array() || value.is_object()) {
            request.error_at(&entry.value, format!("`{}` needs a value, or a list of them", entry.key), help);
            return None;
        }
        found.push((entry.key.clone(), values));
    }
    Some(found)
}

impl Reminder {
    fn answer(&self, call: Call<'_>) -> Answer {
        let response = call.event.get("tool_response").unwrap_or_default();
        let mut reply = Reply::none();
        for result in results(&response) {
            let items: Vec<&Value> = match &self.each {
                None => vec![&result],
                Some(path) => match field(&result, path) {
                    Some(Value::Array(items)) => items.iter().collect(),
                    _ => Vec::new(),
                },
            };
            for item in items.into_iter().filter(|item| self.holds(item)) {
                reply = reply.inject(self.strategy, self.filled(item));
            }
        }
        reply.into()
    }

    fn holds(&self, item: &Value) -> bool {
        let is = |path: &String, values: &Vec<Value>| {
            field(item, path).is_some_and(|value| values.contains(value))
        };
        self.when.iter().all(|(path, values)| is(path, values))
    }

    /// The text with the item's fields filled in; a missing field is empty.
    fn filled(&self, item: &Value) -> String {
        let mut out = String::new();
        let mut rest = self.text.as_str();
        while let Some((before, tail)) = rest.split_once("${") {
            out.push_str(before);
            let Some((path, after)) = tail.split_once('}') else {
                out.push_str("${");
                rest = tail;
                continue;
            };
            match field(item, path) {
                Some(Value::String(text)) => out.push_str(text),
                Some(Value::Null) | None => {}
                Some(other) => out.push_str(&other.to_string()),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// The value at a path of names and numbers.
fn field<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The JSON values in a result: itself, the JSON in its text, the JSON in the texts of its content blocks.
fn results(response: &Json) -> Vec<Value> {
    let Some(value) = response.to_ordered() else { return Vec::new() };
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let blocks = match &value {
        Value::String(text) => return parsed(text).into_iter().collect(),
        Value::Array(blocks) => blocks,
        Value::Object(fields) => match fields.get("content") {
            Some(Value::Array(blocks)) => blocks,
            Some(Value::String(text)) => {
                let inside = parsed(text);
                return inside.into_iter().chain(std::iter::once(value.clone())).collect();
            }
            _ => return vec![value],
        },
        _ => return Vec::new(),
    };
    let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    let inside: Vec<Value> = texts.filter_map(parsed).collect();
    inside.into_iter().chain(std::iter::once(value.clone())).collect()
}
