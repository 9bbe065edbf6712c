//! The connection to one worker.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::os::{self, Readiness};
use super::super::process::{Lines, ReadResult, Start, read};
use super::call::{CallError, CallLimits, CallStep, Cause};
use super::interpreter::{Hello, Setup};
use super::loaded::Loaded;
use super::process::Process;
use super::request::{CallRequest, LoadRequest, push_call, push_environment, push_hello, push_load};
use super::response::{Response, ResponseReader};
use crate::registry::PythonSpec;

/// Requests with a smaller event are written in one piece; also the size of one read.
const ONE_PIECE: usize = 64 * 1024;
/// How many reads are made before parsing: more than any answer needs.
const MAX_PIECES: usize = 32;
/// How many printed bytes of a call are kept for its last message.
const MAX_PRINTED: usize = 64 * 1024;

/// How long to wait for an answer without sleeping, when a whole process waits for it.
const AWAKE: Duration = Duration::from_micros(150);

/// A request that was sent and not answered yet.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    id: u64,
    /// The number of the hook that it loads, if it is a load request.
    loads: Option<usize>,
}

/// One worker.
#[derive(Debug)]
pub(super) struct Connection {
    process: Process,
    reader: ResponseReader,
    loaded: Loaded,
    /// Whether a hook has removed something from it that others need.
    is_spoiled: bool,
    next_id: u64,
    printed: Vec<u8>,
    /// Buffers for writing and reading, reused by all calls.
    out: Vec<u8>,
    scratch: Box<[u8]>,
    setup: Arc<Setup>,
    pub(super) facts: Arc<WorkerFacts>,
    /// The variables of the current call, in addition to those that the worker was started with.
    variables: Vec<(OsString, OsString)>,
    /// Whether they must be sent to the worker before the next call.
    variables_changed: bool,
}

/// Information about a worker that can be read while it is in use.
#[derive(Debug, Default)]
pub(super) struct WorkerFacts {
    pub(super) pid: u32,
    pub(super) calls: AtomicU64,
}

impl Connection {
    /// Starts a worker. The error says why that failed.
    pub(super) fn start(start: &Start, setup: &Arc<Setup>, deadline: Instant) -> Result<Self, String> {
        let process = Process::start(start, setup.guard.as_ref(), deadline)?;
        let facts = Arc::new(WorkerFacts { pid: process.id(), calls: AtomicU64::new(0) });
        Ok(Self {
            process,
            facts,
            variables: Vec::new(),
            variables_changed: false,
            reader: ResponseReader::default(),
            loaded: Loaded::default(),
            is_spoiled: false,
            next_id: 1,
            printed: Vec::new(),
            out: Vec::new(),
            scratch: vec![0; ONE_PIECE].into(),
            setup: Arc::clone(setup),
        })
    }

    /// Sets the variables for the next calls, in addition to those that the worker was started with.
    pub(super) fn set_environment(&mut self, variables: Vec<(OsString, OsString)>) {
        self.variables_changed |= self.variables != variables;
        self.variables = variables;
    }

    /// Whether it can be used: it has neither exited nor written anything while it was idle. An error when
    /// the call was cancelled.
    pub(super) fn is_healthy(&mut self, limits: &CallLimits<'_>) -> Result<bool, Cause> {
        self.process.is_broken |= !self.process.is_idle(limits)?;
        Ok(!self.process.is_broken)
    }

    /// Whether it can be returned to the pool.
    pub(super) fn is_reusable(&self) -> bool {
        !self.process.is_broken && !self.is_spoiled && !self.loaded.is_full()
    }

    /// Asks it to exit and does not wait, so that several can exit at the same time.
    pub(super) fn ask_to_exit(&mut self) {
        self.process.close_stdin();
    }

