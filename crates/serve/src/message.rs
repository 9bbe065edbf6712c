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
    Unclear(&'static str),
}

/// Why a line is not a message, with the id of the request if it has one.
pub(crate) type Unreadable = (Option<Id>, RpcError);

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, Unreadable> {
    let parse =
        |why: String| (None, RpcError::new(ErrorKind::Parse, format!("this line is not JSON: {why}")));
    let text = std::str::from_utf8(line)
        .map_err(|error| parse(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let json = Json::parse(text.trim_ascii()).map_err(|error| parse(error.to_string()))?;
    let bad = |id: Option<Id>, why: &str| (id, RpcError::new(ErrorKind::Request, why));
    let Some(entries) = json.entries() else {
        let why = if json.text().starts_with('[') {
            "batches are not supported: send one object per line"
        } else {
            "a message is a JSON object"
        };
        return Err(bad(None, why));
    };
    let mut fields: [Option<Json>; 6] = Default::default();
    const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    for (name, value) in entries {
        let Some(position) = NAMES.iter().position(|known| *known == name) else { continue };
        if fields[position].replace(value).is_some() {
            return Err(bad(None, &format!("`{name}` appears twice")));
        }
    }
    let [version, id, method, params, result, error] = fields;
    let has_id = id.is_some();
    let id = id.as_ref().and_then(Id::read);
    if has_id && id.is_none() {
        return Err(bad(None, "`id` must be a string or an integer"));
    }
    if version.as_ref().and_then(Json::as_str).as_deref() != Some("2.0") {
        return Err(bad(id, "`jsonrpc` must be \"2.0\""));
    }
    if let Some(method) = method {
        let Some(method) = method.as_str() else { return Err(bad(id, "`method` must be a string")) };
        let method = method.into_owned();
        if result.is_some() || error.is_some() {
            return Err(bad(id, "a message is a request or a response, not both"));
        }
        return Ok(match id {
            Some(id) => Incoming::Request { id, method, params },
            None => Incoming::Notification { method, params },
        });
    }
    let Some(id) = id.filter(|_| result.is_some() || error.is_some()) else {
        return Err(bad(None, "a message has a `method`, or an `id` with a `result` or an `error`"));
    };
    let outcome = match (result, error) {
        (Some(result), None) => Answered::Result(result),
        (None, Some(error)) => {
            let message =
                error.get("message").and_then(|message| message.as_str().map(|text| text.into_owned()));
            message.map_or(Answered::Error("the client answered with an error".to_owned()), Answered::Error)
        }
        _ => Answered::Unclear("the client answered with a result and an error at once"),
    };
    Ok(Incoming::Response { id, outcome })
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
            assert_eq!(read(bad).unwrap_err().1.kind, ErrorKind::Request, "{bad}");
        }
        assert_eq!(read("{").unwrap_err().1.kind, ErrorKind::Parse);
        let large = "9".repeat(40);
        let Ok(Incoming::Request { id, .. }) =
            read(&format!(r#"{{"jsonrpc":"2.0","id":{large},"method":"m"}}"#))
        else {
            panic!("a large number is a number")
        };
        assert_eq!(id.to_string(), large);
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
