//! The talk with one worker.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Instant;

use super::super::os;
use super::super::process::{Got, Lines, Start, read};
use super::frame::{Reader, Response};
use super::interpreter::Hello;
use super::process::Process;
use super::request::{push_call, push_hello, push_load};
use super::talk::{Lost, Talk, When, Why};
use crate::registry::PythonSpec;

/// Requests up to this size are written in one piece; so much is read at once.
const ONE_PIECE: usize = 64 * 1024;
/// So many pieces are read before what they say is looked at: more than any answer has.
const MAX_PIECES: usize = 32;
/// What is kept of a call's prints, for its last message.
const MAX_SAID: usize = 64 * 1024;
/// A worker that has loaded so many hooks is not used again: hooks come and go with agents, and it forgets
/// none.
const MAX_LOADED: usize = 1024;

/// One worker.
#[derive(Debug)]
pub(super) struct Link {
    process: Process,
    reader: Reader,
    /// The hooks that it has loaded; it knows them by their place here. A name is not enough to tell them
    /// apart: another hook may have it by now.
    loaded: Vec<(Arc<PythonSpec>, Arc<str>)>,
    next_id: u64,
    said: Vec<u8>,
    scratch: Box<[u8]>,
    /// The environment that was meant for it.
    env: Arc<Vec<(OsString, OsString)>>,
}

impl Link {
    /// Starts a worker, or says why not.
    pub(super) fn start(
        start: &Start,
        env: &Arc<Vec<(OsString, OsString)>>,
        deadline: Instant,
    ) -> Result<Self, String> {
        Ok(Self {
            process: Process::start(start, deadline)?,
            reader: Reader::default(),
            loaded: Vec::new(),
            next_id: 1,
            said: Vec::new(),
            scratch: vec![0; ONE_PIECE].into(),
            env: Arc::clone(env),
        })
    }

    /// Whether it can be asked: it neither died nor spoke while nobody talked with it.
    pub(super) fn is_well(&mut self) -> bool {
        self.process.is_lost |= !self.process.is_quiet();
        !self.process.is_lost
    }

    /// Whether the next call may have it.
    pub(super) fn is_of_use(&self) -> bool {
        !self.process.is_lost && self.loaded.len() < MAX_LOADED
    }

    /// Asks it to end, without waiting for that: so several end at the same time.
    pub(super) fn dismiss(&mut self) {
        self.process.close_stdin();
    }

