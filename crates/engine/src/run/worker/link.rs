//! One worker: its process, and the talk with it.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::os::{self, ExitWatch, Urge, Waited};
use super::super::process::{Got, Lines, Start, read};
use super::PythonInfo;
use super::frame::{Reader, Response};
use super::request::{push_call, push_hello, push_load};
use super::talk::{Lost, Talk, When, Why};
use crate::registry::PythonSpec;

/// How long a worker may take to end after SIGTERM or the end of its input.
const GRACE: Duration = Duration::from_millis(100);
/// How long a killed worker may take to be gone; then it hangs in the kernel, and nobody waits for it.
const PATIENCE: Duration = Duration::from_millis(500);
/// Requests up to this size are written in one piece.
const ONE_PIECE: usize = 64 * 1024;
/// What is kept of a call's prints, for its last message.
const MAX_SAID: usize = 64 * 1024;
/// A worker that has loaded so many hooks is not used again: hooks come and go with agents, and it forgets none.
const MAX_LOADED: usize = 1024;

/// One worker. Dropped, it is ended and reaped.
#[derive(Debug)]
pub(super) struct Link {
    child: Option<Child>,
    exit: ExitWatch,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    reader: Reader,
    /// The hooks that it has loaded; it knows them by their place here. A name is not enough: another hook may
    /// have it by now.
    loaded: Vec<(Arc<PythonSpec>, Arc<str>)>,
    next_id: u64,
    /// Whether it is in the middle of something that nobody waits for any more.
    is_lost: bool,
    said: Vec<u8>,
    scratch: Box<[u8]>,
    start: Arc<Start>,
}

