use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::conversation::Block;
use crate::model::refusal;

/// Keys of both wire formats, and some unknown ones.
const KEYS: [&str; 22] = [
    "type",
    "index",
    "message",
    "usage",
    "input_tokens",
    "output_tokens",
    "content_block",
    "delta",
    "text",
    "partial_json",
    "id",
    "name",
    "stop_reason",
    "error",
    "choices",
    "content",
    "refusal",
    "tool_calls",
    "function",
    "arguments",
    "finish_reason",
    "new",
];
const WORDS: [&str; 16] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "text",
    "text_delta",
    "tool_use",
    "input_json_delta",
    "tool_calls",
    "length",
    "stop",
    "{\"a\":",
    "}",
    "[DONE]",
    "\u{1f600}",
];

/// JSON that looks as if it could be an event.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        (0..3u64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let entry = (prop::sample::select(&KEYS[..]).prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            prop::collection::vec(entry, 0..6).prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

/// The answer that these events lead to.
fn read(wire: Wire, events: &[Value]) -> Result<Turn, ModelError> {
    let mut answer = wire.answer(10);
    for value in events {
        let name = value["type"].as_str().unwrap_or_default().to_owned();
        let event = Event { name, data: value.to_string() };
        if answer.take(&event, &mut |_| {})? == Step::Over {
            break;
        }
    }
    answer.finish()
}

proptest! {
    /// Whatever a service sends becomes an answer or an error, and every call has an object as its input.
    #[test]
    fn whatever_comes_is_an_answer_or_an_error(events in prop::collection::vec(value(), 0..8)) {
        for wire in [Wire::Anthropic, Wire::OpenAi] {
            for block in read(wire, &events).map(|turn| turn.content).unwrap_or_default() {
                if let Block::ToolUse { input, id, .. } = block {
                    prop_assert!(input.is_object() && !id.is_empty());
                }
            }
        }
    }

    #[test]
    fn whatever_is_said_in_a_refusal_has_a_message(body in ".*", value in value()) {
        for body in [body, value.to_string(), json!({"error": value}).to_string()] {
            let message = refusal::ErrorBody::read(&body).message;
            prop_assert!(!message.is_empty() && !message.contains(char::is_control));
        }
    }
}
