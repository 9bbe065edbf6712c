//! Turn after turn: compaction, the model, its tools, and the wish to stop.

use crosier::payload::{PostMessage, PreMessage, Stop, SubagentStop};
use crosier::{ActionGate, Gates, Outcome, OutputGate, StopGate};

use super::actor::{Actor, End, Kind};
use crate::conversation::{Block, Message, Role};
use crate::model::{ModelRequest, Turn};
use crate::tool::ToolSpec;

/// A hook that never lets the loop stop is not let go on for ever.
const MAX_RESUMES: usize = 8;

impl Actor {
    /// Works until the model has no more to do, or something stops it.
    pub(super) async fn work(&mut self) -> End {
        match self.turns().await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn turns(&mut self) -> Result<End, End> {
        for _ in 0..self.parts.settings.max_turns {
            if self.parts.interrupt.is_set() {
                return Err(End::Interrupted);
            }
            self.compact_if_needed().await?;
            let turn = self.turn().await?;
            let calls: Vec<(String, String, crosier::Json)> = turn
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::ToolUse { id, name, input } => Some((id.clone(), name.clone(), input.clone())),
                    Block::Text { .. } | Block::ToolResult { .. } => None,
                })
                .collect();
            if !calls.is_empty() {
                self.call_tools(calls).await?;
                continue;
            }
            if let Some(end) = self.stop().await? {
                return Ok(end);
            }
        }
        Err(End::OutOfTurns)
    }

    /// One call of the model, with the events around it.
    async fn turn(&mut self) -> Result<Turn, End> {
        let outcome = self.fire(PreMessage {
            prompt: self.newest(),
            model: Some(self.parts.model.name().to_owned()),
            ..Default::default()
        });
        match outcome.await.prompt_gate() {
            ActionGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ActionGate::Deny(refusal) => return Err(End::Denied(refusal.reason.to_string())),
            ActionGate::Go(None) => {}
            ActionGate::Go(Some(prompt)) => self.replace_newest(&prompt.plain()),
        }
        let system = self.pending.apply(&self.parts.settings.system_prompt);
        let mut turn = self.ask_model(&system).await?;
        let words = Message { role: Role::Assistant, content: turn.content.clone() }.words();
        let outcome = self.fire(PostMessage {
            output: words.clone(),
            model: Some(self.parts.model.name().to_owned()),
            ..Default::default()
        });
        let gate = outcome.await.result_gate();
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
        match gate.halt {
            Some(halt) => Err(End::Halted(halt.reason)),
            None => Ok(turn),
        }
    }

    pub(super) async fn ask_model(&mut self, system: &str) -> Result<Turn, End> {
        let parts = std::sync::Arc::clone(&self.parts);
        let tools: Vec<ToolSpec> = parts.tools.iter().map(|tool| tool.spec().clone()).collect();
        let request = ModelRequest {
            system,
            messages: &self.messages,
            tools: &tools,
            max_tokens: parts.settings.max_tokens,
        };
        let mut ignore = |_: &str| {};
        tokio::select! {
            biased;
            () = parts.interrupt.wait() => Err(End::Interrupted),
            turn = parts.model.turn(request, &mut ignore) => turn.map_err(|error| End::Failed(error.to_string())),
        }
    }

    /// What the model has not seen yet: the words or the tool results of the newest message.
    fn newest(&self) -> String {
        let Some(message) = self.messages.last() else { return String::new() };
        let parts = message.content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolResult { content, .. } => Some(content.as_str()),
            Block::ToolUse { .. } => None,
        });
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Puts a hook's text in place of what the model has not seen yet. Tool results keep their ids; the first
    /// one carries the text.
    fn replace_newest(&mut self, text: &str) {
        let Some(message) = self.messages.last_mut() else { return };
        let has_results = message.content.iter().any(|block| matches!(block, Block::ToolResult { .. }));
        let mut text = Some(text.to_owned());
        message.content.retain_mut(|block| match block {
            // Every call needs its result: what is over says where its text went.
            Block::ToolResult { content, .. } => {
                *content = text.take().unwrap_or_else(|| "(see above)".to_owned());
                true
            }
            Block::Text { text: words } => match text.take().filter(|_| !has_results) {
                Some(new) => {
                    *words = new;
                    true
                }
                None => false,
            },
            Block::ToolUse { .. } => true,
        });
    }

    /// The model wants to stop. `None`: a hook wants it to go on.
    async fn stop(&mut self) -> Result<Option<End>, End> {
        let stop_hook_active = self.resumes > 0;
        let outcome: Outcome = match self.kind {
            Kind::Main => self.fire(Stop { stop_hook_active, ..Default::default() }).await,
            Kind::Subagent => {
                let transcript = self.transcript.path().display().to_string();
                self.fire(SubagentStop {
                    agent_id: self.id.clone(),
                    agent_type: self.agent_type.clone(),
                    agent_transcript_path: Some(transcript),
                    stop_hook_active,
                    ..Default::default()
                })
                .await
            }
        };
        match outcome.stop_gate() {
            StopGate::Halt(halt) => Err(End::Halted(halt.reason)),
            StopGate::Stop => Ok(Some(End::Done)),
            StopGate::Resume(resume) if self.resumes >= MAX_RESUMES => {
                self.note("stopped", &format!("{} wanted to go on for the {MAX_RESUMES}th time", resume.by))
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
