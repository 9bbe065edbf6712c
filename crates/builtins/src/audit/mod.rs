//! `audit`: a log of every event that cannot be changed unnoticed.
//!
//! One JSON object a line. Each holds the hash of the one before it (`prev`) and its own (`hash`): SHA-256 of all
//! bytes of the line before `,"hash"`. Whoever changes, removes or inserts a record breaks the chain at that place;
//! `crosier audit verify` finds it. What a chain cannot show is that records are missing *at the end*: keep the last
//! hash elsewhere (`verify` prints it) and hand it to `verify --contains`.
//!
//! The hook observes: it sees denied events too, and has no effect. Several processes may write to the same file. A
//! process that is killed while it writes leaves a part of a record at most; the next record says so (`after_torn`),
//! and everything before it still verifies.
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
//! On every event, with `observe: true`.

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
use crosier::{Answer, Call, Callback, Failure, Mode, Reply};

pub use log::{Fsync, Log, Settings};
pub use read::{Entry, read};
pub use record::Payload;
pub use stats::{Count, Stats, stats};
pub use verify::{Flaw, Problem, Verified, verify};

use crate::option;

/// The built-in hook. Hooks that name the same file share it.
#[derive(Debug, Default)]
pub struct Audit {
    logs: Mutex<HashMap<PathBuf, Weak<Log>>>,
}

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("file", "where to write"),
    BuiltinOption::new("payload", "shape or full"),
    BuiltinOption::new("max_size", "the size at which a new file is begun"),
    BuiltinOption::new("keep", "how many old files stay"),
    BuiltinOption::new("fsync", "never, always, or a time like 1s"),
];

impl Builtin for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn about(&self) -> &'static str {
        "writes every event to a log that cannot be changed unnoticed (with observe: true)"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = Some(());
        if request.mode() != Mode::Observe {
            request.complain(
                "",
                "`audit` only observes: without that it would miss what is denied",
                "add `observe: true` to the hook",
            );
            fine = None;
        }
        let file = request.text("file").unwrap_or_else(|| "audit.jsonl".to_owned());
        let path = request.folder().join(file);
        let payload =
            option::word(request, "payload", &[("shape", Payload::Shape), ("full", Payload::Full)]).ok()?;
        let max_size = option::size(request, "max_size").ok()?;
        let keep = match request.integer("keep").map(usize::try_from) {
            None => None,
            Some(Ok(keep)) if keep > 0 => Some(keep),
            Some(_) => {
                request.complain(
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
        let code = Arc::new(move |call: Call<'_>| answer(&log, payload, call));
        // Waiting for a disk is waiting; writing to memory that becomes a file is not.
        Some(if fsync == Fsync::Never { Callback::Inline(code) } else { Callback::Blocking(code) })
    }
}

impl Audit {
    fn log(&self, path: PathBuf, settings: Settings) -> Arc<Log> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = logs.get(&path).and_then(Weak::upgrade).filter(|log| *log.settings() == settings) {
            return log;
        }
        let log = Arc::new(Log::new(path.clone(), settings));
        logs.insert(path, Arc::downgrade(&log));
        log
    }
}

fn answer(log: &Log, payload: Payload, call: Call<'_>) -> Answer {
    match log.append(|line| record::write(line, call.event, payload)) {
        Ok(_) => Reply::none().into(),
        Err(error) => Failure::error(format!("the audit log cannot be written: {error}")).into(),
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
