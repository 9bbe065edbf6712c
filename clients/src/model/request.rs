//! What a model was told, in the same form for all wire formats.

use serde_json::Value;

/// One request of an agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The wire format.
    pub(crate) api: &'static str,
    /// The conversation it belongs to; empty for an auxiliary request (a title, a summary).
    pub(crate) conversation: String,
    /// The names of the tools that are offered.
    pub(crate) tools: Vec<String>,
    pub(crate) items: Vec<Item>,
    /// The body as it was received.
    pub(crate) raw: Value,
}

/// One piece of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    System(String),
    User(String),
    /// The model's own text or call.
    Own,
    Result {
        id: String,
        text: String,
    },
}

impl Item {
    /// What this piece tells the model, if it does not come from the model itself.
    pub(crate) fn told(&self) -> Option<&str> {
        match self {
            Item::System(text) | Item::User(text) | Item::Result { text, .. } => Some(text),
            Item::Own => None,
        }
    }
}

impl Request {
    /// The conversation that is named in the first prompt with a marker.
    pub(crate) fn marked(&self) -> &str {
        if self.tools.is_empty() {
            return "";
        }
        let mut prompts = self.items.iter().filter_map(|item| match item {
            Item::User(text) => Some(text),
            _ => None,
        });
        prompts.find_map(|text| marker(text)).unwrap_or("main")
    }
}

fn marker(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("[[")?;
    let (name, _) = rest.split_once("]]")?;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    if plain { Some(name) } else { marker(rest) }
}

/// All texts inside a value that is a text, a block with a `text`, or a list of either; other values as JSON.
pub(super) fn texts(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => match block.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

/// The list under a key; empty when there is none.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text under a key; empty when there is none.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(prompts: &[&str], tools: &[&str]) -> Request {
        Request {
            items: prompts.iter().map(|text| Item::User((*text).to_owned())).collect(),
            tools: tools.iter().map(|name| (*name).to_owned()).collect(),
            ..Request::default()
        }
    }

    #[test]
    fn the_first_marker_names_the_conversation() {
        assert_eq!(request(&["a [[x", "b [[helper]] [[main]]"], &["Bash"]).marked(), "helper");
        assert_eq!(request(&["if [[ -f a ]]; then [[main]]"], &["Bash"]).marked(), "main");
        assert_eq!(request(&["no marker"], &["Bash"]).marked(), "main");
    }

    #[test]
    fn without_tools_it_is_a_request_on_the_side() {
        assert_eq!(request(&["[[main]]"], &[]).marked(), "");
    }
}
