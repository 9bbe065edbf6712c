//! One client: its requests are read and started in order, and answered as they finish.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use crosier::{Failure, FailureKind, Json};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::callback::ClientCalls;
use crate::engines::{ConnectionEngines, FireContext};
use crate::error::{ErrorKind, RpcError};
use crate::line::{Line, Lines};
use crate::message::{self, Answered, Id, Incoming, Unreadable};
use crate::method;
use crate::outbox::Outbox;
use crate::peer::{Peer, RelativeConfinement};
use crate::server::Server;
use crate::updates::Subscription;
use crate::{MAX_IN_FLIGHT, params::Params};

/// How long a client may take to send `hello`.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// How long pending requests may still take after the client has closed its sending half, while it still reads.
const AFTER_END: Duration = Duration::from_secs(2);
/// The maximum number of requests that are read ahead while too many are pending. Answers to calls may come after them.
const MAX_AHEAD: usize = 256;
/// The maximum number of bytes that are read ahead; the last request may exceed it.
const MAX_AHEAD_BYTES: usize = 16 << 20;
/// How long the server waits for the call of a program that handles one event without sleeping. The call follows `hello`
/// within this time, and being woken takes as long as the call itself.
const AWAKE: Duration = Duration::from_micros(400);
/// How many more bytes are read, and refused, from a client whose connection is about to be closed.
const MAX_REFUSED: usize = 1 << 20;
/// How long such a client is still answered.
const REFUSED_FOR: Duration = Duration::from_millis(50);

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The client started this server.
    Stdio,
    Socket(Peer),
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) server: Arc<Server>,
    pub(crate) origin: Origin,
    pub(crate) outbox: Outbox,
    /// Calls from the server to the client.
    pub(crate) client_calls: ClientCalls,
    pub(crate) engines: Mutex<ConnectionEngines>,
    /// Defaults for fires, set by `hello`.
    pub(crate) defaults: OnceLock<FireContext>,
    /// Until when a `python.call` of the client is expected.
    python_call_expected: Mutex<Option<Instant>>,
    subscriptions: Mutex<Vec<Subscription>>,
    pub(crate) last_subscription: AtomicU64,
    cancellers: Mutex<HashMap<Id, oneshot::Sender<()>>>,
    in_flight: Arc<Semaphore>,
    /// Whether the client has closed its sending half.
    is_half_closed: AtomicBool,
    /// How a client on the socket is confined; the default for one that started this server.
    pub(crate) confinement: RelativeConfinement,
    weak_self: Weak<Self>,
}

/// A request that is to be answered.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    pub(crate) received: Instant,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// The result of a method, as JSON.
pub(crate) type MethodResult = Result<String, RpcError>;

impl Connection {
    /// Serves a client until it disconnects or the server ends. A client that is too confined gets a refusal for every
    /// request.
    pub(crate) async fn serve(server: Arc<Server>, stream: UnixStream, origin: Origin) {
        let stream = Arc::new(stream);
        let confinement = match origin {
            Origin::Stdio => RelativeConfinement::default(),
            Origin::Socket(peer) => peer.compared(),
        };
        let connection = Arc::new_cyclic(|weak_self| Self {
            server: Arc::clone(&server),
            origin,
            outbox: Outbox::new(Arc::clone(&stream)),
            client_calls: ClientCalls::default(),
            engines: Mutex::default(),
            defaults: OnceLock::new(),
            python_call_expected: Mutex::default(),
            subscriptions: Mutex::default(),
            last_subscription: AtomicU64::new(0),
            cancellers: Mutex::default(),
            in_flight: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            is_half_closed: AtomicBool::new(false),
            confinement,
            weak_self: Weak::clone(weak_self),
        });
        let writer = tokio::spawn({
            let connection = Arc::clone(&connection);
            async move { connection.outbox.write_left_over().await }
        });
        server.add_connection(&connection);
        tokio::select! {
            () = connection.read_all(&stream) => {}
            () = server.ended() => {}
        }
        connection.wait_for_answers(&stream).await;
        connection.close();
        server.remove_connection(&connection);
        writer.abort();
    }

