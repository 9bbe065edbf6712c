//! Subagents, from their spawn to their end.

use std::sync::Arc;

use crosier::payload::{PostAgentComplete, PreAgentSpawn, SubagentStart, SubagentStop};
use crosier::protocol::json;
use crosier::{ActionGate, Gates, Json, ScopeHandle};

use super::actor::{Actor, ActorKind};
use super::end::End;
use super::session_context::SessionContext;
use super::setup::AgentSetup;
use crate::conversation::{Message, Role};
use crate::tool::{Task, ToolError};

/// How deeply subagents may be nested.
const MAX_DEPTH: usize = 3;

/// A subagent that has started. Its scope exists from before its first event until after its last.
pub(super) struct Subagent {
    pub(super) actor: Actor,
    /// Whether SubagentStop has fired since it last worked.
    has_stopped: bool,
    _scope: ScopeHandle,
}

/// The result of a finished subagent.
pub(super) struct FinishedSubagent {
    actor: Actor,
    end: End,
    result: String,
}

impl FinishedSubagent {
    pub(super) fn into_actor(self) -> Actor {
        self.actor
    }
}

impl Actor {
    /// Fires the hooks on the spawn, then registers the subagent's scope and starts it.
    pub(super) async fn spawn_subagent(&mut self, input: &Json) -> Result<Subagent, ToolError> {
        let (prompt, agent_type) = Task::read(input)?;
        if self.depth >= MAX_DEPTH {
            return Err(ToolError::new(format!("subagents are at most {MAX_DEPTH} deep")));
        }
        let agent_id = format!("{agent_type}-{}", self.session_context.next_agent());
        let setup = AgentSetup::all(&self.session_context, &agent_type, &prompt);
        let setup = self.may_spawn(&agent_id, setup).await?;
        Subagent::start(&self.session_context, agent_id, self.depth + 1, setup).await
    }

    /// Fires PreAgentSpawn: whether such an agent may be created, and with which configuration.
    pub(super) async fn may_spawn(
        &mut self,
        agent_id: &str,
        setup: AgentSetup,
    ) -> Result<AgentSetup, ToolError> {
        let event = PreAgentSpawn::new(agent_id, setup.agent_type.as_str(), setup.to_json());
        match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => Err(ToolError::new(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("not spawned", &format!("{agent_id}: {} ({})", refusal.reason, refusal.by)).await;
                Err(ToolError::new(refusal.reason.to_string()))
            }
            ActionGate::Go(None) => Ok(setup),
            ActionGate::Go(Some(config)) => {
                let (setup, problems) = setup.changed(&config);
                for problem in problems {
                    self.note("ignored", &format!("{agent_id}: {problem}")).await;
                }
                Ok(setup)
            }
        }
    }

    /// Ends a finished subagent: notifies the person, returns its last text as the result, and takes over its context.
    pub(super) async fn finish_subagent(
        &mut self,
        mut finished: FinishedSubagent,
    ) -> Result<Json, ToolError> {
        self.pending.append(&mut finished.actor.pending);
        let FinishedSubagent { actor, end, result } = finished;
        self.notify("agent_completed", &format!("subagent {}: {}", actor.id, end.word())).await;
        match end {
            End::Done => Ok(Json::from(result)),
            other => {
                Err(ToolError::new(format!("the subagent ended ({}): {}", other.word(), other.reason())))
            }
        }
    }
}

impl Subagent {
    /// Registers its scope and fires SubagentStart.
    pub(super) async fn start(
        session_context: &Arc<SessionContext>,
        id: String,
        depth: usize,
        setup: AgentSetup,
    ) -> Result<Self, ToolError> {
        let scope = session_context.engine.enter(session_context.scope(&id, &setup.agent_type));
        let scope = scope.map_err(|error| ToolError::new(error.to_string()))?;
        let actor = Actor::new(Arc::clone(session_context), id, ActorKind::Subagent, depth, setup);
        let mut actor = actor.map_err(|error| ToolError::new(error.to_string()))?;
        let (agent_id, agent_type) = (actor.id.clone(), actor.setup.agent_type.clone());
        actor.fire(SubagentStart::new(agent_id, agent_type)).await;
        Ok(Self { actor, has_stopped: false, _scope: scope })
    }

    /// Runs it on its own prompt, to its end.
    pub(super) async fn run(mut self) -> FinishedSubagent {
        let prompt = self.actor.setup.prompt.clone();
        let end = self.work(&prompt).await;
        self.leave(end).await
    }

    /// Works on one prompt until it stops.
    pub(super) async fn work(&mut self, prompt: &str) -> End {
        let actor = &mut self.actor;
        actor.resumes = 0;
        if let Err(error) = actor.say(Message::user(prompt)) {
            return End::Failed(error.to_string());
        }
        // Boxed, because an async recursion has no fixed size.
        let end = Box::pin(actor.work()).await;
        // When the model wanted to stop, SubagentStop was already fired; any other end is a stop too.
        self.has_stopped = end == End::Done;
        end
    }

    pub(super) fn last_text(&self) -> String {
        let last = self.actor.messages.iter().rfind(|message| message.role == Role::Assistant);
        last.map(Message::words).unwrap_or_default()
    }

    /// Fires its last events.
    pub(super) async fn leave(mut self, end: End) -> FinishedSubagent {
        let result = self.last_text();
        if !self.has_stopped && self.actor.fire_stop().await.resume.is_some() {
            let why = format!("it ended ({}) and cannot be resumed", end.word());
            self.actor.note("not resumed", &why).await;
        }
        let done = json!({"end": end.word(), "text": result});
        let (agent_id, agent_type) = (self.actor.id.clone(), self.actor.setup.agent_type.clone());
        self.actor.fire(PostAgentComplete::new(agent_id, agent_type, done)).await;
        FinishedSubagent { actor: self.actor, end, result }
    }
}

impl Actor {
    /// Fires SubagentStop for this subagent.
    pub(super) async fn fire_stop(&mut self) -> crosier::Outcome {
        let transcript = self.transcript.path().display().to_string();
        let stop = SubagentStop::new(self.id.as_str(), self.setup.agent_type.as_str())
            .agent_transcript_path(transcript)
            .stop_hook_active(self.resumes > 0);
        self.fire(stop).await
    }
}
