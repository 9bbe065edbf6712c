//! One line as a JSON-RPC message.

use std::fmt;

use crosier::Json;
use crosier::protocol::ordered::Value;

use crate::error::{ErrorKind, RpcError};

/// The id of a request: a string or an integer, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(String),
    Text(String),
}

/// As JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(digits) => f.write_str(digits),
            Self::Text(text) => write!(f, "{}", Value::from(text.as_str())),
        }
    }
}

impl Id {
    pub(crate) fn read(json: &Json) -> Option<Self> {
        let text = json.text();
        if let Some(name) = json.as_str() {
            return Some(Self::Text(name.into_owned()));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer.then(|| Self::Number(text.to_owned()))
    }
}

/// What a client sends.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Option<Json>,
    },
    Notification {
        method: String,
        params: Option<Json>,
    },
    /// The response to a request that the server sent.
    Response {
        id: Id,
        outcome: Answered,
    },
}

/// How the client answered a request of the server.
#[derive(Debug)]
pub(crate) enum Answered {
    Result(Json),
    Error(String),
    /// It is not an answer as the protocol defines one; with the results in it, because a denial counts anyhow.
    Unclear(String, Vec<Json>),
}

/// A line that is not a message.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The id of the request, if it has one.
    pub(crate) id: Option<Id>,
    pub(crate) error: RpcError,
    /// If it looks like an answer: of which call (unknown: of any), and the results in it.
    pub(crate) answer: Option<(Option<Id>, Vec<Json>)>,
}

