//! A conversation that grew too long is replaced by a summary of itself.

use crosier::payload::{PreCompact, SessionStart};
use crosier::{ActionGate, Gates};

use super::actor::{Actor, End};
use crate::conversation::{Block, Message, Role};
use crate::session::Record;

const INSTRUCTIONS: &str =
    "Summarise the conversation so far: what was asked, what was done, what is left to do.";

impl Actor {
    pub(super) async fn compact_if_needed(&mut self) -> Result<(), End> {
        if self.size() <= self.compact_over {
            return Ok(());
        }
        self.enter_phase("compacting").await;
        let compacted = self.compact("auto").await;
        self.enter_phase("working").await;
        compacted
    }

    /// The characters of the conversation.
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

    async fn compact(&mut self, trigger: &str) -> Result<(), End> {
        let event =
            PreCompact { trigger: trigger.to_owned(), custom_instructions: None, ..Default::default() };
        let instructions = match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("not compacted", &refusal.reason).await;
                // Asked again only when there is clearly more to compact.
                self.compact_over = self.size() + self.size() / 5;
                return Ok(());
            }
            ActionGate::Go(instructions) => instructions.map(|json| json.plain().into_owned()),
        };
        let system = match instructions {
            Some(more) if !more.is_empty() => format!("{INSTRUCTIONS}\n{more}"),
            _ => INSTRUCTIONS.to_owned(),
        };
        // What the model is in the middle of stays: a tool result must follow its call.
        let newest = self.messages.pop();
        let turn = self.ask_model(&system).await?;
        let summary = Message { role: Role::Assistant, content: turn.content }.words();
        let _ = self.transcript.push(&Record::Cleared { why: "compact".to_owned() });
        self.messages.clear();
        let failed = |error: crate::session::SessionError| End::Failed(error.to_string());
        let newest = newest.map(|message| message.words()).filter(|words| !words.is_empty());
        let next = newest.unwrap_or_else(|| "Go on.".to_owned());
        self.say(Message::user(format!("Summary of the conversation so far:\n{summary}\n\n{next}")))
            .map_err(failed)?;
        self.show("compacted the conversation".to_owned()).await;
        self.fire(SessionStart { source: "compact".to_owned(), ..Default::default() }).await;
        Ok(())
    }
}