    async fn read_all(&self, stream: &UnixStream) {
        let mut lines = Lines::default();
        let mut ahead: VecDeque<Request> = VecDeque::new();
        let hello_until = tokio::time::Instant::now() + HELLO_WITHIN;
        loop {
            while let Some(line) = lines.next() {
                let line = match line {
                    Line::Whole(line) => message::read(line),
                    Line::TooLong => {
                        let message =
                            format!("a line may have {} bytes; the rest of it is not read", crate::MAX_LINE);
                        let error = RpcError::new(ErrorKind::TooLarge, message);
                        Err(Box::new(Unreadable { id: None, error, answer: None }))
                    }
                };
                if !self.take(line, &mut ahead).await {
                    return self.refuse_the_rest(stream, &mut lines).await;
                }
                while is_full(&ahead) {
                    if !self.begin_waiting(&mut ahead).await {
                        return self.refuse_the_rest(stream, &mut lines).await;
                    }
                }
            }
            if self.outbox.is_closed() {
                return;
            }
            let is_known = self.defaults.get().is_some();
            self.wait_awake(stream);
            tokio::select! {
                biased;
                ready = stream.readable() => {
                    let room = lines.buffer();
                    match ready.and_then(|()| read_into(stream, room)) {
                        Ok(0) => break,
                        Ok(_) => {}
                        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                        Err(_) => return self.outbox.close(),
                    }
                }
                is_open = self.begin_waiting(&mut ahead), if !ahead.is_empty() => {
                    if !is_open { return self.refuse_the_rest(stream, &mut lines).await }
                }
                () = tokio::time::sleep_until(hello_until), if !is_known => return,
            }
        }
        if let Some(rest) = lines.rest() {
            self.take(message::read(&rest), &mut ahead).await;
        }
        while !ahead.is_empty() && self.begin_waiting(&mut ahead).await {}
    }