impl Unreadable {
    fn request(id: Option<Id>, why: impl Into<String>) -> Self {
        Self { id, error: RpcError::new(ErrorKind::Request, why), answer: None }
    }
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, Box<Unreadable>> {
    let parse = |why: String| {
        let error = RpcError::new(ErrorKind::Parse, format!("this line is not JSON: {why}"));
        Box::new(Unreadable { id: None, error, answer: None })
    };
    let text = std::str::from_utf8(line)
        .map_err(|error| parse(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let json = Json::parse(text.trim_ascii()).map_err(|error| parse(error.to_string()))?;
    let Some(entries) = json.entries() else {
        let results = of_batch(&json);
        let why = match &results {
            Some(_) => "batches are not supported: send one object per line",
            None => "a message is a JSON object",
        };
        let answer = Some((None, results.unwrap_or_default()));
        return Err(Box::new(Unreadable { answer, ..Unreadable::request(None, why) }));
    };
    let mut fields: [Option<Json>; 6] = Default::default();
    const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    let (mut twice, mut earlier) = (None, Vec::new());
    for (name, value) in entries {
        let Some(position) = NAMES.iter().position(|known| *known == name) else { continue };
        if let Some(before) = fields[position].replace(value) {
            twice = Some(NAMES[position]);
            earlier.extend((name == "result").then_some(before));
        }
    }
    let [version, id, method, params, result, error] = fields;
    let is_request = method.is_some() && result.is_none() && error.is_none();
    let has_id = id.is_some();
    let id = id.as_ref().and_then(Id::read).filter(|_| twice != Some("id"));
    let may_answer = !is_request && (has_id || result.is_some() || error.is_some());
    let bad = |id: Option<Id>, why: &str| {
        let results = || earlier.iter().chain(&result).cloned().collect();
        let answer = may_answer.then(|| (id.clone(), results()));
        // The ids of calls are not those of requests, so the error has none.
        Box::new(Unreadable { answer, ..Unreadable::request(id.filter(|_| method.is_some()), why) })
    };
    if let Some(name) = twice {
        return Err(bad(id.filter(|_| may_answer), &format!("`{name}` appears twice")));
    }
    if has_id && id.is_none() {
        return Err(bad(None, "`id` must be a string or an integer"));
    }
    if version.as_ref().and_then(Json::as_str).as_deref() != Some("2.0") {
        return Err(bad(id, "`jsonrpc` must be \"2.0\""));
    }
    if let Some(text) = &method {
        let Some(text) = text.as_str() else { return Err(bad(id, "`method` must be a string")) };
        if !is_request {
            return Err(bad(id, "a message is a request or a response, not both"));
        }
        let method = text.into_owned();
        return Ok(match id {
            Some(id) => Incoming::Request { id, method, params },
            None => Incoming::Notification { method, params },
        });
    }
    let Some(known) = id.clone().filter(|_| result.is_some() || error.is_some()) else {
        return Err(bad(id, "a message has a `method`, or an `id` with a `result` or an `error`"));
    };
    let outcome = match (result, error) {
        (Some(result), None) => Answered::Result(result),
        (None, Some(error)) => {
            let message =
                error.get("message").and_then(|message| message.as_str().map(|text| text.into_owned()));
            message.map_or(Answered::Error("the client answered with an error".to_owned()), Answered::Error)
        }
        (result, _) => {
            let why = "the client answered with a result and an error at once".to_owned();
            Answered::Unclear(why, result.into_iter().collect())
        }
    };
    Ok(Incoming::Response { id: known, outcome })
}

/// The results in a list of messages; `None` if it is no list.
fn of_batch(json: &Json) -> Option<Vec<Json>> {
    if !json.text().starts_with('[') {
        return None;
    }
    let messages: Vec<Box<serde_json::value::RawValue>> =
        serde_json::from_str(json.text()).unwrap_or_default();
    let result = |message: &serde_json::value::RawValue| Json::parse(message.get()).ok()?.get("result");
    Some(messages.iter().filter_map(|message| result(message)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let read = |text: &str| read(text.as_bytes());
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#),
            Ok(Incoming::Request { id: Id::Number(n), .. }) if n == "1"
        ));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"cancel"}"#), Ok(Incoming::Notification { .. })));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":"s1","result":null}"#),
            Ok(Incoming::Response { id: Id::Text(_), outcome: Answered::Result(_) })
        ));
        for bad in ["[]", "1", "{}", r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, r#"{"id":1,"method":"m"}"#]
        {
            assert_eq!(read(bad).unwrap_err().error.kind, ErrorKind::Request, "{bad}");
        }
        assert_eq!(read("{").unwrap_err().error.kind, ErrorKind::Parse);
        let large = "9".repeat(40);
        let Ok(Incoming::Request { id, .. }) =
            read(&format!(r#"{{"jsonrpc":"2.0","id":{large},"method":"m"}}"#))
        else {
            panic!("a large number is a number")
        };
        assert_eq!(id.to_string(), large);
    }

    #[test]
    fn what_may_have_been_an_answer_is_told_with_its_results() {
        let answer = |text: &str| {
            let (id, results) = read(text.as_bytes()).unwrap_err().answer?;
            let results = results.iter().map(|result| result.text().to_owned()).collect::<Vec<_>>();
            Some((id.map(|id| id.to_string()), results.join(" ")))
        };
        let of = |id: Option<&str>, results: &str| Some((id.map(str::to_owned), results.to_owned()));
        let s1 = Some(r#""s1""#);
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":"s1"}"#, of(s1, "")),
            (r#"{"id":"s1","result":1}"#, of(s1, "1")),
            (r#"{"jsonrpc":"2.0","id":"s1","result":1,"result":2}"#, of(s1, "1 2")),
            (r#"{"jsonrpc":"2.0","id":"s1","method":"m","result":1}"#, of(s1, "1")),
            (r#"{"jsonrpc":"2.0","id":"s1","id":"s2","result":1}"#, of(None, "1")),
            (r#"{"jsonrpc":"2.0","id":["s1"],"result":1}"#, of(None, "1")),
            (r#"{"jsonrpc":"2.0","result":1}"#, of(None, "1")),
            (r#"[{"jsonrpc":"2.0","id":"s1","result":1},2]"#, of(None, "1")),
            ("7", of(None, "")),
            ("{}", None),
            (r#"{"id":1,"method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, None),
        ] {
            assert_eq!(answer(text), expected, "{text}");
        }
    }

    #[test]
    fn any_depth_is_read() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"fire","params":{{"input":{deep}}}}}"#);
        assert!(read(line.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
