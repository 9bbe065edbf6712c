//! The methods of the server, one function each.

mod fire;
mod hello;
mod hook;
mod python;
mod question;

use std::sync::Arc;

use crate::connection::{Connection, Request};
use crate::error::{ErrorKind, RpcError};
use crosier::protocol::nearest::nearest;

pub(crate) use fire::{FireParams, answer_of, judge};
pub(crate) use question::{explain, status};

/// Every method.
const METHODS: [&str; 16] = [
    "hello",
    "fire",
    "recheck",
    "explain",
    "events",
    "scope.enter",
    "scope.leave",
    "hook.register",
    "hook.remove",
    "hook.enable",
    "hook.disable",
    "subscribe",
    "unsubscribe",
    "status",
    "shutdown",
    "python.call",
];

/// Starts a request. Only fires, Python calls and the shutdown may be unfinished when this returns. Returns false when
/// the connection must be closed.
pub(crate) async fn begin(connection: &Arc<Connection>, request: Request) -> bool {
    let params = request.params.as_ref();
    let result = match request.method.as_str() {
        "hello" => hello::hello(connection, params),
        "fire" => return fire::begin(connection, request, false).await,
        "recheck" => return fire::begin(connection, request, true).await,
        "explain" => question::explain_here(connection, params),
        "events" => question::events(connection, params),
        "scope.enter" => hook::enter(connection, params),
        "scope.leave" => hook::leave(connection, params),
        "hook.register" => hook::register(connection, params),
        "hook.remove" => hook::remove(connection, params),
        "hook.enable" => hook::switch(connection, params, true),
        "hook.disable" => hook::switch(connection, params, false),
        "subscribe" => question::subscribe(connection, params),
        "unsubscribe" => question::unsubscribe(connection, params),
        "status" => question::status(&connection.server, params),
        "shutdown" => return question::shut_down(connection, request).await,
        "python.call" => return python::begin(connection, request).await,
        other => Err(unknown(other)),
    };
    connection.answer(request, result).await
}

/// Whether a client can cancel a request of this method.
pub(crate) fn is_cancellable(method: &str) -> bool {
    matches!(method, "fire" | "recheck" | "python.call")
}

pub(crate) fn unknown(method: &str) -> RpcError {
    let near = nearest(method, METHODS).map(|near| format!(", did you mean `{near}`?"));
    RpcError::new(ErrorKind::Method, format!("unknown method `{method:.80}`{}", near.unwrap_or_default()))
}
