//! One agent: its conversation, its pending context, its transcript.

use std::sync::Arc;

use crosier::payload::{
    PostSessionPhase, PreSessionPhase, SessionEnd, SessionStart, Setup, UserPromptSubmit,
};
use crosier::{ActionGate, Gates, PendingContext};

use super::MAIN;
use super::end::End;
use super::session_context::SessionContext;
use super::setup::AgentSetup;
use crate::conversation::Message;
use crate::session::{Record, SessionError, Transcript};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActorKind {
    Main,
    Subagent,
}

/// One agent.
#[derive(Debug)]
pub struct Actor {
    pub(super) session_context: Arc<SessionContext>,
    pub(super) id: String,
    pub(super) kind: ActorKind,
    pub(super) depth: usize,
    pub(super) setup: AgentSetup,
    pub(super) messages: Vec<Message>,
    pub(super) pending: PendingContext,
    pub(super) transcript: Transcript,
    pub(super) resumes: usize,
    pub(super) compact_over: usize,
    /// Why a hook wants the loop to stop, whichever event it was at.
    pub(super) halted: Option<String>,
    phase: &'static str,
}

impl Actor {
    /// The main agent of a session, with the conversation so far.
    ///
    /// # Errors
    /// When its transcript cannot be opened.
    pub fn main(session_context: Arc<SessionContext>, messages: Vec<Message>) -> Result<Self, SessionError> {
        let setup = AgentSetup::all(&session_context, MAIN, "");
        Ok(Self { messages, ..Self::new(session_context, MAIN.to_owned(), ActorKind::Main, 0, setup)? })
    }

    pub(super) fn new(
        session_context: Arc<SessionContext>,
        id: String,
        kind: ActorKind,
        depth: usize,
        setup: AgentSetup,
    ) -> Result<Self, SessionError> {
        let transcript = Transcript::open(session_context.session.transcript_path(&id))?;
        let compact_over = session_context.settings.compact_over;
        Ok(Self {
            session_context,
            id,
            kind,
            depth,
            setup,
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
        self.fire(Setup::new(trigger)).await;
        self.enter_phase("working").await;
    }

    pub(super) async fn start_session(&mut self, source: &str) {
        let started = SessionStart::new(source)
            .agent_type(self.setup.agent_type.clone())
            .model(self.session_context.model.name().to_owned());
        self.fire(started).await;
    }

    /// Takes a prompt and works until there is nothing left to do.
    pub async fn prompt(&mut self, prompt: &str) -> End {
        self.enter_phase("working").await;
        self.resumes = 0;
        let end = match self.accept(prompt).await {
            Ok(()) => self.work().await,
            Err(end) => end,
        };
        // The halt has stopped the loop; the next prompt starts a new one.
        self.halted = None;
        match &end {
            // A denial was already noted where it happened.
            End::Done | End::Denied(_) => {}
            End::Halted(reason) => self.note("halted", reason).await,
            End::Interrupted => self.note("interrupted", "by a person").await,
            End::Failed(reason) => self.note("error", reason).await,
            End::OutOfTurns => self.note("stopped", "it used up its turns").await,
        }
        end
    }

    async fn accept(&mut self, prompt: &str) -> Result<(), End> {
        self.check_stop()?;
        let outcome = self.fire(UserPromptSubmit::new(prompt)).await;
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

    /// Tells the person that the agent is waiting for them. For a host that takes more than one prompt.
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

    /// Ends the session. Its events fire even after an interrupt.
    pub async fn finish(&mut self, end: &End) {
        self.enter_phase("done").await;
        self.record_unused_context();
        self.note("end", format!("{} {}", end.word(), end.reason()).trim_end()).await;
        self.fire(SessionEnd::new(end.word())).await;
    }

    /// Records context that no further model call will get, so that it is not lost silently.
    pub(super) fn record_unused_context(&mut self) {
        for line in self.pending.lines() {
            let (what, text) = ("context without a model call".to_owned(), line.clone());
            let _ = self.transcript.push(&Record::Note { what, text });
        }
        self.pending = PendingContext::default();
    }

    /// Enters another phase, if hooks allow it.
    pub(super) async fn enter_phase(&mut self, to: &'static str) {
        if self.phase == to || self.kind == ActorKind::Subagent {
            return;
        }
        let from = self.phase.to_owned();
        let event = PreSessionPhase::new(from.as_str(), to);
        let why = match self.fire(event).await.action_gate() {
            ActionGate::Go(_) => {
                self.phase = to;
                self.session_context.change_view(|view| to.clone_into(&mut view.phase));
                self.fire(PostSessionPhase::new(from, to)).await;
                return;
            }
            ActionGate::Deny(refusal) => format!("{} ({})", refusal.reason, refusal.by),
            ActionGate::Halt(halt) => halt.reason,
        };
        self.note("phase denied", &format!("stays {from}, not {to}: {why}")).await;
    }

    /// What stops the loop, if anything does.
    pub(super) fn check_stop(&mut self) -> Result<(), End> {
        match self.halted.take() {
            _ if self.session_context.interrupt.is_set() => Err(End::Interrupted),
            Some(reason) => Err(End::Halted(reason)),
            None => Ok(()),
        }
    }

    /// Adds a message. It is written to the transcript first, because a hook may read that.
    pub(super) fn say(&mut self, message: Message) -> Result<(), SessionError> {
        self.transcript.push(&Record::Message { message: message.clone() })?;
        if let Some(listener) = &self.session_context.listener {
            listener.on_message(&self.id, &message);
        }
        self.messages.push(message);
        Ok(())
    }

    /// Adds a note to the transcript and to the screen.
    pub(super) async fn note(&mut self, what: &str, text: &str) {
        // A note that cannot be written does not end the session.
        let _ = self.transcript.push(&Record::Note { what: what.to_owned(), text: text.to_owned() });
        self.show(format!("{what}: {text}")).await;
    }
}
