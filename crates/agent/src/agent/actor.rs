//! One agent: its conversation, its pending context, its transcript.

use std::sync::Arc;

use crosier::payload::{
    PostSessionPhase, PreSessionPhase, SessionEnd, SessionStart, Setup, UserPromptSubmit,
};
use crosier::{ActionGate, Gates, PendingContext};

use super::MAIN;
use super::end::End;
use super::means::Means;
use super::parts::Parts;
use crate::conversation::Message;
use crate::session::{Record, SessionError, Transcript};

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
    pub(super) kind: Kind,
    pub(super) depth: usize,
    pub(super) means: Means,
    pub(super) messages: Vec<Message>,
    pub(super) pending: PendingContext,
    pub(super) transcript: Transcript,
    pub(super) resumes: usize,
    pub(super) compact_over: usize,
    /// Why a hook wants the loop to stop, at whichever event it said so.
    pub(super) halted: Option<String>,
    phase: &'static str,
}

impl Actor {
    /// The main agent of a session, with the conversation so far.
    ///
    /// # Errors
    /// When its transcript cannot be opened.
    pub fn main(parts: Arc<Parts>, messages: Vec<Message>) -> Result<Self, SessionError> {
        let means = Means::all(&parts, MAIN, "");
        Ok(Self { messages, ..Self::new(parts, MAIN.to_owned(), Kind::Main, 0, means)? })
    }

    pub(super) fn new(
        parts: Arc<Parts>,
        id: String,
        kind: Kind,
        depth: usize,
        means: Means,
    ) -> Result<Self, SessionError> {
        let transcript = Transcript::open(parts.session.transcript_path(&id))?;
        let compact_over = parts.settings.compact_over;
        Ok(Self {
            parts,
            id,
            kind,
            depth,
            means,
            messages: Vec::new(),
            pending: PendingContext::default(),
            transcript,
            resumes: 0,
            compact_over,
            halted: None,
            phase: "setup",
        })
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Begins the session: `source` says how (`startup`, `resume`, `clear`), `trigger` why (`init`, `maintenance`).
    pub async fn begin(&mut self, source: &str, trigger: &str) {
        self.start_session(source).await;
        self.fire(Setup { trigger: trigger.to_owned(), ..Default::default() }).await;
        self.enter_phase("working").await;
    }

    pub(super) async fn start_session(&mut self, source: &str) {
        let model = Some(self.parts.model.name().to_owned());
        let agent_type = Some(self.means.agent_type.clone());
        self.fire(SessionStart { source: source.to_owned(), agent_type, model, ..Default::default() }).await;
    }

    /// Takes a prompt and works until there is nothing more to do.
    pub async fn prompt(&mut self, prompt: &str) -> End {
        self.enter_phase("working").await;
        self.resumes = 0;
        let end = match self.accept(prompt).await {
            Ok(()) => self.work().await,
            Err(end) => end,
        };
        // It has stopped the loop; the next prompt is a new one.
        self.halted = None;
        match &end {
            // A denial was noted where it happened.
            End::Done | End::Denied(_) => {}
            End::Halted(reason) => self.note("halted", reason).await,
            End::Interrupted => self.note("interrupted", "by a person").await,
            End::Failed(reason) => self.note("error", reason).await,
            End::OutOfTurns => self.note("stopped", "it had all its turns").await,
        }
        end
    }

    async fn accept(&mut self, prompt: &str) -> Result<(), End> {
        self.check()?;
        let outcome = self.fire(UserPromptSubmit { prompt: prompt.to_owned(), ..Default::default() }).await;
        match outcome.prompt_gate() {
            ActionGate::Halt(halt) => return Err(End::Halted(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("denied", &format!("prompt: {} ({})", refusal.reason, refusal.by)).await;
                return Err(End::Denied(refusal.reason.to_string()));
            }
            ActionGate::Go(_) => {}
        }
        self.say(Message::user(prompt)).map_err(|error| End::Failed(error.to_string()))?;
        self.show(format!("you: {prompt}")).await;
        Ok(())
    }

    /// Waits for a person, and tells them so. For a host that takes more than one prompt.
    pub async fn wait(&mut self) {
        self.enter_phase("waiting").await;
        self.notify("idle_prompt", "waiting for your input").await;
    }

    /// Forgets the conversation.
    pub async fn clear(&mut self) {
        self.messages.clear();
        let _ = self.transcript.push(&Record::Cleared { why: "clear".to_owned() });
        self.start_session("clear").await;
    }

    /// Ends the session. Always fires, also after an interrupt.
    pub async fn finish(&mut self, end: &End) {
        self.enter_phase("done").await;
        self.leave_context();
        self.note("end", format!("{} {}", end.word(), end.reason()).trim_end()).await;
        self.fire(SessionEnd { reason: end.word().to_owned(), ..Default::default() }).await;
    }

    /// Context that no model call will get any more is not lost in silence.
    pub(super) fn leave_context(&mut self) {
        for line in self.pending.lines() {
            let (what, text) = ("context without a model call".to_owned(), line.clone());
            let _ = self.transcript.push(&Record::Note { what, text });
        }
        self.pending = PendingContext::default();
    }

    /// Goes to another phase, if hooks let it.
    pub(super) async fn enter_phase(&mut self, to: &'static str) {
        if self.phase == to || self.kind == Kind::Subagent {
            return;
        }
        let from = self.phase.to_owned();
        let event = PreSessionPhase { from: from.clone(), to: to.to_owned(), ..Default::default() };
        let why = match self.fire(event).await.action_gate() {
            ActionGate::Go(_) => {
                self.phase = to;
                self.parts.change_view(|view| to.clone_into(&mut view.phase));
                self.fire(PostSessionPhase { from, to: to.to_owned(), ..Default::default() }).await;
                return;
            }
            ActionGate::Deny(refusal) => format!("{} ({})", refusal.reason, refusal.by),
            ActionGate::Halt(halt) => halt.reason,
        };
        self.note("phase denied", &format!("stays {from}, not {to}: {why}")).await;
    }

    /// What stops the loop, if anything does.
    pub(super) fn check(&mut self) -> Result<(), End> {
        match self.halted.take() {
            _ if self.parts.interrupt.is_set() => Err(End::Interrupted),
            Some(reason) => Err(End::Halted(reason)),
            None => Ok(()),
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
