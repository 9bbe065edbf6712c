//! Sends the messages about one hook's run to listeners.

use std::sync::Arc;

use crosier_protocol::{Answer, Event, FailureKind};

use crate::message::{Bus, HookEnd, Message, MessageKind};
use crate::registry::Entry;

/// Created only if there are listeners. Dropping it before [`end`](Self::end) reports the run as cancelled.
#[derive(Debug)]
pub(super) struct Notifier {
    bus: Arc<Bus>,
    /// The fields that all messages of the run share.
    template: Message,
    output: ProcessOutput,
    /// Whether the fire or the engine stopped it.
    cancelled: bool,
    ended: bool,
}

/// What a process wrote, and its exit code.
#[derive(Debug, Default)]
pub(super) struct ProcessOutput {
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Notifier {
    #[inline]
    pub(super) fn start(bus: &Arc<Bus>, hook: &Entry, event: &Event) -> Option<Self> {
        bus.has_listeners().then(|| Self::send_start(bus, hook, event))
    }

    #[cold]
    fn send_start(bus: &Arc<Bus>, hook: &Entry, event: &Event) -> Self {
        let template = Message {
            hook_id: uuid::Uuid::now_v7().to_string().into(),
            hook_name: Arc::clone(&hook.name),
            hook_event: hook.kind.name,
            session_id: event.session_id().into(),
            kind: MessageKind::Started,
        };
        bus.send(&template);
        Self {
            bus: Arc::clone(bus),
            template,
            output: ProcessOutput::default(),
            cancelled: false,
            ended: false,
        }
    }

    fn send(&self, kind: MessageKind) {
        self.bus.send(&Message { kind, ..self.template.clone() });
    }

    pub(super) fn progress(&self, stdout: String, stderr: String) {
        self.send(MessageKind::Progress { stdout, stderr });
    }

    /// Sets the output that the last message reports.
    pub(super) fn set_output(&mut self, output: ProcessOutput) {
        self.output = output;
    }

    /// Discards the output of the first run: the last message reports only the second.
    pub(super) fn clear_output(&mut self) {
        self.output = ProcessOutput::default();
    }

    pub(super) fn set_cancelled(&mut self) {
        self.cancelled = true;
    }

    pub(super) fn end(mut self, answer: &Answer) {
        self.ended = true;
        let outcome = match &answer.failure {
            None => HookEnd::Success,
            Some(failure) if self.cancelled || failure.kind == FailureKind::Timeout => HookEnd::Cancelled,
            Some(_) => HookEnd::Error,
        };
        self.send_end(outcome);
    }

    fn send_end(&mut self, outcome: HookEnd) {
        let ProcessOutput { exit_code, stdout, stderr } = std::mem::take(&mut self.output);
        self.send(MessageKind::Response { outcome, exit_code, stdout, stderr });
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        if !self.ended {
            self.send_end(HookEnd::Cancelled);
        }
    }
}
