//! What agents of one session share.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crosier::{Engine, Event, Hook, Json, Outcome};
use tokio::sync::watch;

use super::Person;
use crate::conversation::Message;
use crate::model::Model;
use crate::permission::Permissions;
use crate::session::Session;
use crate::tool::Tool;
use crate::view::{Renderer, View};

/// The hooks of a kind of agent, made anew for each agent: they live as long as it does.
pub type AgentHooks = dyn Fn(&str) -> Vec<Hook> + Send + Sync;

/// Where file writes are kept: the shadow repository.
pub trait Ledger: Send + Sync {
    /// Keeps one write and gives the id of its commit back.
    fn record<'a>(
        &'a self,
        path: &'a str,
        content: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
}

/// Numbers that a loop goes by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The instructions of every model call.
    pub system_prompt: String,
    /// The folder that tools work in.
    pub workspace: PathBuf,
    /// The most turns of one agent.
    pub max_turns: usize,
    /// The most tokens of one answer.
    pub max_tokens: u32,
    /// The size of the conversation, in characters, over which it is compacted.
    pub compact_over: usize,
    /// The most time that a tool may take.
    pub tool_timeout: Duration,
}

/// One fire, as it went: for demonstrations and tests.
#[derive(Debug, Clone)]
pub struct Fired {
    /// The event's name.
    pub event: &'static str,
    /// The whole event, as hooks got it.
    pub input: Json,
    /// The outcome.
    pub outcome: Json,
}

/// Told what happens in a session, while it happens. It must not block.
pub trait Witness: Send + Sync {
    /// Something was said in the conversation of an agent.
    fn said(&self, agent_id: &str, message: &Message);

    /// An event was fired.
    fn fired(&self, fired: &Fired);
}

/// Set when somebody pressed Ctrl-C.
#[derive(Debug, Clone)]
pub struct Interrupt {
    sender: Arc<watch::Sender<bool>>,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self { sender: Arc::new(watch::Sender::new(false)) }
    }
}

impl Interrupt {
    /// Interrupts every agent of the session.
    pub fn set(&self) {
        self.sender.send_replace(true);
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        *self.sender.borrow()
    }

    /// Comes back when it is set.
    pub async fn wait(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender is held by `self`, so it cannot be gone.
        let _ = receiver.wait_for(|set| *set).await;
    }
}

/// What agents of one session share.
pub struct Parts {
    /// Runs the hooks.
    pub engine: Engine,
    /// Answers.
    pub model: Arc<dyn Model>,
    /// The tools, in the order that the model sees them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Who may run what.
    pub permissions: Permissions,
    /// Where transcripts are.
    pub session: Session,
    /// Numbers to go by.
    pub settings: Settings,
    /// Who can be asked.
    pub person: Option<Arc<dyn Person>>,
    /// Where file writes are kept.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// The hooks of each kind of agent.
    pub agent_hooks: Option<Box<AgentHooks>>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The screen and who draws it.
    pub screen: Mutex<(View, Box<dyn Renderer>)>,
    /// Every fire in order, when somebody wants to know.
    pub recorder: Option<Mutex<Vec<Fired>>>,
    /// Told what happens, while it happens.
    pub witness: Option<Arc<dyn Witness>>,
    /// Numbers agents.
    pub next_agent: AtomicU64,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("session", &self.session).finish_non_exhaustive()
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Parts {
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned()
    }

    pub(super) fn next_agent(&self) -> u64 {
        self.next_agent.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn keep(&self, event: &Event, outcome: &Outcome) {
        if self.recorder.is_none() && self.witness.is_none() {
            return;
        }
        let input = event.wire().ok().and_then(|wire| Json::parse(wire).ok()).unwrap_or_default();
        let fired = Fired { event: event.name(), input, outcome: outcome.to_json() };
        if let Some(witness) = &self.witness {
            witness.fired(&fired);
        }
        if let Some(recorder) = &self.recorder {
            lock(recorder).push(fired);
        }
    }

    /// Changes the view and gives a copy of it.
    pub(super) fn change_view(&self, change: impl FnOnce(&mut View)) -> View {
        let mut screen = lock(&self.screen);
        change(&mut screen.0);
        screen.0.clone()
    }

    pub(super) fn draw(&self, view: &View) {
        lock(&self.screen).1.draw(view);
    }

    /// Every fire so far, in order.
    #[must_use]
    pub fn fires(&self) -> Vec<Fired> {
        self.recorder.as_ref().map(|recorder| lock(recorder).clone()).unwrap_or_default()
    }
}
