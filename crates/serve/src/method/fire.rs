//! `fire` and `recheck`: one event, one outcome, in time.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crosier::{Event, Json, Outcome};
use tokio::sync::oneshot;

use crate::callback::{CURRENT_FIRE, CurrentFire};
use crate::connection::{Connection, MethodResult, Origin, Request};
use crate::engines::{FireContext, ReadyEngine};
use crate::error::{ErrorKind, RpcError};
use crate::host::{ConfigLocation, ConfigSource};
use crate::params::Params;
use crate::server::{PendingFire, Server};
use crate::updates::{self, Relay};

/// How often a client is told that its fire still runs.
const ALIVE_EVERY: Duration = Duration::from_millis(500);

/// The environment variable that counts how deeply fires are nested in hooks.
const DEPTH: &str = "CROSIER_DEPTH";

/// The parameters of a fire.
#[derive(Debug)]
pub(crate) struct FireParams {
    pub(crate) event: String,
    pub(crate) input: Json,
    pub(crate) deadline: Option<Duration>,
}

impl FireParams {
    pub(crate) fn read(params: &mut Params) -> Result<Self, RpcError> {
        Ok(Self {
            event: params.word("event")?,
            input: params.required("input")?,
            deadline: params.millis("deadline_ms")?,
        })
    }

    /// The event, as an engine reads it.
    pub(crate) fn event(&self, engine: &crosier::Engine) -> Result<Event, RpcError> {
        let Some(kind) = engine.catalog().find(&self.event) else {
            return Err(RpcError::params("event", engine.catalog().unknown_event(&self.event)));
        };
        Event::from_json(kind, self.input.text().as_bytes())
            .map_err(|error| RpcError::new(ErrorKind::Input, error.to_string()))
    }
}

type OutcomeFuture = Pin<Box<dyn Future<Output = Result<Outcome, Outcome>> + Send>>;

/// Judges an event, until the deadline, or until it is cancelled.
pub(crate) fn judge(
    engine: crosier::Engine,
    event: Event,
    recheck: bool,
    until: Option<Instant>,
    cancelled: impl Future<Output = ()> + Send + 'static,
) -> impl Future<Output = Result<Outcome, Outcome>> + Send {
    let late = async move {
        match until {
            Some(until) => tokio::time::sleep_until(until.into()).await,
            None => pending().await,
        }
    };
    let over = async move {
        tokio::select! {
            () = late => {}
            () = cancelled => {}
        }
    };
    async move {
        let (outcome, is_complete) = match recheck {
            false => engine.fire_until(event, over).await,
            true => engine.recheck_until(event, over).await,
        };
        if is_complete { Ok(outcome) } else { Err(outcome) }
    }
}

/// A running fire.
struct Running {
    connection: Arc<Connection>,
    fire_context: FireContext,
    event: Event,
    relay: Option<Arc<Relay>>,
    /// What the person should know about the place of the event, if `hello` has not told it.
    problems: Option<Json>,
    request: Request,
    _under_way: PendingFire,
}

pub(super) async fn begin(connection: &Arc<Connection>, request: Request, recheck: bool) -> bool {
    let begun = prepare(connection, &request);
    let (fire_context, ready, event, deadline) = match begun {
        Ok(begun) => begun,
        Err(error) => return connection.answer(request, Err(error)).await,
    };
    let Some(until) = deadline.map_or(Some(None), |limit| request.received.checked_add(limit).map(Some))
    else {
        let error = RpcError::params("deadline_ms", "`deadline_ms` is too large");
        return connection.answer(request, Err(error)).await;
    };
    let (end, ended) = oneshot::channel();
    let ended = async move {
        if ended.await.is_err() {
            pending().await
        }
    };
    let work = judge(ready.engine, event.clone(), recheck, until, ended);
    let fire = CurrentFire { request: request.id.clone(), depth: depth(&fire_context), until };
    let mut work: OutcomeFuture = Box::pin(CURRENT_FIRE.scope(fire, work));
    let running = Running {
        connection: Arc::clone(connection),
        event,
        problems: (connection.defaults.get().is_none_or(|known| known.location != fire_context.location))
            .then_some(ready.problems),
        fire_context,
        relay: ready.relay,
        _under_way: connection.server.begin_fire(),
        request,
    };
    // Polled here first, so that it sees exactly the changes made before it. Most fires finish at once.
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(judged) => running.end(judged),
        Poll::Pending => {
            let cancelled = connection.cancellable(&running.request.id);
            tokio::spawn(running.wait(work, cancelled, end));
        }
    }
    true
}

type PreparedFire = (FireContext, ReadyEngine, Event, Option<Duration>);

fn prepare(connection: &Arc<Connection>, request: &Request) -> Result<PreparedFire, RpcError> {
    const KNOWN: [&str; 8] = ["event", "input", "project", "config", "env", "cwd", "deadline_ms", "call"];
    let mut params = Params::read(request.params.as_ref(), &KNOWN)?;
    let fire = FireParams::read(&mut params)?;
    let mut fire_context = fire_context(connection, &mut params)?;
    if let Some(call) = params.text("call")? {
        go_inside(connection, &call, &mut fire_context)?;
    }
    let ready = ready_engine(connection, &fire_context)?;
    let ready = ready.trusted()?;
    let event = fire.event(&ready.engine)?;
    Ok((fire_context, ready, event, fire.deadline))
}

