//! Messages about running hooks, for listeners.
//!
//! Input: the progress of a run. Output: [`Message`]s to every [`Listener`]. Without a listener this costs
//! one atomic read. A listener has a bounded queue: a slow one does not slow down a fire, and is told how
//! many messages it missed.

mod bus;

use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap;

pub(crate) use bus::Bus;
pub use bus::Listener;

/// A message about a hook's run: it started, wrote output, or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Identifies one run; unique across processes.
    pub hook_id: Arc<str>,
    /// The hook's name as shown.
    pub hook_name: Arc<str>,
    /// The event.
    pub hook_event: &'static str,
    /// The session.
    pub session_id: Arc<str>,
    /// What happened.
    pub kind: MessageKind,
}

/// What happened in a hook's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageKind {
    /// It is about to run.
    Started,
    /// It wrote output; whole lines where possible.
    Progress {
        /// What it wrote to stdout.
        stdout: String,
        /// What it wrote to stderr.
        stderr: String,
    },
    /// It ended.
    Response {
        /// How it ended.
        outcome: HookEnd,
        /// Its exit code, if it is a process that has one.
        exit_code: Option<i32>,
        /// What it wrote to stdout; empty for callbacks.
        stdout: String,
        /// The last part of what it wrote to stderr.
        stderr: String,
    },
}

/// How a hook's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEnd {
    /// It answered.
    Success,
    /// It failed.
    Error,
    /// It was stopped, at its deadline or because the fire was cancelled.
    Cancelled,
}

/// What a listener receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(Message),
    /// This many messages did not fit into the queue and were dropped.
    Missed(u64),
}

/// The same JSON as in the Claude SDK: `{"type":"system","subtype":"hook_started",…}`.
impl Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", "system")?;
        let subtype = match self.kind {
            MessageKind::Started => "hook_started",
            MessageKind::Progress { .. } => "hook_progress",
            MessageKind::Response { .. } => "hook_response",
        };
        map.serialize_entry("subtype", subtype)?;
        map.serialize_entry("hook_id", &self.hook_id)?;
        map.serialize_entry("hook_name", &self.hook_name)?;
        map.serialize_entry("hook_event", self.hook_event)?;
        match &self.kind {
            MessageKind::Started => {}
            MessageKind::Progress { stdout, stderr } => {
                map.serialize_entry("stdout", stdout)?;
                map.serialize_entry("stderr", stderr)?;
                map.serialize_entry("output", &format!("{stdout}{stderr}"))?;
            }
            MessageKind::Response { outcome, exit_code, stdout, stderr } => {
                map.serialize_entry("outcome", outcome)?;
                if let Some(code) = exit_code {
                    map.serialize_entry("exit_code", code)?;
                }
                map.serialize_entry("stdout", stdout)?;
                map.serialize_entry("stderr", stderr)?;
                map.serialize_entry("output", &format!("{stdout}{stderr}"))?;
            }
        }
        map.serialize_entry("uuid", &uuid::Uuid::now_v7().to_string())?;
        map.serialize_entry("session_id", &self.session_id)?;
        map.end()
    }
}
