//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::request::{list, text, texts};
use super::{Api, Body, Item, Request, Turn};

pub(super) const API: Api = Api { name: "responses", serves, read, write };

fn serves(path: &str) -> bool {
    path.ends_with("/responses")
}

fn read(body: &Value) -> Request {
    let mut items = Vec::new();
    if let Some(instructions) = body.get("instructions") {
        items.push(Item::System(texts(instructions)));
    }
    for item in list(body, "input") {
        let id = text(item, "call_id").to_owned();
        let content = || item.get("content").map(texts).unwrap_or_default();
        match text(item, "type") {
            "function_call" | "custom_tool_call" | "reasoning" => items.push(Item::Own),
            "function_call_output" | "custom_tool_call_output" => {
                items.push(Item::Result { id, text: item.get("output").map(texts).unwrap_or_default() });
            }
            _ => items.push(match text(item, "role") {
                "assistant" => Item::Own,
                "user" => Item::User(content()),
                _ => Item::System(content()),
            }),
        }
    }
    let tools = list(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect();
    Request { items, tools, ..Request::default() }
}

fn write(turn: &Turn, body: &Value, _path: &str) -> Body {
    let mut output = Vec::new();
    if !turn.text.is_empty() {
        let content = json!([{"type": "output_text", "text": turn.text, "annotations": []}]);
        output.push(
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}),
        );
    }
    for call in &turn.calls {
        let id = call.wire_id();
        output.push(match (&call.input, call.tool.rsplit_once('/')) {
            (Value::String(input), _) => json!({
                "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id,
                "name": call.tool, "input": input,
            }),
            // A tool of an MCP server is a name in a namespace.
            (input, Some((namespace, name))) => json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "namespace": namespace,
                "name": name, "arguments": input.to_string(),
            }),
            (input, None) => json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": call.tool, "arguments": input.to_string(),
            }),
        });
    }
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": "resp_1", "object": "response", "status": status, "model": text(body, "model"), "output": output,
            "usage": {
                "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20,
            },
        })
    };
    if body.get("stream").and_then(Value::as_bool) != Some(true) {
        return Body::Json(response("completed", &output));
    }
    let mut events = Vec::new();
    let mut add = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        events.push((Some(name), data.to_string()));
    };
    add("response.created", json!({"response": response("in_progress", &[])}));
    for (index, item) in output.iter().enumerate() {
        add("response.output_item.added", json!({"output_index": index, "item": item}));
        add("response.output_item.done", json!({"output_index": index, "item": item}));
    }
    add("response.completed", json!({"response": response("completed", &output)}));
    Body::Events(events)
}