impl Link {
    pub(super) fn start(start: &Arc<Start>, deadline: Instant) -> Result<Self, Lost> {
        let gone = |detail: String| Lost { when: When::Starting, why: Why::Gone(detail) };
        let mut child = start.start(deadline).map_err(|failure| gone(failure.detail))?;
        let exit = ExitWatch::new(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            os::signal_group(&exit, Urge::Kill);
            let _ = child.wait();
            return Err(gone("its worker has no pipes".to_owned()));
        };
        let pipes = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()].map(os::set_nonblocking);
        let link = Self {
            child: Some(child),
            exit,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            reader: Reader::default(),
            loaded: Vec::new(),
            next_id: 1,
            is_lost: false,
            said: Vec::new(),
            scratch: vec![0; ONE_PIECE].into(),
            start: Arc::clone(start),
        };
        match pipes.into_iter().collect::<std::io::Result<Vec<()>>>() {
            Ok(_) => Ok(link),
            Err(error) => Err(gone(format!("the pipes of its worker could not be set up: {error}"))),
        }
    }

    /// Whether it can be asked: it neither died nor spoke while nobody talked with it.
    pub(super) fn is_well(&mut self) -> bool {
        let waited = Waited { stdout: Some(self.stdout.as_fd()), ..Waited::default() };
        let ready = os::wait_ready(waited, &self.exit, Duration::ZERO);
        self.is_lost |= !ready.is_ok_and(|ready| !ready.stdout && !ready.exited);
        !self.is_lost
    }

    /// Whether the next call may have it.
    pub(super) fn is_of_use(&self) -> bool {
        !self.is_lost && self.loaded.len() < MAX_LOADED
    }

    /// Asks it to end, without waiting for that: several end at the same time.
    pub(super) fn dismiss(&mut self) {
        self.stdin = None;
    }

    pub(super) fn hello(&mut self, talk: &Talk<'_>) -> Result<PythonInfo, Lost> {
        let id = self.next_id();
        let mut out = Vec::new();
        push_hello(&mut out, id);
        let said = |lost: Lost| Lost { when: When::Starting, ..lost };
        let facts = match self.exchange([&out, &[]], &[id], talk).map_err(said)? {
            Response::Reply(bytes) => serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default(),
            Response::Nothing | Response::Failed { .. } => serde_json::Value::Null,
        };
        let text = |key: &str| facts.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        Ok(PythonInfo { version: text("python"), executable: text("executable") })
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
        self.exchange([&out, &[]], &[id], talk).map_err(|lost| Lost { when: When::Loading, ..lost })
    }

    fn push_load(&mut self, out: &mut Vec<u8>, spec: &Arc<PythonSpec>, hook: &Arc<str>) -> (u64, usize) {
        let id = self.next_id();
        let number = self.number(spec, hook).unwrap_or_else(|| {
            self.loaded.push((Arc::clone(spec), Arc::clone(hook)));
            self.loaded.len() - 1
        });
        push_load(out, id, number, hook, spec, &self.start.env);
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
            // Nothing is asked yet, so nothing is lost: the next call may have it.
            return Err(Lost { when: When::Waiting, why: Why::Late });
        }
        let in_one_piece = event.len() < ONE_PIECE;
        let mut out = Vec::with_capacity(256 + if in_one_piece { event.len() } else { 0 });
        let mut ids = [0; 2];
        let mut loads = 0;
        // The first call carries the request to load before it: one way there and back for both.
        let number = self.number(spec, hook).unwrap_or_else(|| {
            let (id, number) = self.push_load(&mut out, spec, hook);
            ids[0] = id;
            loads = 1;
            number
        });
        ids[loads] = self.next_id();
        push_call(&mut out, ids[loads], number, phase, left, cwd, event.len());
        let rest = if in_one_piece {
            out.extend_from_slice(event.as_bytes());
            &[][..]
        } else {
            event.as_bytes()
        };
        self.exchange([&out, rest], &ids[..=loads], talk)
    }

    /// What the last call printed.
    pub(super) fn take_said(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.said)
    }

    /// The last line of it, for people.
    pub(super) fn last_words(&self) -> String {
        let said = String::from_utf8_lossy(&self.said);
        let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().take(300).collect()
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Writes requests and reads the responses to them; gives the last one back.
    fn exchange(&mut self, parts: [&[u8]; 2], ids: &[u64], talk: &Talk<'_>) -> Result<Response, Lost> {
        let mut awaited = ids;
        let result = self.try_exchange(parts, &mut awaited, talk);
        result.map_err(|why| {
            self.is_lost = true;
            // Two are awaited only while the first is to load what the second calls.
            let when = if awaited.len() > 1 { When::Loading } else { When::Calling };
            Lost { when, why }
        })
    }

    fn try_exchange(
        &mut self,
        mut parts: [&[u8]; 2],
        awaited: &mut &[u64],
        talk: &Talk<'_>,
    ) -> Result<Response, Why> {
        let mut lines = Lines::default();
        if talk.progress.is_some() {
            // What was printed while nobody was called is nobody's.
            self.read_what_is_there(&mut Lines::default(), None);
        }
        self.said.clear();
        loop {
            self.write(&mut parts);
            let writes = parts.iter().any(|part| !part.is_empty());
            let waited = Waited {
                stdin: self.stdin.as_ref().filter(|_| writes).map(AsFd::as_fd),
                stdout: Some(self.stdout.as_fd()),
                stderr: self.stderr.as_ref().map(AsFd::as_fd),
                cancel: talk.stop.cancel,
                bell: talk.stop.bell,
            };
            let ready = os::wait_ready(waited, &self.exit, talk.left())
                .map_err(|error| Why::Gone(format!("its worker could not be waited for: {error}")))?;
            if ready.stderr {
                self.read_said(&mut lines, talk.progress);
            }
            let mut ended = false;
            if ready.stdout || ready.exited {
                ended = self.read_responses();
                while let [id, rest @ ..] = *awaited
                    && let Some(response) = self.reader.response(*id).map_err(Why::Gone)?
                {
                    if rest.is_empty() {
                        return self.over(response, &mut lines, talk);
                    }
                    *awaited = rest;
                }
            }
            if ready.exited || ended {
                return Err(Why::Gone(self.how_it_ended(&mut lines, talk)));
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
        // What the hook printed was written before its answer, so it is in the pipe by now.
        if let Some(progress) = talk.progress {
            self.read_what_is_there(lines, talk.progress);
            let rest = lines.rest();
            if !rest.is_empty() {
                progress(rest);
            }
        }
        if !self.reader.is_empty() {
            return Err(Why::Gone("its worker answered more than it was asked".to_owned()));
        }
        Ok(response)
    }

    /// Says how a worker ended that closed its channel or exited.
    fn how_it_ended(&mut self, lines: &mut Lines, talk: &Talk<'_>) -> String {
        self.read_what_is_there(lines, talk.progress);
        let ended = "its worker ended in the middle of the call";
        match self.end(Instant::now() + GRACE) {
            None => format!("{ended}: it closed its channel"),
            Some(status) => match (status.code(), status.signal()) {
                (_, Some(signal)) => format!("{ended}: signal {signal}"),
                (code, _) => format!("{ended}: exit status {}", code.unwrap_or_default()),
            },
        }
    }

    /// Writes what the pipe takes. A worker that is gone is noticed by its exit.
    fn write(&mut self, parts: &mut [&[u8]; 2]) {
        for part in parts {
            while let (false, Some(stdin)) = (part.is_empty(), &mut self.stdin) {
                match stdin.write(part) {
                    Ok(count) => *part = &part[count..],
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                    Err(_) => self.stdin = None,
                }
            }
        }
    }

    /// Reads all that is there. True when nothing will come any more.
    fn read_responses(&mut self) -> bool {
        loop {
            match read(&mut self.stdout, &mut self.scratch) {
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
    }
}
