//! Messages and outcomes for subscribers: those of a connection's own fires, or of all fires.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Event, Json, Listener, Message, MessageKind, Outcome, Received};

use crate::connection::Connection;
use crate::server::Server;

/// A subscription of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) number: u64,
    pub(crate) messages: bool,
    pub(crate) outcomes: bool,
    /// To the fires of every connection, without payloads.
    pub(crate) all: bool,
}

/// Forwards the messages of one engine.
#[derive(Debug)]
pub(crate) struct Relay {
    listener: Listener,
    /// Held while messages are forwarded, so that the answer to a fire does not overtake its messages.
    forwarding: Mutex<()>,
    owner: Weak<Connection>,
    server: Weak<Server>,
}

impl Relay {
    /// Starts to listen, until the engine ends.
    pub(crate) fn start(listener: Listener, owner: Weak<Connection>, server: Weak<Server>) -> Arc<Self> {
        let relay = Arc::new(Self { listener, forwarding: Mutex::new(()), owner, server });
        let running = Arc::downgrade(&relay);
        tokio::spawn(poll_fn(move |context| match running.upgrade() {
            Some(relay) => relay.poll(context),
            None => Poll::Ready(()),
        }));
        relay
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let _held = self.forwarding.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let next = pin!(self.listener.next());
            match next.poll(context) {
                Poll::Ready(Some(received)) => self.forward(&received),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Forwards all messages so far.
    pub(crate) fn catch_up(&self) {
        let _held = self.forwarding.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(received) = self.listener.try_next() {
            self.forward(&received);
        }
    }

    fn forward(&self, received: &Received) {
        let wants = |subscription: &Subscription| subscription.messages;
        let (full, bare) = match received {
            Received::Message(message) => (message_json(message), message_json(&without_payload(message))),
            Received::Missed(count) => {
                let told = format!(r#""count":{count}"#);
                return tell(&self.owner, &self.server, "missed", wants, &told, &told);
            }
        };
        let full = format!(r#""message":{full}"#);
        tell(&self.owner, &self.server, "message", wants, &full, &format!(r#""message":{bare}"#));
    }
}

/// Sends the outcome of an event to subscribers.
pub(crate) fn outcome(connection: &Arc<Connection>, server: &Arc<Server>, event: &Event, outcome: &Outcome) {
    if !connection.is_listening() && !server.has_listeners() {
        return;
    }
    let agent = event.agent_id().map_or(Value::Null, Value::from);
    let head = format!(r#""session_id":{},"agent_id":{agent}"#, Value::from(event.session_id()));
    let full = format!(r#"{head},"outcome":{}"#, outcome.to_json().text());
    let bare = format!(r#"{head},"outcome":{}"#, bare(outcome).text());
    let wants = |subscription: &Subscription| subscription.outcomes;
    tell(&Arc::downgrade(connection), &Arc::downgrade(server), "outcome", wants, &full, &bare);
}

/// Sends the full text to the owner, and the text without payloads to those that subscribed to all connections.
fn tell(
    owner: &Weak<Connection>,
    server: &Weak<Server>,
    method: &str,
    wants: impl Fn(&Subscription) -> bool,
    full: &str,
    bare: &str,
) {
    let line = |number: u64, rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"subscription":{number},{rest}}}}}"#)
    };
    if let Some(owner) = owner.upgrade() {
        for subscription in owner.subscriptions().iter().filter(|one| !one.all && wants(one)) {
            owner.outbox.send_update(subscription.number, line(subscription.number, full));
        }
    }
    let Some(server) = server.upgrade() else { return };
    for listener in server.listeners() {
        for subscription in listener.subscriptions().iter().filter(|one| one.all && wants(one)) {
            listener.outbox.send_update(subscription.number, line(subscription.number, bare));
        }
    }
}

fn message_json(message: &Message) -> String {
    serde_json::to_string(message).unwrap_or_else(|_| "null".to_owned())
}

fn without_payload(message: &Message) -> Message {
    let kind = match &message.kind {
        MessageKind::Started => MessageKind::Started,
        MessageKind::Progress { .. } => {
            MessageKind::Progress { stdout: String::new(), stderr: String::new() }
        }
        MessageKind::Response { outcome, exit_code, .. } => MessageKind::Response {
            outcome: *outcome,
            exit_code: *exit_code,
            stdout: String::new(),
            stderr: String::new(),
        },
    };
    Message { kind, ..message.clone() }
}

/// What was decided and by which hook, without anything that can quote a payload.
fn bare(outcome: &Outcome) -> Json {
    let reports: Vec<Value> = outcome
        .reports
        .iter()
        .map(|report| {
            json!({
                "hook": &*report.hook,
                "status": Value::of(&report.status),
                "decision": report.decision.map(|decision| decision.word()),
                "failure": report.failure.as_ref().map(|failure| failure.kind.to_string()),
            })
        })
        .collect();
    Json::from(json!({
        "event": outcome.event.name,
        "decision": outcome.decision.map(|decision| decision.word()),
        "by": outcome.by.as_deref(),
        "by_failure": outcome.by_failure,
        "reports": reports,
    }))
}
