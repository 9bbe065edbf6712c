//! Subagents: made, started, run, stopped, done.

use std::sync::Arc;

use crosier::payload::{PostAgentComplete, PreAgentSpawn, SubagentStart, SubagentStop};
use crosier::protocol::json;
use crosier::{ActionGate, Gates, Json, ScopeHandle};

use super::actor::{Actor, Kind};
use super::end::End;
use super::means::Means;
use super::parts::Parts;
use crate::conversation::{Message, Role};
use crate::tool::{Task, ToolError};

/// Subagents of subagents of subagents are enough.
const MAX_DEPTH: usize = 3;

/// A subagent that has started. Its scope lives from before its first event until after its last.
pub(super) struct Subagent {
    pub(super) actor: Actor,
    /// Whether SubagentStop has fired since it last worked.
    has_stopped: bool,
    _scope: ScopeHandle,
}

/// What is left of a subagent.
pub(super) struct Gone {
    actor: Actor,
    end: End,
    result: String,
}

impl Gone {
    pub(super) fn into_actor(self) -> Actor {
        self.actor
    }
}

impl Actor {
    /// Hooks on the spawn; then the subagent has its scope and has started.
    pub(super) async fn hire(&mut self, input: &Json) -> Result<Subagent, ToolError> {
        let (prompt, agent_type) = Task::read(input)?;
        if self.depth >= MAX_DEPTH {
            return Err(ToolError::new(format!("subagents are at most {MAX_DEPTH} deep")));
        }
        let agent_id = format!("{agent_type}-{}", self.parts.next_agent());
        let means = Means::all(&self.parts, &agent_type, &prompt);
        let means = self.may_spawn(&agent_id, means).await?;
        Subagent::start(&self.parts, agent_id, self.depth + 1, means).await
    }

    /// PreAgentSpawn: whether there may be such an agent, and with which means.
    pub(super) async fn may_spawn(&mut self, agent_id: &str, means: Means) -> Result<Means, ToolError> {
        let event = PreAgentSpawn {
            agent_id: agent_id.to_owned(),
            agent_type: means.agent_type.clone(),
            config: means.to_json(),
            ..Default::default()
        };
        match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => Err(ToolError::new(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("not spawned", &format!("{agent_id}: {} ({})", refusal.reason, refusal.by)).await;
                Err(ToolError::new(refusal.reason.to_string()))
            }
            ActionGate::Go(None) => Ok(means),
            ActionGate::Go(Some(config)) => {
                let (means, problems) = means.changed(&config);
                for problem in problems {
                    self.note("ignored", &format!("{agent_id}: {problem}")).await;
                }
                Ok(means)
            }
        }
    }

    /// A subagent is done: a person is told, its last words are the result, its context is now ours.
    pub(super) async fn see_off(&mut self, mut gone: Gone) -> Result<Json, ToolError> {
        self.pending.append(&mut gone.actor.pending);
        let Gone { actor, end, result } = gone;
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
        parts: &Arc<Parts>,
        id: String,
        depth: usize,
        means: Means,
    ) -> Result<Self, ToolError> {
        let scope = parts.engine.enter(parts.scope(&id, &means.agent_type));
        let scope = scope.map_err(|error| ToolError::new(error.to_string()))?;
        let actor = Actor::new(Arc::clone(parts), id, Kind::Subagent, depth, means);
        let mut actor = actor.map_err(|error| ToolError::new(error.to_string()))?;
        let (agent_id, agent_type) = (actor.id.clone(), actor.means.agent_type.clone());
        actor.fire(SubagentStart { agent_id, agent_type, ..Default::default() }).await;
        Ok(Self { actor, has_stopped: false, _scope: scope })
    }

    /// Runs it on its own prompt, to its end.
    pub(super) async fn run(mut self) -> Gone {
        let prompt = self.actor.means.prompt.clone();
        let end = self.work(&prompt).await;
        self.leave(end).await
    }

    /// Works on one thing until it stops.
    pub(super) async fn work(&mut self, prompt: &str) -> End {
        let actor = &mut self.actor;
        actor.resumes = 0;
        if let Err(error) = actor.say(Message::user(prompt)) {
            return End::Failed(error.to_string());
        }
        // A loop inside a loop: the compiler wants to know where its state is.
        let end = Box::pin(actor.work()).await;
        // A model that wants to stop has fired it itself; whatever else ends it is a stop too.
        self.has_stopped = end == End::Done;
        end
    }

    pub(super) fn last_words(&self) -> String {
        let last = self.actor.messages.iter().rfind(|message| message.role == Role::Assistant);
        last.map(Message::words).unwrap_or_default()
    }

    /// Its last events.
    pub(super) async fn leave(mut self, end: End) -> Gone {
        let result = self.last_words();
        if !self.has_stopped && self.actor.fire_stop().await.resume.is_some() {
            let why = format!("its end is {}; it cannot go on", end.word());
            self.actor.note("not resumed", &why).await;
        }
        let done = PostAgentComplete {
            agent_id: self.actor.id.clone(),
            agent_type: self.actor.means.agent_type.clone(),
            result: json!({"end": end.word(), "text": result}).into(),
            ..Default::default()
        };
        self.actor.fire(done).await;
        Gone { actor: self.actor, end, result }
    }
}

impl Actor {
    /// SubagentStop of this subagent.
    pub(super) async fn fire_stop(&mut self) -> crosier::Outcome {
        let transcript = self.transcript.path().display().to_string();
        self.fire(SubagentStop {
            agent_id: self.id.clone(),
            agent_type: self.means.agent_type.clone(),
            agent_transcript_path: Some(transcript),
            stop_hook_active: self.resumes > 0,
            ..Default::default()
        })
        .await
    }
}
