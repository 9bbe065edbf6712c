//! Hooks whose handler is the client: the server calls the client, whose answer is the hook's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use crosier::protocol::ordered::Value;
use crosier::{Answer, BoxFuture, EventKind, Failure, FailureKind, Json, Pass, Reply, Service, ServiceCall};
use tokio::sync::oneshot;

use crate::MAX_REPLY;
/// How many characters are kept of the reason of a denial in something that is not accepted as a reply.
const MAX_REASON: usize = 2_000;
use crate::connection::Connection;
use crate::message::{Answered, Id};

tokio::task_local! {
    /// The fire that is being polled; the calls that it makes read it.
    pub(crate) static CURRENT_FIRE: CurrentFire;
}

/// What a call needs to know about the fire that makes it.
#[derive(Debug, Clone)]
pub(crate) struct CurrentFire {
    pub(crate) request: Id,
    /// How many hooks it is nested in.
    pub(crate) depth: u32,
    /// Its own deadline.
    pub(crate) until: Option<Instant>,
}

/// A call that waits for its answer.
#[derive(Debug)]
struct Waiting {
    tell: oneshot::Sender<Result<Answered, Failure>>,
    /// The depth of the fire that made it.
    depth: u32,
}

/// The calls of one connection that wait for the client: `hook.call`, from the server to the client.
#[derive(Debug, Default)]
pub(crate) struct ClientCalls {
    last: AtomicU64,
    open: Mutex<HashMap<String, Waiting>>,
}

impl ClientCalls {
    /// Adds a call, with an id that is unique in this connection.
    fn begin(&self, depth: u32) -> (String, oneshot::Receiver<Result<Answered, Failure>>) {
        let id = format!("s{}", self.last.fetch_add(1, Ordering::Relaxed) + 1);
        let (tell, receiver) = oneshot::channel();
        self.lock().insert(id.clone(), Waiting { tell, depth });
        (id, receiver)
    }

    /// Delivers the answer to a call. Returns false when no such call is waiting.
    pub(crate) fn answer(&self, id: &Id, answered: Answered) -> bool {
        let Id::Text(id) = id else { return false };
        let waiting = self.lock().remove(id);
        waiting.is_some_and(|waiting| waiting.tell.send(Ok(answered)).is_ok())
    }

    /// Answers every open call: it is not known which one was meant.
    pub(crate) fn answer_all(&self, why: &str, results: &[Json]) {
        for (_, waiting) in std::mem::take(&mut *self.lock()) {
            let _ = waiting.tell.send(Ok(Answered::Unclear(why.to_owned(), results.to_vec())));
        }
    }

    /// How many hooks a fire made inside this call is nested in. `None` when the call is not open.
    pub(crate) fn depth_inside(&self, id: &str) -> Option<u32> {
        Some(self.lock().get(id)?.depth.saturating_add(1))
    }

    /// Fails every open call.
    pub(crate) fn fail_all(&self, failure: &Failure) {
        for (_, waiting) in std::mem::take(&mut *self.lock()) {
            let _ = waiting.tell.send(Err(failure.clone()));
        }
    }

    /// Removes a call. Returns false when it was already answered.
    fn forget(&self, id: &str) -> bool {
        self.lock().remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handler of a registered hook.
pub(crate) struct ClientHook {
    pub(crate) connection: Weak<Connection>,
}

impl Service for ClientHook {
    fn kind(&self) -> &'static str {
        "client"
    }

    fn call(&self, call: ServiceCall<'_>) -> BoxFuture {
        match self.begin(call) {
            Ok(future) => future,
            Err(failure) => Box::pin(std::future::ready(Answer::from(failure))),
        }
    }
}

impl ClientHook {
    fn begin(&self, call: ServiceCall<'_>) -> Result<BoxFuture, Failure> {
        let gone = || Failure::new(FailureKind::WorkerLost, "the client closed its connection");
        let connection =
            self.connection.upgrade().filter(|connection| connection.can_answer()).ok_or_else(gone)?;
        let event = call.call.event.wire().map_err(Failure::clone)?;
        let kind = call.call.event.kind().clone();
        let (fire, depth, until) = CURRENT_FIRE
            .try_with(|fire| (fire.request.to_string(), fire.depth, fire.until))
            .unwrap_or_else(|_| ("null".to_owned(), 0, None));
        let (id, answered) = connection.client_calls.begin(depth);
        // Rounded up, so that a hook with a timeout of 5 s gets 5000 ms.
        let deadline = until.map_or(call.deadline, |until| until.min(call.deadline));
        let left = deadline.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
        let hook = Value::from(&**call.call.hook);
        let phase = if call.call.second { r#","phase":2"# } else { "" };
        let pass = if call.call.pass == Pass::Second { r#","pass":2"# } else { "" };
        connection.outbox.send(format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"hook.call","params":{{"hook":{hook},"fire":{fire},"deadline_ms":{left}{phase}{pass},"event":{}}}}}"#,
            event.trim_end()
        ));
        let open = OpenCall { connection, id };
        Ok(Box::pin(async move {
            let answer = match answered.await {
                Ok(Ok(answered)) => read(answered, &kind),
                Ok(Err(failure)) => failure.into(),
                Err(_) => gone().into(),
            };
            drop(open);
            answer
        }))
    }
}

/// A call that waits. Dropping it before its answer arrives cancels it at the client.
struct OpenCall {
    connection: Arc<Connection>,
    id: String,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.connection.client_calls.forget(&self.id) {
            let id = &self.id;
            self.connection
                .outbox
                .send(format!(r#"{{"jsonrpc":"2.0","method":"cancel","params":{{"id":"{id}"}}}}"#));
        }
    }
}

fn read(answered: Answered, kind: &EventKind) -> Answer {
    match answered {
        Answered::Result(reply) if reply.text().len() > MAX_REPLY => {
            let detail = format!("the reply has {} bytes; {MAX_REPLY} are accepted", reply.text().len());
            Answer::failed(denial_in(&reply, kind), Failure::new(FailureKind::Oversize, detail))
        }
        Answered::Result(reply) => Reply::decode(reply.text().as_bytes(), kind).into(),
        Answered::Error(message) => Failure::error(message.chars().take(2000).collect::<String>()).into(),
        Answered::Unclear(why, results) => {
            let denials = results.iter().map(|result| denial_in(result, kind));
            let denial = denials.into_iter().find(Reply::denies).unwrap_or_default();
            Answer::failed(denial, Failure::bad_output(why))
        }
    }
}

/// The denial in something that is not accepted as a reply: it counts anyhow. Nothing else in it does.
fn denial_in(reply: &Json, kind: &EventKind) -> Reply {
    let denial = Reply::decode(reply.text().as_bytes(), kind).ok().and_then(Reply::denial_only);
    denial
        .map(|denial| {
            denial.with(|effects| {
                if let Some(reason) = effects.opinion.as_mut().and_then(|opinion| opinion.reason.as_mut())
                    && let Some((end, _)) = reason.char_indices().nth(MAX_REASON)
                {
                    reason.truncate(end);
                }
            })
        })
        .unwrap_or_default()
}
