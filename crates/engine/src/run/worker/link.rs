//! One worker: its process, and the talk with it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::os::{self, ExitWatch, Urge, Waited};
use super::super::process::{Got, Lines, Start, read};
use super::frame::{self, Reader, Response};
use super::{MAX_REPLY, PythonInfo};
use crate::registry::PythonSpec;
use crosier_protocol::Failure;

/// How long a worker may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(100);
/// Requests up to this size are written in one piece.
const ONE_PIECE: usize = 64 * 1024;
/// What is kept of a call's prints, for its last message.
const MAX_SAID: usize = 64 * 1024;

/// What a talk is bounded by.
pub(super) struct Talk<'a> {
    pub(super) deadline: Instant,
    pub(super) cancel: Option<BorrowedFd<'a>>,
    pub(super) bell: Option<BorrowedFd<'a>>,
    /// Told what the hook prints.
    pub(super) progress: Option<&'a dyn Fn(String)>,
}

/// Why a worker is no longer of use.
#[derive(Debug)]
pub(super) enum Lost {
    Late,
    Cancelled,
    /// It died or broke the protocol.
    Gone(String),
}

/// One worker. Dropped, it is killed with its group and reaped.
#[derive(Debug)]
pub(super) struct Link {
    child: Option<Child>,
    exit: ExitWatch,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    reader: Reader,
    /// The hooks that it has loaded, by the number that it knows them by.
    loaded: HashMap<Arc<str>, usize>,
    next_id: u64,
    /// Whether it is in the middle of something that nobody waits for any more.
    is_lost: bool,
    said: Vec<u8>,
    scratch: Box<[u8]>,
    python_path: Option<OsString>,
}

impl Link {
    pub(super) fn start(start: &Start, deadline: Instant) -> Result<Self, Failure> {
        let mut child = start.start(deadline)?;
        let exit = ExitWatch::new(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let failed = |_| Failure::error("the pipes of its worker could not be set up");
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(Failure::error("its worker has no pipes"));
        };
        let link = Self {
            child: Some(child),
            exit,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            reader: Reader::default(),
            loaded: HashMap::new(),
            next_id: 1,
            is_lost: false,
            said: Vec::new(),
            scratch: vec![0; ONE_PIECE].into(),
            python_path: start.env.iter().find(|(name, _)| name == "PYTHONPATH").map(|(_, value)| value.clone()),
        };
        for pipe in [
            link.stdin.as_ref().map(AsFd::as_fd),
            Some(link.stdout.as_fd()),
            link.stderr.as_ref().map(AsFd::as_fd),
        ] {
            if let Some(pipe) = pipe {
                os::set_nonblocking(pipe).map_err(failed)?;
            }
        }
        Ok(link)
    }

    /// Whether it died while nobody talked with it.
    pub(super) fn is_gone(&self) -> bool {
        self.exit.has_exited()
    }

    pub(super) fn hello(&mut self, talk: &Talk<'_>) -> Result<PythonInfo, Lost> {
        let id = self.next_id();
        let mut out = Vec::new();
        frame::push(&mut out, json!({"id": id, "op": "hello"}).to_string().as_bytes());
        let facts = match self.exchange([&out, &[]], &[id], talk)? {
            Response::Reply(bytes) => serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default(),
            Response::Nothing | Response::Failed { .. } => serde_json::Value::Null,
        };
        let text = |key: &str| facts.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        Ok(PythonInfo { version: text("python"), executable: text("executable") })
    }

    /// Imports the module of a hook and finds its function.
    pub(super) fn load(
        &mut self,
        spec: &PythonSpec,
        hook: &Arc<str>,
        talk: &Talk<'_>,
    ) -> Result<Response, Lost> {
        let mut out = Vec::new();
        let id = self.push_load(&mut out, spec, hook);
        self.exchange([&out, &[]], &[id], talk)
    }

    fn push_load(&mut self, out: &mut Vec<u8>, spec: &PythonSpec, hook: &Arc<str>) -> u64 {
        let id = self.next_id();
        let number = self.loaded.len();
        let number = *self.loaded.entry(Arc::clone(hook)).or_insert(number);
        let header = json!({
            "id": id, "op": "load", "hook": number, "name": &**hook,
            "module": spec.module, "function": spec.function,
            "paths": self.paths(spec), "fork": spec.fork, "max_reply": MAX_REPLY,
        });
        frame::push(out, header.to_string().as_bytes());
        id
    }

    /// Where the module is looked for. Python is started so that it ignores `PYTHONPATH`; a hook that asks for
    /// it gets its folders here.
    fn paths(&self, spec: &PythonSpec) -> Vec<PathBuf> {
        let asked = self.python_path.iter().filter(|_| spec.env_pass.iter().any(|name| name == "PYTHONPATH"));
        let folders = asked.flat_map(|path| std::env::split_paths(path)).filter(|folder| folder.is_absolute());
        spec.paths.iter().cloned().chain(folders).collect()
    }

