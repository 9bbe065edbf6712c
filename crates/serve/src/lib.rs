//! `crosier serve`: one process that keeps Python workers warm, and is a host for programs in any language.
//!
//! JSON-RPC 2.0, one object per line, over a Unix socket or over stdio; a small part of it over HTTP on loopback.
//! `docs/protocol.md` describes it.
//!
//! ```text
//! line ──► message ──► connection ──► method/… ──► outbox
//!                          │
//!                          └── engines: the hooks, scopes and switches of one connection, and its engines
//! ```
//!
//! - `line`, `message`, `params`, `error`: bytes to requests or errors, without I/O.
//! - `connection`: one client. It reads, hands each request to its method, and ends with the client.
//! - `engines`: a connection is a host; its engines have the configuration of a project and the connection's own hooks.
//! - `callback`: hooks whose handler is the client.
//! - `updates`: messages and outcomes for subscribers.
//! - `server`: what all connections share. `socket`, `stdio` and `http` accept connections.
//! - `client`: the other end, for `crosier hook`: borrows a warm worker if it can. `conversation` sends its requests and
//!   waits for the answers, `lent` writes the call and reads its result.
//!
//! The crate knows no configuration files, agents or environment: a [`Host`] provides them.
#![forbid(unsafe_code)]

mod callback;
mod client;
mod connection;
mod conversation;
mod engines;
mod error;
mod host;
mod http;
mod http_head;
mod key;
mod lent;
mod line;
mod message;
mod method;
mod outbox;
mod params;
mod peer;
mod server;
mod socket;
mod stdio;
mod updates;

pub use client::DaemonRunner;
pub use conversation::Conversation;
pub use host::{AgentPost, Closed, ConfigLocation, ConfigSource, Fault, HookAnswer, Host, Loaded};
pub use http::HttpAddress;
pub use key::{Key, http_token};
pub use peer::{Confinement, is_confined};
pub use server::{Server, ServerEnd, Settings, Stopper};
pub use socket::{Bound, NoSocket, SocketPath};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The longest line, in bytes.
pub const MAX_LINE: usize = 64 << 20;
/// The maximum number of requests of a connection that can be pending.
pub const MAX_IN_FLIGHT: usize = 64;
/// The largest reply of a hook whose handler is a client, in bytes.
pub const MAX_REPLY: usize = 1 << 20;

/// For fuzzing: the path and the token in the head of any request.
#[doc(hidden)]
pub fn read_any_head(head: &[u8]) -> (String, Option<Vec<u8>>) {
    let head = http_head::Head::of(head);
    (head.path(), head.header("authorization").map(<[u8]>::to_vec))
}

/// For fuzzing: any line must be read or refused.
#[doc(hidden)]
pub fn read_any_line(line: &[u8]) -> bool {
    match message::read(line) {
        Ok(message::Incoming::Request { params, .. } | message::Incoming::Notification { params, .. }) => {
            params::Params::read(params.as_ref(), &["event", "input"]).is_ok()
        }
        Ok(message::Incoming::Response { .. }) => true,
        Err(_) => false,
    }
}
