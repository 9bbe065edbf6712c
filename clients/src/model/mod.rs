//! A model that follows a script, on loopback, in the four wire formats that agents use.
//!
//! Every request is kept, so that checks can look at what the model was told.

mod chat;
mod gemini;
mod messages;
mod request;
mod responses;
mod script;
mod server;

pub(crate) use request::{Item, Request};
pub(crate) use script::{Call, Script, Turn};
pub(crate) use server::Server;

use serde_json::Value;

/// One wire format: which requests use it, how they are read, and how a turn is written.
struct Api {
    name: &'static str,
    /// Whether a path belongs to it.
    serves: fn(&str) -> bool,
    /// Reads the conversation in a body.
    read: fn(&Value) -> Request,
    /// Writes a turn as the body of a response; the request says whether it wants a stream.
    write: fn(&Turn, &Value, &str) -> Body,
}

/// The body of a response.
enum Body {
    Json(Value),
    /// Server-sent events: the name (if the format has names) and the data of each.
    Events(Vec<(Option<&'static str>, String)>),
}

static APIS: [Api; 4] = [messages::API, responses::API, chat::API, gemini::API];
