//! Google's generateContent API.

use serde_json::{Value, json};

use super::request::{list, text, texts};
use super::{Api, Body, Item, Request, Turn};

pub(super) const API: Api = Api { name: "gemini", serves, read, write };

fn serves(path: &str) -> bool {
    path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent")
}

fn read(body: &Value) -> Request {
    let mut items = Vec::new();
    if let Some(system) = body.get("systemInstruction") {
        items.push(Item::System(list(system, "parts").iter().map(texts).collect::<Vec<_>>().join("\n")));
    }
    for content in list(body, "contents") {
        let user = text(content, "role") == "user";
        for part in list(content, "parts") {
            items.push(if let Some(response) = part.get("functionResponse") {
                let told = response.get("response").map(flat).unwrap_or_default();
                Item::Result { id: text(response, "id").to_owned(), text: told }
            } else if user {
                Item::User(texts(part))
            } else {
                Item::Own
            });
        }
    }
    let declared = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    let tools = declared.map(|function| text(function, "name").to_owned()).collect();
    Request { items, tools, ..Request::default() }
}

/// `{"output": TEXT}` as `output: TEXT`, so that checks find texts without escapes.
fn flat(response: &Value) -> String {
    match response {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key}: {}", texts(value)))
            .collect::<Vec<_>>()
            .join("\n"),
        other => texts(other),
    }
}

fn write(turn: &Turn, _body: &Value, path: &str) -> Body {
    let mut parts = Vec::new();
    if !turn.text.is_empty() {
        parts.push(json!({"text": turn.text}));
    }
    for call in &turn.calls {
        parts.push(json!({"functionCall": {"id": call.wire_id(), "name": call.tool, "args": call.input}}));
    }
    let answer = json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
        "modelVersion": "scripted",
    });
    if path.ends_with(":streamGenerateContent") {
        Body::Events(vec![(None, answer.to_string())])
    } else {
        Body::Json(answer)
    }
}