    /// Notes that a `python.call` is about to follow.
    pub(crate) fn expect_python_call(&self) {
        *self.python_call_expected.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Instant::now() + AWAKE);
    }

    /// Waits for the expected call, if there is one, without sleeping. Other threads and processes run meanwhile, but the
    /// client would hardly get its turn on this thread's processor.
    fn wait_awake(&self, stream: &UnixStream) {
        let expected = self.python_call_expected.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((until, _permit)) = expected.zip(self.server.python_calls_in_place()) else { return };
        if !matches!(self.origin, Origin::Socket(peer) if peer.runs_on_another_processor()) {
            return;
        }
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        while Instant::now() < until
            && rustix::net::recv(stream, &mut [0; 1], flags) == Err(rustix::io::Errno::AGAIN)
        {
            std::thread::yield_now();
        }
    }

    /// Before the connection is closed, answers the requests that the client sent without waiting for answers.
    async fn refuse_the_rest(&self, stream: &UnixStream, lines: &mut Lines) {
        let (mut left, until) = (MAX_REFUSED, tokio::time::Instant::now() + REFUSED_FOR);
        loop {
            while let Some(line) = lines.next() {
                let Line::Whole(line) = line else { continue };
                if let Ok(Incoming::Request { id, .. }) = message::read(line) {
                    let error = self.refused().unwrap_or_else(hello_first);
                    self.respond(&id, None, Err(error));
                }
            }
            if !matches!(tokio::time::timeout_at(until, stream.readable()).await, Ok(Ok(()))) {
                return;
            }
            match read_into(stream, lines.buffer()) {
                Ok(count) if count > 0 && count < left => left -= count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }

    /// Why requests of this client are refused, if they are.
    fn refused(&self) -> Option<RpcError> {
        match (&self.confinement.refusal, self.server.is_stopping()) {
            (Some(why), _) => Some(RpcError::new(ErrorKind::Confined, why.clone())),
            (None, true) => Some(RpcError::new(ErrorKind::ShuttingDown, "the server is shutting down")),
            (None, false) => None,
        }
    }

    /// Handles one message. Returns false when the connection must be closed.
    async fn take(&self, line: Result<Incoming, Box<Unreadable>>, ahead: &mut VecDeque<Request>) -> bool {
        match line {
            Err(unreadable) => {
                self.outbox.send(error_line(unreadable.id.as_ref(), &unreadable.error));
                self.fail_calls(&unreadable);
                // Unlike requests, these answers need no permit: instead, nothing is read until the client reads.
                self.outbox.has_room().await;
                true
            }
            Ok(Incoming::Response { id, outcome }) => {
                if !self.client_calls.answer(&id, outcome) {
                    self.server.counters.late_replies.fetch_add(1, Ordering::Relaxed);
                }
                true
            }
            Ok(Incoming::Notification { method, params }) => {
                // A notification never gets a response, so an unknown one is ignored.
                if method == "cancel"
                    && let Ok(mut params) = Params::read(params.as_ref(), &["id"])
                    && let Some(id) = params.take("id").as_ref().and_then(Id::read)
                {
                    self.cancel(&id, ahead);
                }
                true
            }
            Ok(Incoming::Request { id, method, params }) => {
                self.server.touch();
                let request = Request { id, method, params, received: Instant::now(), permit: None };
                if !ahead.is_empty() {
                    ahead.push_back(request);
                    return true;
                }
                match Arc::clone(&self.in_flight).try_acquire_owned() {
                    Ok(permit) => self.begin(Request { permit: Some(permit), ..request }).await,
                    Err(_) => {
                        ahead.push_back(request);
                        true
                    }
                }
            }
        }
    }

    /// Fails all open calls, or the one that is meant: a line that cannot be read may have been the answer to one.
    fn fail_calls(&self, Unreadable { error, answer, .. }: &Unreadable) {
        if let Some((id, results)) = answer {
            let why = format!("the client sent something else than an answer: {}", error.message());
            return match id {
                Some(id) => drop(self.client_calls.answer(id, Answered::Unclear(why, results.clone()))),
                None => self.client_calls.answer_all(&why, results),
            };
        }
        let failure = match error.kind {
            ErrorKind::Parse => {
                Failure::bad_output("the client sent a line that is not JSON while it was called")
            }
            ErrorKind::TooLarge => {
                let detail = format!(
                    "the client sent a line of more than {} bytes while it was called",
                    crate::MAX_LINE
                );
                Failure::new(FailureKind::Oversize, detail)
            }
            _ => return,
        };
        self.client_calls.fail_all(&failure);
    }

    /// Starts the first request that was read ahead, once a pending one has been answered.
    async fn begin_waiting(&self, ahead: &mut VecDeque<Request>) -> bool {
        let Ok(permit) = Arc::clone(&self.in_flight).acquire_owned().await else { return false };
        match ahead.pop_front() {
            Some(request) => self.begin(Request { permit: Some(permit), ..request }).await,
            None => true,
        }
    }

    /// Starts a request. Its changes are made before the next request is handled. Returns false when the connection
    /// must be closed.
    async fn begin(&self, request: Request) -> bool {
        let refused = self.refused();
        let is_in_use = || self.lock_cancellers().contains_key(&request.id);
        let error = if refused.is_some() {
            refused
        } else if is_in_use() {
            Some(RpcError::new(ErrorKind::Request, "this `id` belongs to a request that is still pending"))
        } else if request.method != "hello" && self.defaults.get().is_none() {
            Some(hello_first())
        } else {
            None
        };
        let Some(connection) = self.weak_self.upgrade() else { return false };
        match error {
            Some(error) => connection.answer(request, Err(error)).await,
            None => method::begin(&connection, request).await,
        }
    }

    /// Answers a request. Returns false when the connection must be closed.
    pub(crate) async fn answer(&self, request: Request, result: MethodResult) -> bool {
        let kind = result.as_ref().err().map(|error| error.kind);
        self.respond(&request.id, request.permit, result);
        if !kind.is_some_and(ErrorKind::closes) {
            return true;
        }
        let _ = tokio::time::timeout(Duration::from_secs(1), self.outbox.flushed()).await;
        // A server that is shutting down waits for fires, whose calls are answered over this connection.
        kind == Some(ErrorKind::ShuttingDown) && self.in_flight.available_permits() < MAX_IN_FLIGHT
    }

    pub(crate) fn respond(&self, id: &Id, permit: Option<OwnedSemaphorePermit>, result: MethodResult) {
        let line = match result {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(error) => error_line(Some(id), &error),
        };
        self.outbox.answer(line, permit);
    }

    /// Remembers a request that can be cancelled, until it has ended.
    pub(crate) fn cancellable(&self, id: &Id) -> oneshot::Receiver<()> {
        let (cancel, cancelled) = oneshot::channel();
        self.lock_cancellers().insert(id.clone(), cancel);
        cancelled
    }

    pub(crate) fn finish_request(&self, id: &Id) {
        self.lock_cancellers().remove(id);
    }

    fn cancel(&self, id: &Id, ahead: &mut VecDeque<Request>) {
        let is_it = |request: &Request| request.id == *id && method::is_cancellable(&request.method);
        if let Some(at) = ahead.iter().position(is_it) {
            if let Some(request) = ahead.remove(at) {
                let cancelled = RpcError::new(ErrorKind::Cancelled, "the request was cancelled");
                self.respond(&request.id, request.permit, Err(cancelled));
            }
        } else if let Some(cancel) = self.lock_cancellers().remove(id) {
            let _ = cancel.send(());
        }
    }

    /// Cancels every fire.
    pub(crate) fn cancel_all(&self) {
        for (_, cancel) in std::mem::take(&mut *self.lock_cancellers()) {
            let _ = cancel.send(());
        }
    }

    /// Whether a call can still be answered by the client.
    pub(crate) fn can_answer(&self) -> bool {
        !self.is_half_closed.load(Ordering::SeqCst) && !self.outbox.is_closed()
    }

    pub(crate) fn subscriptions(&self) -> MutexGuard<'_, Vec<Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it subscribed to its own fires.
    pub(crate) fn is_listening(&self) -> bool {
        !self.subscriptions().is_empty()
    }

    pub(crate) fn lock_engines(&self) -> MutexGuard<'_, ConnectionEngines> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_cancellers(&self) -> MutexGuard<'_, HashMap<Id, oneshot::Sender<()>>> {
        self.cancellers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when nothing more is read. While the client still reads, pending requests are answered, for a short time.
    async fn wait_for_answers(&self, stream: &UnixStream) {
        self.is_half_closed.store(true, Ordering::SeqCst);
        self.client_calls
            .fail_all(&Failure::new(FailureKind::WorkerLost, "the client closed its connection"));
        let all = u32::try_from(MAX_IN_FLIGHT).unwrap_or(u32::MAX);
        let answered = async {
            let _ = self.in_flight.acquire_many(all).await;
            self.outbox.flushed().await;
        };
        let gone = async {
            while !is_gone(stream) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if self.outbox.is_closed() || is_gone(stream) {
            return;
        }
        tokio::select! {
            () = answered => {}
            () = gone => {}
            () = tokio::time::sleep(AFTER_END) => {}
        }
    }

    fn close(&self) {
        self.outbox.close();
        self.cancel_all();
        self.subscriptions().clear();
        self.lock_engines().close();
    }
}

fn hello_first() -> RpcError {
    RpcError::new(ErrorKind::HelloFirst, "the first request of a connection is `hello`")
}

/// Whether nothing more may be read ahead.
fn is_full(ahead: &VecDeque<Request>) -> bool {
    let bytes =
        || ahead.iter().filter_map(|request| request.params.as_ref()).map(|params| params.text().len());
    ahead.len() >= MAX_AHEAD || bytes().sum::<usize>() > MAX_AHEAD_BYTES
}

fn read_into(stream: &UnixStream, room: &mut Vec<u8>) -> std::io::Result<usize> {
    room.reserve(64 * 1024);
    stream.try_read_buf(room)
}

/// Whether the peer has closed the connection.
fn is_gone(stream: &UnixStream) -> bool {
    let mut one = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut one, Some(&now));
    polled.is_err() || one[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

fn error_line(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or_else(|| "null".to_owned(), ToString::to_string);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.to_json())
}