    /// Calls the function of a hook with an event.
    pub(super) fn call(
        &mut self,
        spec: &PythonSpec,
        hook: &Arc<str>,
        event: &str,
        phase: u8,
        cwd: Option<&str>,
        talk: &Talk<'_>,
    ) -> Result<Response, Lost> {
        let mut out = Vec::with_capacity(256 + if event.len() < ONE_PIECE { event.len() } else { 0 });
        let mut ids = [0; 2];
        let mut awaited = 0;
        // The first call carries the request to load before it: one way there and back for both.
        if !self.loaded.contains_key(hook) {
            ids[0] = self.push_load(&mut out, spec, hook);
            awaited = 1;
        }
        let number = self.loaded.get(hook).copied().unwrap_or_default();
        ids[awaited] = self.next_id();
        let left = talk.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let cwd = cwd.map_or(String::new(), |cwd| format!(",\"cwd\":{}", json!(cwd)));
        let id = ids[awaited];
        let header = format!(
            "{{\"id\":{id},\"op\":\"call\",\"hook\":{number},\"phase\":{phase},\"timeout\":{left:.3}{cwd}}}"
        );
        frame::push(&mut out, header.as_bytes());
        frame::push_length(&mut out, event.len());
        let rest = if event.len() < ONE_PIECE {
            out.extend_from_slice(event.as_bytes());
            &[][..]
        } else {
            event.as_bytes()
        };
        self.exchange([&out, rest], &ids[..=awaited], talk)
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

    /// Writes requests and reads the responses to them; gives the last one back.
    fn exchange(&mut self, parts: [&[u8]; 2], ids: &[u64], talk: &Talk<'_>) -> Result<Response, Lost> {
        let result = self.try_exchange(parts, ids, talk);
        self.is_lost |= result.is_err();
        result
    }

    fn try_exchange(&mut self, mut parts: [&[u8]; 2], ids: &[u64], talk: &Talk<'_>) -> Result<Response, Lost> {
        self.said.clear();
        let mut lines = Lines::default();
        let mut awaited = ids.iter();
        let mut id = *awaited.next().unwrap_or(&0);
        loop {
            self.write(&mut parts);
            let writes = parts.iter().any(|part| !part.is_empty());
            let waited = Waited {
                stdin: self.stdin.as_ref().filter(|_| writes).map(AsFd::as_fd),
                stdout: Some(self.stdout.as_fd()),
                stderr: self.stderr.as_ref().map(AsFd::as_fd),
                cancel: talk.cancel,
                bell: talk.bell,
            };
            let left = talk.deadline.saturating_duration_since(Instant::now());
            let ready =
                os::wait_ready(waited, &self.exit, left).map_err(|error| Lost::Gone(error.to_string()))?;
            if ready.stderr {
                self.read_said(&mut lines, talk);
            }
            let mut ended = false;
            if ready.stdout || ready.exited {
                ended = self.read_responses();
                while let Some(response) = self.reader.response(id).map_err(Lost::Gone)? {
                    match awaited.next() {
                        Some(next) => id = *next,
                        None => return self.over(response, &mut lines, talk),
                    }
                }
            }
            if ready.exited || ended {
                return Err(Lost::Gone("its worker ended in the middle of the call".to_owned()));
            }
            if ready.cancelled {
                return Err(Lost::Cancelled);
            }
            if Instant::now() >= talk.deadline {
                return Err(Lost::Late);
            }
        }
    }

    fn over(&mut self, response: Response, lines: &mut Lines, talk: &Talk<'_>) -> Result<Response, Lost> {
        // What the hook printed was written before its answer, so it is in the pipe by now.
        if talk.progress.is_some() {
            while self.stderr.as_ref().map_or(0, os::available) > 0 && self.read_said(lines, talk) {}
            let rest = lines.rest();
            if let (Some(progress), false) = (talk.progress, rest.is_empty()) {
                progress(rest);
            }
        }
        if !self.reader.is_empty() {
            return Err(Lost::Gone("its worker answered more than it was asked".to_owned()));
        }
        Ok(response)
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

    /// Reads what the hook printed. False when nothing will come any more.
    fn read_said(&mut self, lines: &mut Lines, talk: &Talk<'_>) -> bool {
        let Some(stderr) = &mut self.stderr else { return false };
        match read(stderr, &mut self.scratch) {
            Got::Bytes(count) => {
                let bytes = &self.scratch[..count];
                let room = MAX_SAID.saturating_sub(self.said.len());
                self.said.extend_from_slice(&bytes[..count.min(room)]);
                if let Some(progress) = talk.progress {
                    let whole = lines.take(bytes);
                    if !whole.is_empty() {
                        progress(whole);
                    }
                }
                true
            }
            Got::Nothing => true,
            Got::End => {
                self.stderr = None;
                false
            }
        }
    }
}

impl Drop for Link {
    /// The end of its input ends a worker that is well, with its files flushed; a lost one is asked to end.
    /// Then it is killed, with its group.
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        self.stdin = None;
        if self.is_lost {
            os::signal_group(&self.exit, Urge::Term);
        }
        let over = Instant::now() + GRACE;
        while !self.exit.has_exited() {
            let left = over.saturating_duration_since(Instant::now());
            if left.is_zero() || os::wait_ready(Waited::default(), &self.exit, left).is_err() {
                break;
            }
        }
        os::signal_group(&self.exit, Urge::Kill);
        let _ = child.wait();
    }
}
