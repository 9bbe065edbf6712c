//! What all connections share, from the start of a server to its end.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use crosier::PythonWorkers;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::connection::{Connection, Origin};
use crate::host::Host;
use crate::http::{self, HttpAddress};
use crate::key::Key;
use crate::peer::Peer;
use crate::socket::Bound;
use crate::stdio;

/// The maximum number of connections at once; more wait until one is closed.
const MAX_CONNECTIONS: usize = 1024;
/// The maximum number of Python calls on threads that serve connections. Each needs a thread that takes over its tasks.
const MAX_CALLS_IN_PLACE: usize = 16;
/// How long workers may be idle before all but one of each kind are ended.
const IDLE_WORKERS: Duration = Duration::from_secs(30);
/// How often the server checks whether it is still needed.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How a server is run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The key with which it proves its identity, if it has one.
    pub key: Option<Key>,
    /// The environment of hooks for a client on stdio that sends none.
    pub environment: Vec<(String, String)>,
    /// How long it may be unused before it ends; `None` for no limit.
    pub idle: Option<Duration>,
}

/// A server.
#[derive(Debug)]
pub struct Server {
    host: Box<dyn Host>,
    settings: Settings,
    workers: Arc<PythonWorkers>,
    started: Instant,
    /// When the last request came, in milliseconds since the start.
    used: AtomicU64,
    connections: Mutex<Vec<Weak<Connection>>>,
    listeners: AtomicUsize,
    running_fires: watch::Sender<usize>,
    stopping: AtomicBool,
    /// Whether pending requests are cancelled.
    cut_short: watch::Sender<bool>,
    ended: watch::Sender<bool>,
    http_url: OnceLock<String>,
    python_calls_in_place: Arc<Semaphore>,
    pub(crate) counters: Counters,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) fires: AtomicU64,
    pub(crate) late_replies: AtomicU64,
}

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// A client or the host asked for it.
    Asked,
    /// It was unused, or another server took over its socket.
    Idle,
}

/// Ends a server from outside.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Server>);

impl Stopper {
    /// Cancels pending requests and ends the server.
    pub fn stop_now(&self) {
        self.0.begin_stop(true);
        self.0.end();
    }
}

/// A pending fire; dropped when it is answered.
#[derive(Debug)]
pub(crate) struct PendingFire(Arc<Server>);