    /// Asks the worker for information about itself.
    pub(super) fn hello(&mut self, limits: &CallLimits<'_>) -> Result<Hello, CallError> {
        let id = self.next_id();
        let mut out = Vec::new();
        push_hello(&mut out, id);
        let awaited = [Awaited { id, loads: None }];
        Ok(match self.exchange([&out, &[]], &awaited, limits, CallStep::Starting)? {
            Response::Reply(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Response::Nothing | Response::Failed(_) => Hello::default(),
        })
    }

    /// Imports the module of a hook and finds its function.
    pub(super) fn load(
        &mut self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        limits: &CallLimits<'_>,
    ) -> Result<Response, CallError> {
        let mut out = Vec::new();
        let (load, _) = self.push_load(&mut out, spec, hook);
        self.exchange([&out, &[]], &[load], limits, CallStep::Loading)
    }

    fn push_load(&mut self, out: &mut Vec<u8>, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> (Awaited, usize) {
        let (id, number) = (self.next_id(), self.loaded.number(spec, hook));
        // The record is sent with the first hook only; the worker keeps it.
        let record = self.setup.record.as_deref().filter(|_| number == 0);
        push_load(out, id, LoadRequest { number, hook, spec, env: &self.setup.env, record });
        (Awaited { id, loads: Some(number) }, number)
    }

    /// Calls the function of a hook with an event.
    pub(super) fn call(
        &mut self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        input: &str,
        large: &[Range<usize>],
        phase: u16,
        limits: &CallLimits<'_>,
    ) -> Result<Response, CallError> {
        let left = limits.left();
        if left.is_zero() {
            // No request was sent yet, so the next call can use the worker.
            return Err(CallError { step: CallStep::Waiting, cause: Cause::TimedOut });
        }
        let in_one_piece = input.len() < ONE_PIECE;
        let mut out = self.new_request();
        // If the hook is not loaded, or has changed, it is loaded in the same round trip.
        let (load, number) = match self.loaded.fresh(spec, hook) {
            Some(number) => (None, number),
            None => {
                let (load, number) = self.push_load(&mut out, spec, hook);
                (Some(load), number)
            }
        };
        let called = Awaited { id: self.next_id(), loads: None };
        let event_bytes = input.len();
        push_call(&mut out, called.id, &CallRequest { number, phase, left, event_bytes, large });
        let rest = if in_one_piece {
            out.extend_from_slice(input.as_bytes());
            &[][..]
        } else {
            input.as_bytes()
        };
        let response = match load {
            None => self.exchange([&out, rest], &[called], limits, CallStep::Calling),
            Some(load) => self.exchange([&out, rest], &[load, called], limits, CallStep::Calling),
        };
        self.out = out;
        response
    }

    /// Begins to call a hook that is loaded, without waiting for its answer, and returns the number of the call. `None`
    /// if it is not loaded, or has changed, or the request is too large to be written at once.
    pub(super) fn begin_call(
        &mut self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        input: &str,
        phase: u16,
        limits: &CallLimits<'_>,
    ) -> Option<u64> {
        let number = self.loaded.fresh(spec, hook).filter(|_| !limits.left().is_zero())?;
        let mut out = self.new_request();
        let id = self.next_id();
        let (left, event_bytes) = (limits.left(), input.len());
        push_call(&mut out, id, &CallRequest { number, phase, left, event_bytes, large: &[] });
        out.extend_from_slice(input.as_bytes());
        self.forget_printed(limits);
        let mut parts = [out.as_slice(), &[]];
        self.process.write(&mut parts);
        // A worker that has only a part of a request cannot be used for another one.
        self.process.is_broken |= !parts[0].is_empty();
        self.out = out;
        (!self.process.is_broken).then_some(id)
    }

    /// The answer to a call that was begun, if it comes before the deadline of these limits. Everything else, a worker
    /// that has ended included, is left to [`finish_call`](Self::finish_call): ending a worker takes time.
    pub(super) fn answer_within(
        &mut self,
        id: u64,
        limits: &CallLimits<'_>,
    ) -> Option<Result<Response, CallError>> {
        self.process.wait_awake(limits.deadline.min(Instant::now() + AWAKE));
        let ready = self.process.wait(limits, false).ok()?;
        if !ready.stdout || ready.exited || self.read_responses() {
            return None;
        }
        let response = self.reader.response(id).ok()??;
        self.note(None);
        Some(self.finish(response, &mut Lines::default(), limits).map_err(|cause| {
            self.process.is_broken = true;
            CallError { step: CallStep::Calling, cause }
        }))
    }

    /// Waits for the answer to a call that was begun.
    pub(super) fn finish_call(&mut self, id: u64, limits: &CallLimits<'_>) -> Result<Response, CallError> {
        let mut awaited: &[Awaited] = &[Awaited { id, loads: None }];
        self.try_exchange([&[], &[]], &mut awaited, limits, true).map_err(|cause| {
            self.process.is_broken = true;
            CallError { step: CallStep::Calling, cause }
        })
    }

    /// The buffer for a request, with the variables in it that the worker does not have yet.
    fn new_request(&mut self) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        self.facts.calls.fetch_add(1, Ordering::Relaxed);
        if std::mem::take(&mut self.variables_changed) {
            push_environment(&mut out, &self.variables);
        }
        out
    }

    /// What was printed between two calls belongs to neither.
    fn forget_printed(&mut self, limits: &CallLimits<'_>) {
        if limits.progress.is_some() {
            self.read_available(&mut Lines::default(), None);
        }
        self.printed.clear();
    }

    /// What the last call printed.
    pub(super) fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Writes requests, reads their responses and returns the last one. `requests` is one request, or a load and
    /// then a call.
    fn exchange(
        &mut self,
        parts: [&[u8]; 2],
        requests: &[Awaited],
        limits: &CallLimits<'_>,
        last: CallStep,
    ) -> Result<Response, CallError> {
        let mut awaited = requests;
        self.forget_printed(limits);
        self.try_exchange(parts, &mut awaited, limits, false).map_err(|cause| {
            self.process.is_broken = true;
            CallError { step: if awaited.len() > 1 { CallStep::Loading } else { last }, cause }
        })
    }

    fn try_exchange(
        &mut self,
        mut parts: [&[u8]; 2],
        awaited: &mut &[Awaited],
        limits: &CallLimits<'_>,
        mut may_have_answered: bool,
    ) -> Result<Response, Cause> {
        let mut lines = Lines::default();
        loop {
            self.process.write(&mut parts);
            let ready = match std::mem::take(&mut may_have_answered) {
                // Its answer may have been read already.
                true => Readiness { stdout: true, ..Readiness::default() },
                false => self.process.wait(limits, parts.iter().any(|part| !part.is_empty()))?,
            };
            if ready.stderr {
                self.read_printed(&mut lines, limits.progress);
            }
            let mut ended = ready.exited;
            if ready.stdout || ready.exited {
                ended |= self.read_responses();
                while let [Awaited { id, loads }, rest @ ..] = *awaited
                    && let Some(response) = self.reader.response(*id).map_err(Cause::Broken)?
                {
                    if let Some(number) = *loads {
                        self.loaded.learn(number, &response);
                    }
                    self.note(*loads);
                    if rest.is_empty() {
                        return self.finish(response, &mut lines, limits);
                    }
                    *awaited = rest;
                }
            }
            if ended {
                self.read_available(&mut lines, limits.progress);
                return Err(Cause::Exited(self.exit_status_text()));
            }
            if ready.cancelled {
                return Err(Cause::Cancelled);
            }
            if limits.left().is_zero() {
                return Err(Cause::TimedOut);
            }
        }
    }

    /// Notes what a response says about the worker; `loaded` is the hook that it was asked to load.
    fn note(&mut self, loaded: Option<usize>) {
        let notes = self.reader.take_notes();
        if notes.has_imported {
            self.loaded.forget_files(loaded);
        }
        self.is_spoiled |= notes.is_spoiled;
    }

    fn finish(
        &mut self,
        response: Response,
        lines: &mut Lines,
        limits: &CallLimits<'_>,
    ) -> Result<Response, Cause> {
        if let Some(progress) = limits.progress {
            // The hook's output was written before its answer, so it is in the pipe by now.
            self.read_available(lines, limits.progress);
            let rest = lines.rest();
            if !rest.is_empty() {
                progress(rest);
            }
        }
        if !self.reader.is_empty() {
            return Err(Cause::Broken("its worker sent an unexpected answer".to_owned()));
        }
        Ok(response)
    }

    fn exit_status_text(&mut self) -> String {
        let status = self.process.exit_status();
        match status.map(|status| (status.code(), status.signal())) {
            Some((_, Some(signal))) => format!("signal {signal}"),
            Some((code, None)) => format!("exit status {}", code.unwrap_or_default()),
            None => "it closed its channel".to_owned(),
        }
    }

    /// Reads what is available. True if the worker closed its output.
    fn read_responses(&mut self) -> bool {
        for _ in 0..MAX_PIECES {
            match read(&mut self.process.stdout, &mut self.scratch) {
                ReadResult::Bytes(count) => {
                    self.reader.push(&self.scratch[..count]);
                    if count < self.scratch.len() {
                        return false;
                    }
                }
                ReadResult::WouldBlock => return false,
                ReadResult::End => return true,
            }
        }
        false
    }

    /// Reads only what the hook has printed until now: one of its threads or children may keep printing.
    fn read_available(&mut self, lines: &mut Lines, progress: Option<&dyn Fn(String)>) {
        let mut left = self.process.stderr.as_ref().map_or(0, os::available);
        while left > 0 {
            match self.read_printed(lines, progress) {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
    }

    /// Reads one piece of what the hook printed. 0 if there is nothing.
    fn read_printed(&mut self, lines: &mut Lines, progress: Option<&dyn Fn(String)>) -> usize {
        let Some(stderr) = &mut self.process.stderr else { return 0 };
        match read(stderr, &mut self.scratch) {
            ReadResult::Bytes(count) => {
                let bytes = &self.scratch[..count];
                let room = MAX_PRINTED.saturating_sub(self.printed.len());
                self.printed.extend_from_slice(&bytes[..count.min(room)]);
                if let Some(progress) = progress {
                    let whole = lines.take(bytes);
                    if !whole.is_empty() {
                        progress(whole);
                    }
                }
                count
            }
            ReadResult::WouldBlock => 0,
            ReadResult::End => {
                self.process.stderr = None;
                0
            }
        }
    }
}
