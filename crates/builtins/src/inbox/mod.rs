//! `inbox`: content that the host, a person or another agent pushes while an agent works. It is delivered with the
//! next tool result: mid-stream injection.
//!
//! Messages come from the host's code ([`Inbox::push`]), or as files that are dropped into a folder. Each agent gets
//! each message at most once, also when several processes look into the same folder. A message can expire, can be
//! meant for some agents only, and for some tools only.
//!
//! # Files
//! Write a file under a name that begins with `.` or ends in `.tmp`, then rename it. A `.json` file is
//!
//! ```json
//! {"content": "the build is green", "strategy": "tool_result", "target": ["agent1"], "tool_matcher": "*",
//!  "from": "ci", "sequence": 42, "id": "build-42", "expires_at": 1794700800, "expires_in": 60}
//! ```
//!
//! where only `content` is required; `expires_at` is in seconds since 1970 or RFC 3339, `expires_in` is in seconds
//! from when the file was written. MassGen's form `{"inject": {"content": …, "strategy": …}, …}` is read too. A
//! `.txt` or `.md` file is a message whose text is the whole file. Files with the same `id` (or the same `from` and
//! `sequence`) are the same message. A file that cannot be read is reported once, moved to `.crosier/rejected/`, and
//! blocks no other message.
//!
//! # Options
//! - `folder`: where files are dropped (relative to the configuration). Without it only the host can push.
//! - `strategy`: `tool_result` (default) or `user_message`, for messages that do not name one.
//! - `max_age`: messages without an expiry of their own are dropped after this time (default 24 h).
//!
//! On `PostToolUse` and `PostToolUseFailure`.

mod folder;
mod memory;
mod message;
mod time;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Answer, Call, Callback, Capability, Reply, Strategy};

pub use memory::{Inbox, InboxFull};
pub use message::Message;

use crate::{guard, option};
use folder::Folder;

/// The built-in hook, with the inbox that the host pushes into.
#[derive(Debug, Clone)]
pub struct InboxHook {
    inbox: Inbox,
}

impl InboxHook {
    /// The hook that delivers from this inbox, and from a folder when its options name one.
    #[must_use]
    pub fn new(inbox: &Inbox) -> Self {
        Self { inbox: inbox.clone() }
    }
}

const OPTIONS: &[BuiltinOption] = &[
    BuiltinOption::new("folder", "the folder in which messages arrive as files"),
    BuiltinOption::new("strategy", "tool_result or user_message, for messages that do not say"),
    BuiltinOption::new("max_age", "how long a message without an expiry is kept"),
];

const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

impl Builtin for InboxHook {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn about(&self) -> &'static str {
        "delivers messages of the host or of other agents with the next tool result"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        let mut fine = guard::check_mode(request, self.name());
        if !request.event().capabilities.has(Capability::Inject) {
            let message = format!("nothing can be injected at {}", request.event().name);
            request.error("", message, "put it under PostToolUse");
            fine = None;
        }
        let strategies = [("tool_result", Strategy::ToolResult), ("user_message", Strategy::UserMessage)];
        let strategy = option::word(request, "strategy", &strategies).ok()?.unwrap_or(Strategy::ToolResult);
        let folder: Option<PathBuf> = request.text("folder").map(|path| request.folder().join(path));
        let max_age = request.duration("max_age").unwrap_or(MAX_AGE);
        fine?;
        let folder = folder.map(|path| Folder::new(path, max_age));
        let delivery = Delivery { inbox: self.inbox.clone(), folder, strategy };
        // A folder may be on a slow disk, so it is read on a thread; memory needs none.
        let has_folder = delivery.folder.is_some();
        let code = Arc::new(move |call: Call<'_>| delivery.answer(call));
        Some(if has_folder { Callback::Blocking(code) } else { Callback::Inline(code) })
    }
}

struct Delivery {
    inbox: Inbox,
    folder: Option<Folder>,
    strategy: Strategy,
}

impl Delivery {
    fn answer(&self, call: Call<'_>) -> Answer {
        let reader = Reader {
            agent: call.event.agent_id().unwrap_or_default(),
            tool: call.event.matcher_value().unwrap_or_default(),
            now: SystemTime::now(),
        };
        let mut reply = Reply::none();
        let mut messages = self.inbox.take(&reader);
        if let Some(folder) = &self.folder {
            let found = folder.take(&reader);
            messages.extend(found.messages);
            for problem in found.problems {
                reply = reply.log("warn", format!("inbox: {problem}"));
            }
        }
        for message in messages {
            reply = reply.inject(message.strategy.unwrap_or(self.strategy), message.content);
        }
        reply.into()
    }
}

/// Who looks into the inbox, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) agent: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) now: SystemTime,
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