impl Drop for PendingFire {
    fn drop(&mut self) {
        self.0.running_fires.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Server {
    /// A server without any connection yet.
    #[must_use]
    pub fn new(host: impl Host, settings: Settings) -> Arc<Self> {
        Arc::new(Self {
            host: Box::new(host),
            settings,
            workers: Arc::default(),
            started: Instant::now(),
            used: AtomicU64::new(0),
            connections: Mutex::default(),
            listeners: AtomicUsize::new(0),
            running_fires: watch::Sender::new(0),
            stopping: AtomicBool::new(false),
            cut_short: watch::Sender::new(false),
            ended: watch::Sender::new(false),
            http_url: OnceLock::new(),
            python_calls_in_place: Arc::new(Semaphore::new(MAX_CALLS_IN_PLACE)),
            counters: Counters::default(),
        })
    }

    /// A handle to stop it, for signal handlers.
    #[must_use]
    pub fn stopper(self: &Arc<Self>) -> Stopper {
        Stopper(Arc::clone(self))
    }

    /// Listens for agents that post events over HTTP; returns the URL.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn listen_http(
        self: &Arc<Self>,
        address: &HttpAddress,
        token: String,
    ) -> std::io::Result<String> {
        let url = http::listen(Arc::clone(self), address, token).await?;
        let _ = self.http_url.set(url.clone());
        Ok(url)
    }

    /// Serves the socket until the server is asked to end, or is idle for too long.
    pub async fn run_socket(self: &Arc<Self>, mut bound: Bound) -> ServerEnd {
        let permits = Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
        let mut looks = tokio::time::interval(LOOK_EVERY);
        let listener = match bound.listener() {
            Ok(listener) => listener,
            Err(_) => return ServerEnd::Asked,
        };
        let ended = loop {
            tokio::select! {
                () = self.ended() => break ServerEnd::Asked,
                _ = looks.tick() => {
                    self.workers.trim(IDLE_WORKERS);
                    if !bound.is_mine() || self.is_idle() {
                        break ServerEnd::Idle;
                    }
                }
                accepted = accept(&listener, &permits) => {
                    let Some((stream, permit)) = accepted else { continue };
                    let Ok(peer) = Peer::of(&stream) else { continue };
                    if !peer.is_same_user() {
                        continue;
                    }
                    let server = Arc::clone(self);
                    tokio::spawn(async move {
                        Connection::serve(server, stream, Origin::Socket(peer)).await;
                        drop(permit);
                    });
                }
            }
        };
        self.begin_stop(true);
        self.end();
        drop(listener);
        drop(bound);
        self.close().await;
        ended
    }

    /// Serves the client that started this process, on stdin and stdout.
    ///
    /// # Errors
    /// When no descriptors are left.
    pub async fn run_stdio(self: &Arc<Self>) -> std::io::Result<()> {
        let (stream, copied) = stdio::bridge()?;
        Connection::serve(Arc::clone(self), stream, Origin::Stdio).await;
        self.begin_stop(true);
        self.end();
        self.close().await;
        copied.finish();
        Ok(())
    }

    /// Serves only HTTP, until the server is asked to end.
    pub async fn run_alone(self: &Arc<Self>) {
        self.ended().await;
        self.close().await;
    }

    /// Waits a limited time for connections to end, then ends the workers.
    async fn close(&self) {
        let gone = async {
            while self.connections() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(3), gone).await;
        self.workers.close();
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    pub(crate) fn workers(&self) -> Arc<PythonWorkers> {
        Arc::clone(&self.workers)
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.settings.key.as_ref()
    }

    pub(crate) fn own_environment(&self) -> &[(String, String)] {
        &self.settings.environment
    }

    pub(crate) fn http_url(&self) -> Option<&str> {
        self.http_url.get().map(String::as_str)
    }

    pub(crate) fn uptime_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn idle_ms(&self) -> u64 {
        self.uptime_ms().saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Notes that the server was used.
    pub(crate) fn touch(&self) {
        self.used.store(self.uptime_ms(), Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        let is_long = |idle: Duration| u128::from(self.idle_ms()) >= idle.as_millis();
        self.settings.idle.is_some_and(is_long) && self.connections() == 0
    }

    /// Permission to run a Python call on a thread that serves connections, if few do so.
    pub(crate) fn python_calls_in_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.python_calls_in_place).try_acquire_owned().ok()
    }

    pub(crate) fn begin_fire(self: &Arc<Self>) -> PendingFire {
        self.counters.fires.fetch_add(1, Ordering::Relaxed);
        self.running_fires.send_modify(|count| *count += 1);
        PendingFire(Arc::clone(self))
    }

    /// Refuses new requests; with `now`, also cancels pending ones.
    pub(crate) fn begin_stop(&self, now: bool) {
        self.stopping.store(true, Ordering::SeqCst);
        if now {
            self.cut_short.send_replace(true);
            self.live_connections().iter().for_each(|connection| connection.cancel_all());
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Waits until pending requests must be cancelled.
    pub(crate) async fn cut_short(&self) {
        let _ = self.cut_short.subscribe().wait_for(|now| *now).await;
    }

    /// Waits until every fire is answered.
    pub(crate) async fn fires_over(&self) {
        let _ = self.running_fires.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    pub(crate) async fn ended(&self) {
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    pub(crate) fn add_connection(&self, connection: &Arc<Connection>) {
        self.lock().push(Arc::downgrade(connection));
    }

    pub(crate) fn remove_connection(&self, connection: &Arc<Connection>) {
        self.lock().retain(|other| {
            !std::ptr::eq(other.as_ptr(), Arc::as_ptr(connection)) && other.strong_count() > 0
        });
        self.count_listeners();
        self.touch();
    }

    pub(crate) fn connections(&self) -> usize {
        self.lock().len()
    }

    fn live_connections(&self) -> Vec<Arc<Connection>> {
        self.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether anybody listens to all connections.
    pub(crate) fn has_listeners(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn listeners(&self) -> Vec<Arc<Connection>> {
        if self.has_listeners() { self.live_connections() } else { Vec::new() }
    }

    /// Recounts the listeners, after one subscribed or left.
    pub(crate) fn count_listeners(&self) {
        let listens = |connection: &Arc<Connection>| connection.subscriptions().iter().any(|one| one.all);
        let count = self.live_connections().iter().filter(|connection| listens(connection)).count();
        self.listeners.store(count, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type ConnectionPermit = tokio::sync::OwnedSemaphorePermit;

async fn accept(
    listener: &tokio::net::UnixListener,
    permits: &Arc<tokio::sync::Semaphore>,
) -> Option<(tokio::net::UnixStream, ConnectionPermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(_) => {
            // No file descriptors are left: wait until others are closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            None
        }
    }
}