    /// Asks who it is.
    pub(super) fn hello(&mut self, talk: &Talk<'_>) -> Result<Hello, Lost> {
        let id = self.next_id();
        let mut out = Vec::new();
        push_hello(&mut out, id);
        Ok(match self.exchange([&out, &[]], &[id], talk, When::Starting)? {
            Response::Reply(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Response::Nothing | Response::Failed { .. } => Hello::default(),
        })
    }

    /// Imports the module of a hook and finds its function.
    pub(super) fn load(
        &mut self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        talk: &Talk<'_>,
    ) -> Result<Response, Lost> {
        let mut out = Vec::new();
        let (id, _) = self.push_load(&mut out, spec, hook);
        self.exchange([&out, &[]], &[id], talk, When::Loading)
    }

    fn push_load(&mut self, out: &mut Vec<u8>, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> (u64, usize) {
        let id = self.next_id();
        let number = self.number(spec, hook).unwrap_or_else(|| {
            self.loaded.push((Arc::clone(spec), Arc::clone(hook)));
            self.loaded.len() - 1
        });
        push_load(out, id, number, hook, spec, &self.env);
        (id, number)
    }

    fn number(&self, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> Option<usize> {
        self.loaded.iter().position(|(other, name)| Arc::ptr_eq(other, spec) && name == hook)
    }

    /// Calls the function of a hook with an event.
    pub(super) fn call(
        &mut self,
        spec: &Arc<PythonSpec>,
        hook: &Arc<str>,
        event: &str,
        phase: u8,
        cwd: Option<&str>,
        talk: &Talk<'_>,
    ) -> Result<Response, Lost> {
        let left = talk.left();
        if left.is_zero() {
            // Nothing is asked yet, so nothing is lost: the next call may have the worker.
            return Err(Lost { when: When::Waiting, why: Why::Late });
        }
        let in_one_piece = event.len() < ONE_PIECE;
        let mut out = Vec::with_capacity(256 + if in_one_piece { event.len() } else { 0 });
        let mut ids = [0; 2];
        let mut last = 0;
        // The first call carries the request to load before it: one way there and back for both.
        let number = self.number(spec, hook).unwrap_or_else(|| {
            let (id, number) = self.push_load(&mut out, spec, hook);
            ids[0] = id;
            last = 1;
            number
        });
        ids[last] = self.next_id();
        push_call(&mut out, ids[last], number, phase, left, cwd, event.len());
        let rest = if in_one_piece {
            out.extend_from_slice(event.as_bytes());
            &[][..]
        } else {
            event.as_bytes()
        };
        self.exchange([&out, rest], &ids[..=last], talk, When::Calling)
    }

    /// What the last call printed.
    pub(super) fn take_said(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.said)
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Writes requests and reads the responses to them; gives the last one back. Two at once are a load and a
    /// call.
    fn exchange(
        &mut self,
        parts: [&[u8]; 2],
        ids: &[u64],
        talk: &Talk<'_>,
        last: When,
    ) -> Result<Response, Lost> {
        let mut awaited = ids;
        self.try_exchange(parts, &mut awaited, talk).map_err(|why| {
            self.process.is_lost = true;
            Lost { when: if awaited.len() > 1 { When::Loading } else { last }, why }
        })
    }

    fn try_exchange(
        &mut self,
        mut parts: [&[u8]; 2],
        awaited: &mut &[u64],
        talk: &Talk<'_>,
    ) -> Result<Response, Why> {
        if talk.progress.is_some() {
            // What was printed while nobody was called is nobody's.
            self.read_what_is_there(&mut Lines::default(), None);
        }
        self.said.clear();
        let mut lines = Lines::default();
        loop {
            self.process.write(&mut parts);
            let ready = self.process.wait(talk, parts.iter().any(|part| !part.is_empty()))?;
            if ready.stderr {
                self.read_said(&mut lines, talk.progress);
            }
            let mut ended = ready.exited;
            if ready.stdout || ready.exited {
                ended |= self.read_responses();
                while let [id, rest @ ..] = *awaited
                    && let Some(response) = self.reader.response(*id).map_err(Why::Broke)?
                {
                    if rest.is_empty() {
                        return self.over(response, &mut lines, talk);
                    }
                    *awaited = rest;
                }
            }
            if ended {
                self.read_what_is_there(&mut lines, talk.progress);
                return Err(Why::Ended(self.how_it_ended()));
            }
            if ready.cancelled {
                return Err(Why::Cancelled);
            }
            if talk.left().is_zero() {
                return Err(Why::Late);
            }
        }
    }

    fn over(&mut self, response: Response, lines: &mut Lines, talk: &Talk<'_>) -> Result<Response, Why> {
        if let Some(progress) = talk.progress {
            // What the hook printed was written before its answer, so it is in the pipe by now.
            self.read_what_is_there(lines, talk.progress);
            let rest = lines.rest();
            if !rest.is_empty() {
                progress(rest);
            }
        }
        if !self.reader.is_empty() {
            return Err(Why::Broke("its worker answered more than it was asked".to_owned()));
        }
        Ok(response)
    }

    fn how_it_ended(&mut self) -> String {
        let status = self.process.how_it_ended();
        match status.map(|status| (status.code(), status.signal())) {
            Some((_, Some(signal))) => format!("signal {signal}"),
            Some((code, None)) => format!("exit status {}", code.unwrap_or_default()),
            None => "it closed its channel".to_owned(),
        }
    }

    /// Reads what is there. True when nothing will come any more.
    fn read_responses(&mut self) -> bool {
        for _ in 0..MAX_PIECES {
            match read(&mut self.process.stdout, &mut self.scratch) {
                Got::Bytes(count) => {
                    self.reader.push(&self.scratch[..count]);
                    if count < self.scratch.len() {
                        return false;
                    }
                }
                Got::Nothing => return false,
                Got::End => return true,
            }
        }
        false
    }

    /// Reads what the hook printed until now and no more: a thread or a child of it may go on printing.
    fn read_what_is_there(&mut self, lines: &mut Lines, progress: Option<&dyn Fn(String)>) {
        let mut left = self.process.stderr.as_ref().map_or(0, os::available);
        while left > 0 {
            match self.read_said(lines, progress) {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
    }

    /// Reads what the hook printed, one piece of it. 0 when there is nothing.
    fn read_said(&mut self, lines: &mut Lines, progress: Option<&dyn Fn(String)>) -> usize {
        let Some(stderr) = &mut self.process.stderr else { return 0 };
        match read(stderr, &mut self.scratch) {
            Got::Bytes(count) => {
                let bytes = &self.scratch[..count];
                let room = MAX_SAID.saturating_sub(self.said.len());
                self.said.extend_from_slice(&bytes[..count.min(room)]);
                if let Some(progress) = progress {
                    let whole = lines.take(bytes);
                    if !whole.is_empty() {
                        progress(whole);
                    }
                }
                count
            }
            Got::Nothing => 0,
            Got::End => {
                self.process.stderr = None;
                0
            }
        }
    }
}
