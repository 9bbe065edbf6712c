//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::request::{list, text, texts};
use super::{Api, Body, Item, Request, Turn};

pub(super) const API: Api = Api { name: "messages", serves, read, write };

fn serves(path: &str) -> bool {
    path.ends_with("/messages")
}

fn read(body: &Value) -> Request {
    let mut items = Vec::new();
    if let Some(system) = body.get("system") {
        items.push(Item::System(texts(system)));
    }
    for message in list(body, "messages") {
        let user = text(message, "role") == "user";
        let say = |words: String| if user { Item::User(words) } else { Item::Own };
        match message.get("content") {
            Some(Value::Array(blocks)) => {
                items.extend(blocks.iter().map(|block| match text(block, "type") {
                    "tool_use" => Item::Own,
                    "tool_result" => Item::Result {
                        id: text(block, "tool_use_id").to_owned(),
                        text: block.get("content").map(texts).unwrap_or_default(),
                    },
                    _ => say(texts(block)),
                }))
            }
            content => items.push(say(content.map(texts).unwrap_or_default())),
        }
    }
    let tools = list(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect();
    Request { items, tools, ..Request::default() }
}

fn write(turn: &Turn, body: &Value, _path: &str) -> Body {
    let mut blocks = Vec::new();
    if !turn.text.is_empty() {
        blocks.push(json!({"type": "text", "text": turn.text}));
    }
    for call in &turn.calls {
        blocks
            .push(json!({"type": "tool_use", "id": call.wire_id(), "name": call.tool, "input": call.input}));
    }
    let reason = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    let message = |content: &[Value], reason: Option<&str>| {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": text(body, "model"),
            "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        })
    };
    if body.get("stream").and_then(Value::as_bool) != Some(true) {
        return Body::Json(message(&blocks, Some(reason)));
    }
    let mut events = Events(Vec::new());
    events.add("message_start", json!({"message": message(&[], None)}));
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = if text(block, "type") == "text" {
            let delta = json!({"type": "text_delta", "text": block.get("text")});
            (json!({"type": "text", "text": ""}), delta)
        } else {
            let input = block.get("input").map(Value::to_string);
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({"type": "input_json_delta", "partial_json": input}))
        };
        events.add("content_block_start", json!({"index": index, "content_block": start}));
        events.add("content_block_delta", json!({"index": index, "delta": delta}));
        events.add("content_block_stop", json!({"index": index}));
    }
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    events.add("message_delta", json!({"delta": delta, "usage": {"output_tokens": 10}}));
    events.add("message_stop", json!({}));
    Body::Events(events.0)
}

struct Events(Vec<(Option<&'static str>, String)>);

impl Events {
    fn add(&mut self, name: &'static str, mut data: Value) {
        data["type"] = json!(name);
        self.0.push((Some(name), data.to_string()));
    }
}
