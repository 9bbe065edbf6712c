//! One agent: its conversation, its pending context, its transcript.

use std::sync::Arc;

use crosier::payload::{
    PostSessionPhase, PreSessionPhase, SessionEnd, SessionStart, Setup, UserPromptSubmit,
};
use crosier::{ActionGate, Gates, PendingContext};

use super::MAIN;
use super::parts::Parts;
use crate::conversation::Message;
use crate::session::{Record, SessionError, Transcript};

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The model had no more to do.
    Done,
    /// A hook did not let the prompt through.
    Denied(String),
    /// A hook stopped the loop.
    Halted(String),
    /// A person stopped it.
    Interrupted,
    /// The model did not answer, or the disk is full.
    Failed(String),
    /// It had its turns.
    OutOfTurns,
}

impl End {
    /// The word that SessionEnd carries.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Denied(_) => "denied",
            Self::Halted(_) => "halted",
            Self::Interrupted => "interrupt",
            Self::Failed(_) => "error",
            Self::OutOfTurns => "max_turns",
        }
    }

    /// What more there is to say.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Denied(reason) | Self::Halted(reason) | Self::Failed(reason) => reason,
            Self::Done | Self::Interrupted | Self::OutOfTurns => "",
        }
    }
}

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Main,
    Subagent,
}

/// One agent.
#[derive(Debug)]
pub struct Actor {
    pub(super) parts: Arc<Parts>,
    pub(super) id: String,
    pub(super) agent_type: String,
    pub(super) kind: Kind,
    pub(super) depth: usize,
    pub(super) messages: Vec<Message>,
    pub(super) pending: PendingContext,
    pub(super) transcript: Transcript,
    pub(super) resumes: usize,
    pub(super) compact_over: usize,
    phase: &'static str,
}

impl Actor {
    /// The main agent of a session, with the conversation so far.
    ///
    /// # Errors
    /// When its transcript cannot be opened.
    pub fn main(parts: Arc<Parts>, messages: Vec<Message>) -> Result<Self, SessionError> {
        Self::new(parts, MAIN.to_owned(), MAIN.to_owned(), Kind::Main, 0, messages)
    }

    pub(super) fn new(
        parts: Arc<Parts>,
        id: String,
        agent_type: String,
        kind: Kind,
        depth: usize,
        messages: Vec<Message>,
    ) -> Result<Self, SessionError> {
        let transcript = Transcript::open(parts.session.transcript_path(&id))?;
        let compact_over = parts.settings.compact_over;
        let (pending, phase) = (PendingContext::default(), "setup");
        Ok(Self {
            parts,
            id,
            agent_type,
            kind,
            depth,
            messages,
            pending,
            transcript,
            resumes: 0,
            compact_over,
            phase,
        })
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Begins the session: `source` says how (`startup`, `resume`, `clear`), `trigger` why (`init`, `maintenance`).
    pub async fn begin(&mut self, source: &str, trigger: &str) {
        let model = Some(self.parts.model.name().to_owned());
        let agent_type = Some(self.agent_type.clone());
        let start = SessionStart { source: source.to_owned(), agent_type, model, ..Default::default() };
        self.fire(start).await;
        self.fire(Setup { trigger: trigger.to_owned(), ..Default::default() }).await;
        self.enter_phase("working").await;
    }

    /// Takes a prompt and works until there is nothing more to do.
    pub async fn prompt(&mut self, prompt: &str) -> End {
        self.enter_phase("working").await;
        self.resumes = 0;
        let outcome = self.fire(UserPromptSubmit { prompt: prompt.to_owned(), ..Default::default() }).await;
        let end = match outcome.prompt_gate() {
            ActionGate::Halt(halt) => End::Halted(halt.reason),
            ActionGate::Deny(refusal) => {
                self.note("denied", &format!("prompt: {}", refusal.reason)).await;
                End::Denied(refusal.reason.to_string())
            }
            ActionGate::Go(_) => match self.say(Message::user(prompt)) {
                Ok(()) => {
                    self.show(format!("you: {prompt}")).await;
                    self.work().await
                }
                Err(error) => End::Failed(error.to_string()),
            },
        };
        self.enter_phase("waiting").await;
        end
    }

    /// Forgets the conversation.
    pub async fn clear(&mut self) {
        self.messages.clear();
        let _ = self.transcript.push(&Record::Cleared { why: "clear".to_owned() });
        self.fire(SessionStart { source: "clear".to_owned(), ..Default::default() }).await;
    }

    /// Ends the session. Always fires, also after an interrupt.
    pub async fn finish(&mut self, end: &End) {
        self.enter_phase("done").await;
        self.note("end", &format!("{} {}", end.word(), end.reason())).await;
        self.fire(SessionEnd { reason: end.word().to_owned(), ..Default::default() }).await;
    }

    /// Goes to another phase, if hooks let it.
    pub(super) async fn enter_phase(&mut self, to: &'static str) {
        if self.phase == to || self.kind == Kind::Subagent {
            return;
        }
        let from = self.phase.to_owned();
        let outcome =
            self.fire(PreSessionPhase { from: from.clone(), to: to.to_owned(), ..Default::default() }).await;
        match outcome.action_gate() {
            ActionGate::Go(_) => {
                self.phase = to;
                self.parts.change_view(|view| to.clone_into(&mut view.phase));
                self.fire(PostSessionPhase { from, to: to.to_owned(), ..Default::default() }).await;
            }
            ActionGate::Deny(refusal) => {
                self.show(format!("stays in phase {from}: {} ({})", refusal.reason, refusal.by)).await;
            }
            ActionGate::Halt(halt) => self.show(format!("stays in phase {from}: {}", halt.reason)).await,
        }
    }

    /// Adds a message, to the transcript first: a hook may read it.
    pub(super) fn say(&mut self, message: Message) -> Result<(), SessionError> {
        self.transcript.push(&Record::Message { message: message.clone() })?;
        if let Some(witness) = &self.parts.witness {
            witness.said(&self.id, &message);
        }
        self.messages.push(message);
        Ok(())
    }

    /// Tells readers of the transcript and of the screen.
    pub(super) async fn note(&mut self, what: &str, text: &str) {
        // A note that cannot be written is not worth the session.
        let _ = self.transcript.push(&Record::Note { what: what.to_owned(), text: text.to_owned() });
        self.show(format!("{what}: {text}")).await;
    }
}
