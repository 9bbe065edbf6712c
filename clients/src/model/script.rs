//! What the model says.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// One answer of the model: text, tool calls, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
}

/// One tool call. If its input is a text, it is a free-form call in wire formats that have those.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// A name for checks; the call's id on the wire begins with it.
    pub(crate) id: &'static str,
    pub(crate) tool: String,
    pub(crate) input: Value,
}

impl Turn {
    pub(crate) fn text(text: &str) -> Turn {
        Turn { text: text.to_owned(), calls: Vec::new() }
    }

    pub(crate) fn call(call: Call) -> Turn {
        Turn { text: String::new(), calls: vec![call] }
    }

    pub(crate) fn calls(calls: impl IntoIterator<Item = Call>) -> Turn {
        Turn { text: String::new(), calls: calls.into_iter().collect() }
    }
}

impl Call {
    pub(crate) fn new(id: &'static str, tool: &str, input: Value) -> Call {
        Call { id, tool: tool.to_owned(), input }
    }

    /// Its id on the wire.
    pub(crate) fn wire_id(&self) -> String {
        format!("call_{}", self.id)
    }
}

/// The turns of each conversation. A conversation is identified by the marker `[[name]]` in its first prompt; one
/// without a marker is `main`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    turns: BTreeMap<String, VecDeque<Turn>>,
}

/// The model's answer when its script is over, and to requests that offer no tools (titles, summaries).
pub(crate) const OVER: &str = "All done.";

impl Script {
    pub(crate) fn add(&mut self, conversation: &str, turns: impl IntoIterator<Item = Turn>) {
        self.turns.entry(conversation.to_owned()).or_default().extend(turns);
    }

    /// The next turn of a conversation.
    pub(crate) fn next(&mut self, conversation: &str) -> Turn {
        let next = self.turns.get_mut(conversation).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| Turn::text(OVER))
    }

    /// The same script with the placeholders replaced by the folders of a run.
    pub(crate) fn located(mut self, place: impl Fn(&str) -> String) -> Script {
        for call in self.turns.values_mut().flatten().flat_map(|turn| &mut turn.calls) {
            locate(&mut call.input, &place);
        }
        self
    }
}

fn locate(value: &mut Value, place: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = place(text),
        Value::Array(values) => values.iter_mut().for_each(|value| locate(value, place)),
        Value::Object(fields) => fields.values_mut().for_each(|value| locate(value, place)),
        _ => {}
    }
}
