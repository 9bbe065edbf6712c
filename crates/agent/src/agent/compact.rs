//! Replaces a conversation that has become too long by its summary.

use crosier::payload::PreCompact;
use crosier::{ActionGate, Gates};

use super::actor::Actor;
use super::end::End;
use crate::conversation::{Block, Message, Role};
use crate::session::Record;

const INSTRUCTIONS: &str =
    "Summarise the conversation so far: what was asked, what was done, what is left to do.";

impl Actor {
    pub(super) async fn compact_if_needed(&mut self) -> Result<(), End> {
        if self.size() <= self.compact_over {
            return Ok(());
        }
        self.compact("auto").await
    }

    /// Shortens the conversation now; `trigger` is what caused it (`manual`, `auto`).
    ///
    /// # Errors
    /// Why the loop cannot go on.
    pub async fn compact(&mut self, trigger: &str) -> Result<(), End> {
        self.compact_keeping(trigger, None).await
    }

    /// Like [`Actor::compact`], with a person's instructions on what the summary must keep (`/compact WORDS`).
    ///
    /// # Errors
    /// Why the loop cannot go on.
    pub async fn compact_keeping(&mut self, trigger: &str, keep: Option<String>) -> Result<(), End> {
        self.enter_phase("compacting").await;
        let compacted = self.shorten(trigger, keep).await;
        self.enter_phase("working").await;
        // Compact again only after it has clearly grown: the summary itself may be long.
        if self.size() > self.compact_over {
            self.compact_over = self.size() + self.size() / 5;
        }
        compacted
    }

    /// The number of characters in the conversation.
    fn size(&self) -> usize {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        blocks
            .map(|block| match block {
                Block::Text { text } => text.len(),
                Block::ToolUse { input, .. } => input.text().len(),
                Block::ToolResult { content, .. } => content.len(),
            })
            .sum()
    }

    async fn shorten(&mut self, trigger: &str, keep: Option<String>) -> Result<(), End> {
        let event = PreCompact::new(trigger, keep.clone());
        let instructions = match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("not compacted", &format!("{} ({})", refusal.reason, refusal.by)).await;
                return Ok(());
            }
            ActionGate::Go(None) => keep,
            ActionGate::Go(Some(changed)) => Some(changed.plain().into_owned()),
        };
        let system = match instructions {
            Some(more) if !more.is_empty() => format!("{INSTRUCTIONS}\n{more}"),
            _ => INSTRUCTIONS.to_owned(),
        };
        let (what, text) = ("compacting".to_owned(), system.clone());
        let _ = self.transcript.push(&Record::Note { what, text });
        // The request is repeated at the end: otherwise the model might answer the person's last message here.
        let mut messages = self.messages.clone();
        match messages.last_mut() {
            Some(last) if last.role == Role::User => last.content.push(Block::text(system.as_str())),
            _ => messages.push(Message::user(system.as_str())),
        }
        let turn = self.ask_about(&system, &messages).await?;
        let summary = Message { role: Role::Assistant, content: turn.content }.words();
        // Messages that the model has not answered yet are kept unchanged.
        let next = self.newest();
        let next = if next.is_empty() { "Go on.".to_owned() } else { next };
        let _ = self.transcript.push(&Record::Cleared { why: "compact".to_owned() });
        self.messages.clear();
        self.say(Message::user(format!("Summary of the conversation so far:\n{summary}\n\n{next}")))
            .map_err(|error| End::Failed(error.to_string()))?;
        self.show("compacted the conversation".to_owned()).await;
        self.start_session("compact").await;
        Ok(())
    }
}
