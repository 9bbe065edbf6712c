//! The turns of an agent: compaction, the model, its tools, and stopping.

use crosier::payload::{PostMessage, PreMessage, Stop};
use crosier::{ActionGate, Gates, Outcome, OutputGate, StopGate};

use super::actor::{Actor, ActorKind};
use super::end::End;
use super::tools::Call;
use crate::conversation::{Block, Message, Role};
use crate::model::{ModelRequest, Turn};
use crate::session::Record;

/// How often hooks may keep the loop from stopping.
const MAX_RESUMES: usize = 8;

impl Actor {
    /// Works until the model has nothing left to do, or something stops it.
    pub(super) async fn work(&mut self) -> End {
        match self.turns().await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn turns(&mut self) -> Result<End, End> {
        for _ in 0..self.setup.max_turns {
            self.check_stop()?;
            self.compact_if_needed().await?;
            let turn = self.turn().await?;
            let calls = turn.content.into_iter().filter_map(Call::of).collect::<Vec<_>>();
            if !calls.is_empty() {
                self.call_tools(calls).await?;
                continue;
            }
            self.check_stop()?;
            if let Some(end) = self.stop().await? {
                return Ok(end);
            }
        }
        Err(End::OutOfTurns)
    }

    /// One call of the model, with its events.
    async fn turn(&mut self) -> Result<Turn, End> {
        let model = self.session_context.model.name().to_owned();
        let outcome = self.fire(PreMessage::new(self.newest()).model(model.clone())).await;
        match outcome.prompt_gate() {
            ActionGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.withhold()?;
                self.note("denied", &format!("message: {} ({})", refusal.reason, refusal.by)).await;
                return Err(End::Denied(refusal.reason.to_string()));
            }
            ActionGate::Go(None) => {}
            ActionGate::Go(Some(prompt)) => self.replace_newest(&prompt.plain())?,
        }
        if !self.pending.is_empty() {
            // The system prompt is not part of the conversation, so what hooks add to it is recorded here.
            let (what, text) = ("context".to_owned(), self.pending.lines().join("\n"));
            let _ = self.transcript.push(&Record::Note { what, text });
        }
        let system = self.pending.apply(&self.setup.system_prompt);
        let mut turn = self.ask_model(&system).await?;
        let words = Message { role: Role::Assistant, content: turn.content.clone() }.words();
        let gate = self.fire(PostMessage::new(words.as_str()).model(model)).await.result_gate();
        if let OutputGate::Replace(output) = gate.output {
            turn.content.retain(|block| !matches!(block, Block::Text { .. }));
            turn.content.insert(0, Block::text(output.plain()));
        }
        let message = Message { role: Role::Assistant, content: turn.content.clone() };
        let said = message.words();
        self.say(message).map_err(|error| End::Failed(error.to_string()))?;
        if !said.is_empty() {
            self.show(format!("{}: {said}", self.id)).await;
        }
        Ok(turn)
    }

    pub(super) async fn ask_model(&self, system: &str) -> Result<Turn, End> {
        self.ask_about(system, &self.messages).await
    }

    /// Asks the model about a conversation.
    pub(super) async fn ask_about(&self, system: &str, messages: &[Message]) -> Result<Turn, End> {
        let (session_context, tools) = (&self.session_context, self.setup.specs());
        let request =
            ModelRequest { system, messages, tools: &tools, max_tokens: session_context.settings.max_tokens };
        let mut ignore = |_: &str| {};
        tokio::select! {
            biased;
            () = session_context.interrupt.wait() => Err(End::Interrupted),
            turn = session_context.model.turn(request, &mut ignore) => turn.map_err(|error| End::Failed(error.to_string())),
        }
    }

    /// The index of the first message that the model has not seen yet.
    fn unseen(&self) -> usize {
        self.messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1)
    }

    /// What the model has not seen yet: text and tool results.
    pub(super) fn newest(&self) -> String {
        let blocks = self.messages.iter().skip(self.unseen()).flat_map(|message| &message.content);
        let session_context = blocks.filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolResult { content, .. } => Some(content.as_str()),
            Block::ToolUse { .. } => None,
        });
        session_context.collect::<Vec<_>>().join("\n")
    }

    /// Replaces what the model has not seen yet by a hook's text. The first block contains it; tool results
    /// keep their ids, and every other block refers to the first.
    fn replace_newest(&mut self, text: &str) -> Result<(), End> {
        let mut text = Some(text.to_owned());
        self.change_newest(|block| match block {
            Block::Text { .. } => text.take().map(|text| Block::Text { text }),
            Block::ToolResult { tool_use_id, is_error, .. } => {
                let content = text.take().unwrap_or_else(|| "(see above)".to_owned());
                Some(Block::ToolResult { tool_use_id, content, is_error })
            }
            Block::ToolUse { .. } => Some(block),
        })
    }

    /// Removes what the model was not allowed to see, so that it is not sent with the next message.
    fn withhold(&mut self) -> Result<(), End> {
        self.change_newest(|block| match block {
            Block::Text { .. } => None,
            // Every call needs a result. The reason is left out: it may quote the text that the hook objected to.
            Block::ToolResult { tool_use_id, .. } => {
                let content = "Error: withheld by a hook".to_owned();
                Some(Block::ToolResult { tool_use_id, content, is_error: true })
            }
            Block::ToolUse { .. } => Some(block),
        })
    }

    /// Changes what the model has not seen yet, also in the transcript: what a hook hid must not reappear in a
    /// resumed session.
    fn change_newest(&mut self, mut change: impl FnMut(Block) -> Option<Block>) -> Result<(), End> {
        let unseen = self.messages.split_off(self.unseen());
        let count = unseen.len();
        let messages: Vec<Message> = unseen
            .into_iter()
            .map(|Message { role, content }| Message {
                role,
                content: content.into_iter().filter_map(&mut change).collect(),
            })
            .filter(|message| !message.content.is_empty())
            .collect();
        self.messages.extend(messages.iter().cloned());
        let record = Record::Replaced { count, messages };
        self.transcript.push(&record).map_err(|error| End::Failed(error.to_string()))
    }

    /// Called when the model wants to stop. Returns `None` when a hook makes it continue.
    async fn stop(&mut self) -> Result<Option<End>, End> {
        let outcome: Outcome = match self.kind {
            ActorKind::Main => {
                let stop_hook_active = self.resumes > 0;
                self.fire(Stop::new().stop_hook_active(stop_hook_active)).await
            }
            ActorKind::Subagent => self.fire_stop().await,
        };
        match outcome.stop_gate() {
            StopGate::Halt(halt) => Err(End::Halted(halt.reason)),
            StopGate::Stop => Ok(Some(End::Done)),
            StopGate::Resume(resume) if self.resumes >= MAX_RESUMES => {
                self.note(
                    "stopped",
                    &format!("{} wanted to continue after {MAX_RESUMES} resumes", resume.by),
                )
                .await;
                Ok(Some(End::Done))
            }
            StopGate::Resume(resume) => {
                self.resumes += 1;
                self.note("resumed", &format!("by {}: {}", resume.by, resume.reason)).await;
                let reason = if resume.reason.is_empty() { "Go on." } else { &resume.reason };
                self.say(Message::user(reason)).map_err(|error| End::Failed(error.to_string()))?;
                Ok(None)
            }
        }
    }
}