/// The engine for this context; its messages are relayed if anybody subscribed to them.
pub(super) fn ready_engine(
    connection: &Arc<Connection>,
    fire_context: &FireContext,
) -> Result<ReadyEngine, RpcError> {
    let listens = connection.is_listening() || connection.server.has_listeners();
    connection.lock_engines().engine(fire_context, &connection.server, &Arc::downgrade(connection), listens)
}

/// Makes a fire a nested one of an open call: its hooks get the depth, and those that are nested too deeply fail.
fn go_inside(connection: &Connection, call: &str, fire_context: &mut FireContext) -> Result<(), RpcError> {
    let Some(inside) = connection.client_calls.depth_inside(call) else {
        let message = format!("no call `{call:.80}` is open: it was answered, cancelled, or never made");
        return Err(RpcError::params("call", message));
    };
    if inside > depth(fire_context) {
        let mut env = (*fire_context.env).clone();
        env.retain(|(name, _)| name != DEPTH);
        env.push((DEPTH.to_owned(), inside.to_string()));
        fire_context.env = Arc::new(env);
    }
    Ok(())
}

/// How many hooks a fire is nested in, from its environment. A value that is not a number counts as too deep, as in the
/// engine.
fn depth(fire_context: &FireContext) -> u32 {
    let said = fire_context.env.iter().rfind(|(name, _)| name == DEPTH).map_or("", |(_, value)| value.trim());
    if said.is_empty() { 0 } else { said.parse().unwrap_or(u32::MAX) }
}

/// Where the event happens: what the request says, and for the rest what `hello` said.
pub(super) fn fire_context(connection: &Connection, params: &mut Params) -> Result<FireContext, RpcError> {
    let Some(mut fire_context) = connection.defaults.get().cloned() else {
        return Err(RpcError::new(ErrorKind::HelloFirst, "the first request of a connection is `hello`"));
    };
    let any_file = connection.origin == Origin::Stdio;
    let mut move_to = |source: ConfigSource| {
        fire_context.location = ConfigLocation { source, any_file, ..fire_context.location.clone() }
    };
    if let Some(project) = params.folder("project")? {
        move_to(ConfigSource::Project(project));
    }
    if let Some(files) = params.paths("config")? {
        move_to(ConfigSource::Files(files));
    }
    if let Some(env) = params.variables("env")? {
        fire_context.env = Arc::new(env);
    }
    if let Some(cwd) = params.folder("cwd")? {
        fire_context.cwd = cwd;
    }
    Ok(fire_context)
}

impl Running {
    /// Waits for the outcome. A fire that is cancelled is stopped through `end`, so that the messages of its hooks are
    /// sent before the answer.
    async fn wait(
        self,
        mut work: OutcomeFuture,
        mut cancelled: oneshot::Receiver<()>,
        end: oneshot::Sender<()>,
    ) {
        let mut end = Some(end);
        let alive = format!(r#"{{"jsonrpc":"2.0","method":"alive","params":{{"id":{}}}}}"#, self.request.id);
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + ALIVE_EVERY, ALIVE_EVERY);
        loop {
            tokio::select! {
                biased;
                judged = &mut work => {
                    self.connection.finish_request(&self.request.id);
                    return if end.is_some() || judged.is_ok() { self.end(judged) } else { self.end_cancelled() };
                }
                _ = &mut cancelled, if end.is_some() => {
                    let _ = end.take().map(|end| end.send(()));
                }
                // A client that has not read the last one needs no other.
                _ = ticks.tick() => if self.connection.outbox.is_idle() {
                    self.connection.outbox.send(alive.clone());
                },
            }
        }
    }

    fn end_cancelled(self) {
        if let Some(relay) = &self.relay {
            relay.catch_up();
        }
        self.respond(Err(RpcError::new(ErrorKind::Cancelled, "the request was cancelled")));
    }

    /// Sends the fire's messages, then its outcome, then its answer.
    fn end(self, judged: Result<Outcome, Outcome>) {
        if let Some(relay) = &self.relay {
            relay.catch_up();
        }
        let server: &Arc<Server> = &self.connection.server;
        let (Ok(outcome) | Err(outcome)) = &judged;
        // What was decided when the deadline passed must not look as if all hooks had spoken.
        if judged.is_ok() {
            updates::outcome(&self.connection, server, &self.event, outcome);
        }
        let result = answer_of(&judged, self.problems.as_ref());
        let took = self.request.received.elapsed();
        let (connection, location, event) =
            (Arc::clone(&self.connection), self.fire_context.location.clone(), self.event.clone());
        self.respond(result);
        // After the answer, so that the client does not wait for the log.
        connection.server.host().fired(&location, &event, outcome, took);
    }

    fn respond(self, result: MethodResult) {
        let Self { connection, request: Request { id, permit, .. }, .. } = self;
        connection.respond(&id, permit, result);
    }
}

/// The result of a fire, with the problems of its place; or the error of one whose deadline passed.
pub(crate) fn answer_of(judged: &Result<Outcome, Outcome>, problems: Option<&Json>) -> MethodResult {
    let problems = problems.filter(|problems| problems.text() != "[]");
    let problems = problems.map(|problems| format!(r#","problems":{}"#, problems.text())).unwrap_or_default();
    match judged {
        Ok(outcome) => Ok(format!(r#"{{"outcome":{}{problems}}}"#, outcome.to_json().text())),
        Err(so_far) => {
            let message = "the deadline of the event passed before every hook had answered";
            Err(RpcError::new(ErrorKind::Deadline, message).with("outcome", so_far.to_json()))
        }
    }
}
