//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::request::{list, text, texts};
use super::{Api, Body, Item, Request, Turn};

pub(super) const API: Api = Api { name: "chat", serves, read, write };

fn serves(path: &str) -> bool {
    path.ends_with("/chat/completions")
}

fn read(body: &Value) -> Request {
    let mut items = Vec::new();
    for message in list(body, "messages") {
        let content = message.get("content").map(texts).unwrap_or_default();
        match text(message, "role") {
            "user" => items.push(Item::User(content)),
            "tool" => {
                items.push(Item::Result { id: text(message, "tool_call_id").to_owned(), text: content })
            }
            "assistant" => items.push(Item::Own),
            _ => items.push(Item::System(content)),
        }
    }
    let tools = list(body, "tools").iter().filter_map(|tool| tool.get("function"));
    let tools = tools.map(|function| text(function, "name").to_owned()).collect();
    Request { items, tools, ..Request::default() }
}

fn write(turn: &Turn, body: &Value, _path: &str) -> Body {
    let calls: Vec<Value> = (turn.calls.iter().enumerate())
        .map(|(index, call)| {
            let function = json!({"name": call.tool, "arguments": call.input.to_string()});
            json!({"index": index, "id": call.wire_id(), "type": "function", "function": function})
        })
        .collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": turn.text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20});
    let envelope = |object: &str, choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-1", "object": object, "created": 1_700_000_000, "model": text(body, "model"),
            "choices": choices, "usage": usage,
        })
    };
    if body.get("stream").and_then(Value::as_bool) != Some(true) {
        let choices = json!([{"index": 0, "message": message, "finish_reason": reason}]);
        return Body::Json(envelope("chat.completion", choices, usage));
    }
    let chunk =
        |choices: Value, usage: Value| (None, envelope("chat.completion.chunk", choices, usage).to_string());
    Body::Events(vec![
        chunk(json!([{"index": 0, "delta": message, "finish_reason": null}]), Value::Null),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]), Value::Null),
        chunk(json!([]), usage),
        (None, "[DONE]".to_owned()),
    ])
}
