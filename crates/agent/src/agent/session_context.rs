//! What the agents of one session share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crosier::{Engine, Json, Scope};

use super::{Interrupt, Person, SessionListener};
use crate::history::History;
use crate::model::Model;
use crate::permission::Permissions;
use crate::session::Session;
use crate::tool::Tool;
use crate::view::{NullRenderer, Renderer, View};

/// Makes the scope of an agent from its id and its type. The scope exists as long as the agent.
pub type AgentHooks = dyn Fn(&str, &str) -> Scope + Send + Sync;

/// Settings of the loop.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The instructions of every model call.
    pub system_prompt: String,
    /// The folder that tools work in.
    pub workspace: PathBuf,
    /// The maximum number of turns of one agent.
    pub max_turns: usize,
    /// The maximum number of tokens of one answer.
    pub max_tokens: u32,
    /// The size of the conversation, in characters, over which it is compacted.
    pub compact_over: usize,
    /// How long a tool may take at most.
    pub tool_timeout: Duration,
}

/// What the agents of one session share.
pub struct SessionContext {
    /// Runs the hooks.
    pub engine: Engine,
    /// The model that answers.
    pub model: Arc<dyn Model>,
    /// The tools, in the order that the model sees them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Which tools may run.
    pub permissions: Permissions,
    /// Contains the transcripts.
    pub session: Session,
    /// Settings of the loop.
    pub settings: Settings,
    /// The person who can be asked, if any.
    pub person: Option<Arc<dyn Person>>,
    /// Keeps the versions of written files.
    pub history: Option<Arc<dyn History>>,
    /// The hooks of each agent.
    pub agent_hooks: Option<Box<AgentHooks>>,
    /// Set by Ctrl-C.
    pub interrupt: Interrupt,
    /// Is told what happens, while it happens.
    pub listener: Option<Arc<dyn SessionListener>>,
    /// The permissions including those that hooks have added; `None` until they have.
    learned: Mutex<Option<Permissions>>,
    screen: Mutex<(View, Box<dyn Renderer>)>,
    next_agent: AtomicU64,
}

impl std::fmt::Debug for SessionContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("session", &self.session).finish_non_exhaustive()
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionContext {
    /// The minimum: no person to ask, no history, no screen.
    #[must_use]
    pub fn new(
        engine: Engine,
        model: Arc<dyn Model>,
        tools: Vec<Arc<dyn Tool>>,
        session: Session,
        settings: Settings,
    ) -> Self {
        Self {
            engine,
            model,
            tools,
            permissions: Permissions::default(),
            session,
            settings,
            person: None,
            history: None,
            agent_hooks: None,
            interrupt: Interrupt::default(),
            listener: None,
            learned: Mutex::default(),
            screen: Mutex::new((View::default(), Box::new(NullRenderer))),
            next_agent: AtomicU64::new(1),
        }
    }

    /// Sets the renderer of the screen and its first view.
    pub fn set_screen(&mut self, view: View, renderer: Box<dyn Renderer>) {
        self.screen = Mutex::new((view, renderer));
    }

    /// Calls `ask` with the current permissions.
    pub(super) fn with_permissions<T>(&self, ask: impl FnOnce(&Permissions) -> T) -> T {
        ask(lock(&self.learned).as_ref().unwrap_or(&self.permissions))
    }

    /// Applies permission updates from a hook. Returns what could not be applied.
    pub(super) fn update_permissions(&self, updates: &Json) -> Vec<String> {
        lock(&self.learned).get_or_insert_with(|| self.permissions.clone()).update(updates)
    }

    pub(super) fn next_agent(&self) -> u64 {
        self.next_agent.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn scope(&self, agent_id: &str, agent_type: &str) -> Scope {
        match &self.agent_hooks {
            Some(make) => make(agent_id, agent_type),
            None => Scope::new(agent_id),
        }
    }

    /// Changes the view and returns a copy of it.
    pub(super) fn change_view(&self, change: impl FnOnce(&mut View)) -> View {
        let mut screen = lock(&self.screen);
        change(&mut screen.0);
        screen.0.clone()
    }

    pub(super) fn draw(&self, view: &View) {
        lock(&self.screen).1.draw(view);
    }
}
