//! One message, and how it is read from a file.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crosier::{Matcher, Strategy};
use serde_json::{Map, Value};

use super::{Reader, time};

/// Something to tell an agent.
#[derive(Debug, Clone)]
#[must_use = "a message is delivered only when it is pushed"]
pub struct Message {
    pub(super) content: String,
    pub(super) strategy: Option<Strategy>,
    pub(super) target: Vec<Matcher>,
    /// The one agent that it is for, when there is just one.
    pub(super) only: Option<String>,
    pub(super) tool: Option<Matcher>,
    pub(super) from: Option<String>,
    pub(super) sequence: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) expires: Option<SystemTime>,
}

impl Message {
    /// A message for every agent, which never expires by itself.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            strategy: None,
            target: Vec::new(),
            only: None,
            tool: None,
            from: None,
            sequence: None,
            id: None,
            expires: None,
        }
    }

    /// For this agent (or these: it is a matcher); can be called several times.
    pub fn to(mut self, agent: &str) -> Self {
        // Anything that is not a pattern is a name.
        let exact = !agent.contains(['*', '?', '[', '|']) && !agent.starts_with("re:");
        self.only = (self.target.is_empty() && exact).then(|| agent.to_owned());
        self.target.extend(Matcher::new(agent).ok());
        self
    }

    /// Only after the result of these tools (a matcher).
    ///
    /// # Errors
    /// What is wrong with the matcher.
    pub fn after_tool(mut self, matcher: &str) -> Result<Self, String> {
        self.tool = Some(Matcher::new(matcher)?);
        Ok(self)
    }

    /// A message of its own after the result, whatever the hook's default is.
    pub fn as_user_message(mut self) -> Self {
        self.strategy = Some(Strategy::UserMessage);
        self
    }

    /// At the end of the tool result, whatever the hook's default is.
    pub fn as_tool_result(mut self) -> Self {
        self.strategy = Some(Strategy::ToolResult);
        self
    }

    /// Says who sends it; that agent does not get it.
    pub fn from(mut self, sender: impl Into<String>) -> Self {
        self.from = Some(sender.into());
        self
    }

    /// Numbers the messages of a sender; the same number is the same message.
    pub fn sequence(mut self, number: u64) -> Self {
        self.sequence = Some(number);
        self
    }

    /// Names it; the same name is the same message.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Drops it when it was not delivered by then.
    pub fn expires_at(mut self, time: SystemTime) -> Self {
        self.expires = Some(time);
        self
    }

    /// Drops it when it was not delivered within this time.
    pub fn expires_in(self, time: Duration) -> Self {
        let at = SystemTime::now() + time;
        self.expires_at(at)
    }

    /// The key by which duplicates are recognised.
    pub(super) fn key(&self) -> Option<String> {
        match (&self.id, self.sequence) {
            (Some(id), _) => Some(format!("id:{id}")),
            (None, Some(sequence)) => {
                Some(format!("seq:{}#{sequence}", self.from.as_deref().unwrap_or_default()))
            }
            (None, None) => None,
        }
    }

    pub(super) fn is_expired(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    pub(super) fn is_for(&self, reader: &Reader<'_>) -> bool {
        let own = self.from.as_deref().is_some_and(|from| !from.is_empty() && from == reader.agent);
        let meant = self.target.is_empty() || self.target.iter().any(|agents| agents.matches(reader.agent));
        !own && meant && self.tool.as_ref().is_none_or(|tools| tools.matches(reader.tool))
    }

    /// Reads the JSON of a file that was written at this time; the error is a sentence.
    pub(super) fn read(text: &str, written: SystemTime) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let Value::Object(fields) = value else { return Err("it is not a JSON object".to_owned()) };
        let inner = match fields.get("inject") {
            None => &fields,
            Some(Value::Object(inner)) => inner,
            Some(_) => return Err("`inject` is not an object".to_owned()),
        };
        let content = match inner.get("content").or_else(|| fields.get("content")) {
            Some(Value::String(content)) if !content.is_empty() => content,
            Some(Value::String(_)) => return Err("its `content` is empty".to_owned()),
            Some(_) => return Err("its `content` is not text".to_owned()),
            None => return Err("it has no `content`".to_owned()),
        };
        let mut message = Self::new(content.as_str());
        message.strategy = match text_of(inner, "strategy")?.or(text_of(&fields, "strategy")?) {
            None => None,
            Some("tool_result") => Some(Strategy::ToolResult),
            Some("user_message") => Some(Strategy::UserMessage),
            Some(other) => {
                return Err(format!("its `strategy` is `{other}`; use tool_result or user_message"));
            }
        };
        for agent in texts_of(&fields, "target")? {
            Matcher::new(agent).map_err(|why| format!("its `target` is not a valid matcher: {why}"))?;
            message = message.to(agent);
        }
        if let Some(matcher) = text_of(&fields, "tool_matcher")? {
            message = message
                .after_tool(matcher)
                .map_err(|why| format!("its `tool_matcher` is not a valid matcher: {why}"))?;
        }
        message.from = text_of(&fields, "from")?.map(str::to_owned);
        message.id = match fields.get("id") {
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            None | Some(Value::Null) => None,
            Some(_) => return Err("its `id` is not text".to_owned()),
        };
        message.sequence = match fields.get("sequence") {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.as_u64().ok_or("its `sequence` is not a whole number")?),
        };
        message.expires = expiry(&fields, written)?;
        Ok(message)
    }
}

fn text_of<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its `{key}` is not text")),
    }
}

fn texts_of<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Vec<&'a str>, String> {
    match fields.get(key) {
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().ok_or_else(|| format!("its `{key}` is not a list of texts")))
            .collect(),
        _ => Ok(text_of(fields, key)?.into_iter().collect()),
    }
}

fn expiry(fields: &Map<String, Value>, written: SystemTime) -> Result<Option<SystemTime>, String> {
    let bad = || "its expiry is not a valid time".to_owned();
    let seconds = |value: &Value| {
        let seconds = value.as_f64().filter(|seconds| (0.0..1e12).contains(seconds));
        seconds.map(Duration::from_secs_f64)
    };
    let at = match fields.get("expires_at") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(time::parse(text).ok_or_else(bad)?),
        Some(value) => Some(UNIX_EPOCH + seconds(value).ok_or_else(bad)?),
    };
    let within = match fields.get("expires_in") {
        None | Some(Value::Null) => None,
        Some(value) => Some(written + seconds(value).ok_or_else(bad)?),
    };
    Ok(match (at, within) {
        (Some(at), Some(within)) => Some(at.min(within)),
        (at, within) => at.or(within),
    })
}
