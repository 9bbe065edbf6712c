//! What is sent to a client, in order. A client that does not read does not block the server.
//!
//! A sender adds its message and writes at once as much as the socket accepts; a task writes the rest when
//! the client reads again. Answers and calls are kept until then; the limit on pending requests bounds their number.
//! Updates (messages, outcomes) are limited: what does not fit is dropped and counted.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::UnixStream;
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// The maximum number of updates that can wait.
const MAX_UPDATES: usize = 1024;
/// The maximum number of bytes of updates that can wait.
const MAX_UPDATE_BYTES: usize = 8 << 20;

/// How many other lines can wait before a client that sends invalid lines is not read until it reads them.
const MAX_WAITING: usize = 1024;

#[derive(Debug)]
pub(crate) struct Outbox {
    stream: Arc<UnixStream>,
    state: Mutex<State>,
    /// Notified when something could not be written at once.
    left_over: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Item>,
    updates: usize,
    update_bytes: usize,
    missed: BTreeMap<u64, u64>,
    /// The item that is being written, and how many of its bytes are written.
    writing: Option<(Item, usize)>,
    closed: bool,
}

#[derive(Debug)]
struct Item {
    line: Vec<u8>,
    is_update: bool,
    /// Keeps the request pending until its answer is written.
    _permit: Option<OwnedSemaphorePermit>,
}

#[derive(Debug, PartialEq, Eq)]
enum Flushed {
    All,
    NotYet,
    Closed,
}

impl Outbox {
    pub(crate) fn new(stream: Arc<UnixStream>) -> Self {
        Self { stream, state: Mutex::default(), left_over: Notify::new() }
    }

    /// Sends a line.
    pub(crate) fn send(&self, line: String) {
        self.push(line, None);
    }

    /// Sends the answer to a request, which is pending until the answer is written.
    pub(crate) fn answer(&self, line: String, permit: Option<OwnedSemaphorePermit>) {
        self.push(line, permit);
    }

    fn push(&self, line: String, permit: Option<OwnedSemaphorePermit>) {
        let mut state = self.lock();
        if !state.closed {
            state.queue.push_back(Item { line: ended(line), is_update: false, _permit: permit });
            self.flush_or_wake(&mut state);
        }
    }

    /// Sends an update of a subscription, if there is room.
    pub(crate) fn send_update(&self, subscription: u64, line: String) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.updates >= MAX_UPDATES || state.update_bytes + line.len() > MAX_UPDATE_BYTES {
            *state.missed.entry(subscription).or_default() += 1;
            return;
        }
        if let Some(count) = state.missed.remove(&subscription) {
            state.push_update(missed(subscription, count));
        }
        state.push_update(line);
        self.flush_or_wake(&mut state);
    }

    fn flush_or_wake(&self, state: &mut State) {
        if state.flush(&self.stream) == Flushed::NotYet {
            self.left_over.notify_one();
        }
    }

    /// Writes the rest whenever the client reads again. Returns when the connection is closed.
    pub(crate) async fn write_left_over(&self) {
        loop {
            self.left_over.notified().await;
            loop {
                if self.stream.writable().await.is_err() {
                    return self.close();
                }
                let flushed = self.lock().flush(&self.stream);
                match flushed {
                    Flushed::All => break,
                    Flushed::NotYet => {}
                    Flushed::Closed => return,
                }
            }
        }
    }

    /// Waits until everything is written, or the connection is closed.
    pub(crate) async fn flushed(&self) {
        loop {
            let flushed = self.lock().flush(&self.stream);
            if flushed != Flushed::NotYet || self.stream.writable().await.is_err() {
                return;
            }
        }
    }

    /// Waits while too many lines are queued for the client.
    pub(crate) async fn has_room(&self) {
        let is_crowded = {
            let state = self.lock();
            state.queue.len() - state.updates.min(state.queue.len()) > MAX_WAITING
        };
        if is_crowded {
            self.flushed().await;
        }
    }

    /// Whether everything was written.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.writing.is_none() && state.queue.is_empty()
    }

    /// Drops what is queued, and sends nothing from now on.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        *state = State { closed: true, ..State::default() };
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push_update(&mut self, line: String) {
        let line = ended(line);
        self.updates += 1;
        self.update_bytes += line.len();
        self.queue.push_back(Item { line, is_update: true, _permit: None });
    }

    /// Writes as much as the socket accepts.
    fn flush(&mut self, stream: &UnixStream) -> Flushed {
        if self.closed {
            return Flushed::Closed;
        }
        loop {
            let (item, at) =
                match self.writing.take().or_else(|| self.queue.pop_front().map(|item| (item, 0))) {
                    Some(writing) => writing,
                    // Tell subscribers that missed updates as soon as there is room.
                    None if !self.missed.is_empty() => {
                        for (subscription, count) in std::mem::take(&mut self.missed) {
                            self.push_update(missed(subscription, count));
                        }
                        continue;
                    }
                    None => return Flushed::All,
                };
            match stream.try_write(item.line.get(at..).unwrap_or_default()) {
                Ok(written) if at + written == item.line.len() => {
                    if item.is_update {
                        self.updates -= 1;
                        self.update_bytes -= item.line.len();
                    }
                }
                Ok(written) => self.writing = Some((item, at + written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.writing = Some((item, at));
                    return Flushed::NotYet;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => self.writing = Some((item, at)),
                Err(_) => {
                    *self = Self { closed: true, ..Self::default() };
                    return Flushed::Closed;
                }
            }
        }
    }
}

fn ended(mut line: String) -> Vec<u8> {
    line.push('\n');
    line.into_bytes()
}

fn missed(subscription: u64, count: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"missed","params":{{"subscription":{subscription},"count":{count}}}}}"#
    )
}
