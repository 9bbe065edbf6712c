//! Questions about the server, subscriptions, and the shutdown.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Engine, Json};

use super::fire::{fire_context, ready_engine};
use crate::PROTOCOL;
use crate::connection::{Connection, MethodResult, Request};
use crate::error::{ErrorKind, RpcError, object};
use crate::host::Host;
use crate::params::Params;
use crate::server::Server;
use crate::updates::Subscription;

/// The engine for the project or files that `hello` named.
pub(super) fn engine_of(connection: &Arc<Connection>) -> Result<Engine, RpcError> {
    let mut none = Params::read(None, &[])?;
    let fire_context = fire_context(connection, &mut none)?;
    let ready = ready_engine(connection, &fire_context)?;
    Ok(ready.engine)
}

pub(super) fn explain_here(connection: &Arc<Connection>, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["event", "tool", "agent_id", "project", "config"])?;
    let fire_context = fire_context(connection, &mut params)?;
    let ready = ready_engine(connection, &fire_context)?;
    explain(connection.server.host(), &ready.engine, &mut params)
}

pub(crate) fn explain(host: &dyn Host, engine: &Engine, params: &mut Params) -> MethodResult {
    let event = params.word("event")?;
    if engine.catalog().find(&event).is_none() {
        return Err(RpcError::params("event", engine.catalog().unknown_event(&event)));
    }
    let (tool, agent) = (params.text("tool")?, params.text("agent_id")?);
    let explained = host.explain(engine, &event, tool.as_deref(), agent.as_deref());
    explained.map(|json| json.text().to_owned()).map_err(|why| RpcError::params("tool", why))
}

pub(super) fn events(connection: &Connection, params: Option<&Json>) -> MethodResult {
    Params::read(params, &[])?;
    Ok(connection.server.host().events().text().to_owned())
}

pub(super) fn subscribe(connection: &Arc<Connection>, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["messages", "outcomes", "all"])?;
    let subscription = Subscription {
        messages: params.flag("messages")?.unwrap_or(true),
        outcomes: params.flag("outcomes")?.unwrap_or(false),
        all: params.flag("all")?.unwrap_or(false),
        number: connection.last_subscription.fetch_add(1, Ordering::Relaxed) + 1,
    };
    let mut subscriptions = connection.subscriptions();
    if subscriptions.len() >= 64 {
        return Err(RpcError::new(ErrorKind::Registration, "a connection has at most 64 subscriptions"));
    }
    subscriptions.push(subscription);
    drop(subscriptions);
    connection.server.count_listeners();
    Ok(object([("subscription", subscription.number.into())]))
}

pub(super) fn unsubscribe(connection: &Connection, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["subscription"])?;
    let number = params.integer("subscription")?;
    let number =
        number.ok_or_else(|| RpcError::params("subscription", "the parameter `subscription` is missing"))?;
    connection.subscriptions().retain(|one| Some(one.number) != u64::try_from(number).ok());
    connection.server.count_listeners();
    Ok("{}".to_owned())
}

pub(crate) fn status(server: &Server, params: Option<&Json>) -> MethodResult {
    Params::read(params, &[])?;
    let workers = server.workers().list();
    let workers: Vec<Value> = workers
        .iter()
        .map(|worker| json!({"python": worker.python.to_string_lossy().into_owned(), "pid": worker.pid, "calls": worker.calls}))
        .collect();
    let count = |counter: &std::sync::atomic::AtomicU64| Value::from(counter.load(Ordering::Relaxed));
    let mut entries = vec![
        ("version", server.host().version().into()),
        ("protocol", PROTOCOL.into()),
        ("pid", std::process::id().into()),
        ("uptime_ms", server.uptime_ms().into()),
        ("idle_ms", server.idle_ms().into()),
        ("connections", server.connections().into()),
        ("fires", count(&server.counters.fires)),
        ("workers", workers.into()),
        ("late_replies", count(&server.counters.late_replies)),
        ("rss_bytes", rss_bytes().into()),
    ];
    entries.extend(server.http_url().map(|url| ("http", url.into())));
    Ok(object(entries))
}

/// The resident memory of this process, if the system reports it.
fn rss_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

pub(super) async fn shut_down(connection: &Arc<Connection>, request: Request) -> bool {
    let now = Params::read(request.params.as_ref(), &["now"]).and_then(|mut params| params.flag("now"));
    let now = match now {
        Ok(now) => now.unwrap_or(false),
        Err(error) => return connection.answer(request, Err(error)).await,
    };
    let connection = Arc::clone(connection);
    connection.server.begin_stop(now);
    tokio::spawn(async move {
        connection.server.fires_over().await;
        connection.respond(&request.id, request.permit, Ok("{}".to_owned()));
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), connection.outbox.flushed()).await;
        connection.server.end();
    });
    true
}
