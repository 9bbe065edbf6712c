//! `audit`: a tamper-evident log of every event.
//!
//! One JSON object a line. Each holds the hash of the one before it (`prev`) and its own (`hash`) of all bytes of the
//! line before `,"hash"`. Whoever changes, removes or inserts a record breaks the chain at that place; `crosier audit
//! verify` finds it. With a state folder of the host ([`Anchors`]) the hash is an HMAC-SHA256 whose key only the owner
//! can read, and the number and hash of the last record are kept apart from the log, so that a cut end shows too.
//! Without one it is a SHA-256: then whoever can write to the file can write a chain that verifies.
//!
//! What it cannot promise: code that runs as the owner of the key can read it, and write a log that verifies. Only a
//! log on another machine, or of another user, resists that. A record says what hooks decided and not what a tool then
//! did.
//!
//! An observing hook sees denied events too, and has no effect. Several processes may write to the same file. A process
//! that is killed while it writes leaves at most a partial record; the next record says so (`after_torn`), and
//! everything before it still verifies. A symbolic link in place of the log, its lock or the key is refused.
//!
//! # Options
//! - `file`: where to write (relative to the configuration; default `audit.jsonl`). For its owner only.
//! - `payload`: `shape` (default: kind, size, field names and hash of each payload field, no text) or `full` (the
//!   payload itself, with secrets masked). A hash tells nothing but whether two texts are the same; a short text can
//!   be guessed from it.
//! - `max_size`: a file that has grown to this size is renamed to `audit.jsonl.000001` and so on, and the chain goes
//!   on in a new one (default 64 MB).
//! - `keep`: how many renamed files stay (default: all).
//! - `fsync`: `never` (default: safe when a process dies), `always` (safe when the power fails; slow), or a time like
//!   `1s` (safe but for the last second).
//!
//! - `required`: with `true`, an event that cannot be written down is denied. Such a hook does not observe: it writes
//!   the event at its place in the plan, before it is known what later hooks say. Give it the smallest priority.
//!
//! On every event, with `observe: true`; with `required`, on every event that can be denied.

mod anchor;
mod chain;
mod log;
mod read;
mod record;
mod stats;
mod tail;
mod verify;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Failure, Mode, Reply};

pub use anchor::Anchors;
pub use log::{Fsync, Log, Settings};
pub use read::{Entry, read};
pub use record::Payload;
pub use stats::{Count, Stats, stats};
pub use verify::{Problem, ProblemKind, Protection, Verified, verify};

use crate::option;

/// The built-in hook. Hooks that name the same file share it.
#[derive(Debug, Default)]
pub struct Audit {
    anchors: Option<Anchors>,
    logs: Mutex<HashMap<PathBuf, Weak<Log>>>,
}

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("file", "where to write"),
    BuiltinOption::new("payload", "shape or full"),
    BuiltinOption::new("max_size", "the size at which a new file is begun"),
    BuiltinOption::new("keep", "how many old files stay"),
    BuiltinOption::new("fsync", "never, always, or a time like 1s"),
    BuiltinOption::new("required", "true: an event that cannot be recorded is denied"),
];

impl Builtin for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn about(&self) -> &'static str {
        "writes every event to a tamper-evident log (with observe: true)"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let required = request.boolean("required").unwrap_or(false);
        let fine = check_place(request, required);
        let file = request.text("file").unwrap_or_else(|| "audit.jsonl".to_owned());
        let path = request.folder().join(file);
        let payload =
            option::word(request, "payload", &[("shape", Payload::Shape), ("full", Payload::Full)]).ok()?;
        let max_size = option::size(request, "max_size").ok()?;
        let keep = match request.integer("keep").map(usize::try_from) {
            None => None,
            Some(Ok(keep)) if keep > 0 => Some(keep),
            Some(_) => {
                request.error(
                    "keep",
                    "at least one old file must stay: the chain goes on from it",
                    "leave `keep` out to keep all files",
                );
                return None;
            }
        };
        let said = request.node("fsync").map(|node| node.as_text().unwrap_or_default().to_owned());
        let fsync = match said.as_deref() {
            None | Some("never") => Fsync::Never,
            Some("always") => Fsync::Always,
            Some(_) => Fsync::Every(request.duration("fsync")?),
        };
        fine?;
        let defaults = Settings::default();
        let settings = Settings { max_size: max_size.unwrap_or(defaults.max_size), keep, fsync };
        let log = self.log(path, settings);
        let payload = payload.unwrap_or_default();
        let code = Arc::new(move |call: Call<'_>| answer(&log, payload, required, call));
        // An fsync can take long, so it must not run inline; a write to the page cache is fast.
        Some(if fsync == Fsync::Never { Callback::Inline(code) } else { Callback::Blocking(code) })
    }
}

/// Checks where the hook is used: as an observer on any event; with `required`, on events that can be denied.
fn check_place(request: &mut BuiltinRequest<'_>, required: bool) -> Option<()> {
    match (required, request.mode()) {
        (false, Mode::Observe) => Some(()),
        (false, _) => {
            request.error(
                "",
                "`audit` must be an observer; otherwise it would miss denied events",
                "add `observe: true` to the hook",
            );
            None
        }
        (true, Mode::Sequential) if request.event().capabilities.has(Capability::Deny) => Some(()),
        (true, Mode::Sequential) => {
            let message =
                format!("{} cannot be denied, so `required` has no effect there", request.event().name);
            request.error("required", message, "leave `required` out and add `observe: true`");
            None
        }
        (true, _) => {
            request.error(
                "required",
                "an audit hook with `required` must be able to deny",
                "leave observe, parallel and background out",
            );
            None
        }
    }
}

impl Audit {
    /// The hook with a key and the ends of its logs in this folder.
    #[must_use]
    pub fn anchored(anchors: Option<Anchors>) -> Self {
        Self { anchors, ..Self::default() }
    }

    fn log(&self, path: PathBuf, settings: Settings) -> Arc<Log> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = logs.get(&path).and_then(Weak::upgrade).filter(|log| *log.settings() == settings) {
            return log;
        }
        let log = Arc::new(Log::new(path.clone(), settings).anchored(self.anchors.clone()));
        logs.insert(path, Arc::downgrade(&log));
        log
    }
}

fn answer(log: &Log, payload: Payload, required: bool, call: Call<'_>) -> Answer {
    match log.append(|line| record::write(line, call.event, payload)) {
        Ok(_) => Reply::none().into(),
        Err(error) if required => {
            Reply::deny(format!("the audit log is required and cannot be written: {error}")).into()
        }
        Err(error) => Failure::error(format!("the audit log cannot be written: {error}")).into(),
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
