//! Hooks and scopes of the connection.

use std::path::PathBuf;
use std::sync::Arc;

use crosier::protocol::ordered::Value;
use crosier::{Hook, Json, Mode, OnError, Scope};

use super::question::engine_of;
use crate::callback::ClientHook;
use crate::connection::{Connection, MethodResult};
use crate::engines::registration;
use crate::error::{RpcError, object};
use crate::params::Params;

/// The maximum number of hooks that one connection can register, plus scopes that it can enter.
const MAX_OWN: usize = 10_000;

pub(super) fn register(connection: &Arc<Connection>, params: Option<&Json>) -> MethodResult {
    const KNOWN: [&str; 10] = [
        "name",
        "event",
        "matcher",
        "priority",
        "timeout_ms",
        "on_error",
        "parallel",
        "observe",
        "guard",
        "agent_id",
    ];
    let mut params = Params::read(params, &KNOWN)?;
    let (name, event) = (params.word("name")?, params.word("event")?);
    let engine = engine_of(connection)?;
    let Some(named) = engine.catalog().resolve(&event) else {
        return Err(registration(engine.catalog().unknown_event(&event)));
    };
    let mut hook = Hook::on_event(named.kind).named(name);
    let matcher = params.text("matcher")?;
    if matcher.is_some() && named.matcher.is_some() {
        return Err(registration(format!("`{event}` has a matcher already; leave `matcher` out")));
    }
    if let Some(matcher) = matcher.or(named.matcher.map(str::to_owned)) {
        hook = hook.matching(matcher);
    }
    if let Some(priority) = params.integer("priority")? {
        let priority = i32::try_from(priority)
            .map_err(|_| RpcError::params("priority", "`priority` does not fit into 32 bits"))?;
        hook = hook.priority(priority);
    }
    if let Some(timeout) = params.millis("timeout_ms")? {
        hook = hook.timeout(timeout);
    }
    hook = match params.text("on_error")?.as_deref() {
        None => hook,
        Some("log") => hook.on_error(OnError::Log),
        Some("skip") => hook.on_error(OnError::Skip),
        Some("abort") => hook.on_error(OnError::Abort),
        Some(_) => return Err(RpcError::params("on_error", "`on_error` must be log, skip or abort")),
    };
    let (parallel, observe) =
        (params.flag("parallel")?.unwrap_or(false), params.flag("observe")?.unwrap_or(false));
    hook = match (parallel, observe) {
        (true, true) => return Err(registration("a hook is `parallel` or it observes, not both".to_owned())),
        (true, false) => hook.mode(Mode::Parallel),
        (false, true) => hook.mode(Mode::Observe),
        (false, false) => hook,
    };
    if let Some(guard) = params.flag("guard")? {
        hook = hook.guard(guard);
    }
    let agent = params.text("agent_id")?.filter(|agent| !agent.is_empty());
    let hook = hook.service(ClientHook { connection: Arc::downgrade(connection) });
    let mut engines = connection.lock_engines();
    if engines.count() >= MAX_OWN {
        return Err(registration(format!("a connection has at most {MAX_OWN} hooks and scopes of its own")));
    }
    let shown = engines.register(hook, agent)?;
    Ok(object([("hook", shown.into())]))
}

pub(super) fn remove(connection: &Connection, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["hook"])?;
    let removed = connection.lock_engines().remove(&params.word("hook")?);
    Ok(object([("removed", removed.into())]))
}

pub(super) fn switch(connection: &Arc<Connection>, params: Option<&Json>, on: bool) -> MethodResult {
    let mut params = Params::read(params, &["hook"])?;
    let hook = params.word("hook")?;
    engine_of(connection)?;
    connection.lock_engines().switch(&hook, on)?;
    Ok(object([("enabled", on.into())]))
}

pub(super) fn enter(connection: &Arc<Connection>, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["agent_id", "hooks", "dir"])?;
    let agent = params.word("agent_id")?;
    let folder = params.folder("dir")?;
    let folder = folder.or_else(|| connection.defaults.get().map(|fire_context| fire_context.cwd.clone()));
    let mut scope = Scope::new(agent.as_str());
    if let Some(hooks) = params.take("hooks") {
        if !hooks.is_object() {
            return Err(RpcError::params(
                "hooks",
                format!("`hooks` must be an object, not {}", hooks.kind_word()),
            ));
        }
        let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
        let config = connection.server.host().section(&agent, &hooks, &folder);
        let config = config.map_err(|problems| {
            registration("these hooks are not valid; see `data.problems`".to_owned())
                .with("problems", problems)
        })?;
        for own in config.agents {
            scope = own
                .overrides
                .into_iter()
                .fold(scope.hooks(own.hooks), |scope, (event, ..)| scope.overriding(event));
        }
    }
    engine_of(connection)?;
    let mut engines = connection.lock_engines();
    if engines.count() >= MAX_OWN {
        return Err(registration(format!("a connection has at most {MAX_OWN} hooks and scopes of its own")));
    }
    engines.enter(&agent, scope)?;
    Ok(object([("scope", Value::from(agent))]))
}

pub(super) fn leave(connection: &Connection, params: Option<&Json>) -> MethodResult {
    let mut params = Params::read(params, &["agent_id"])?;
    let left = connection.lock_engines().leave(&params.word("agent_id")?);
    Ok(object([("left", left.into())]))
}
