//! The public interface of the engine: fire events, register hooks, listen.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use arc_swap::ArcSwap;
use crosier_protocol::{
    Capability, Catalog, Defaults, Event, EventError, EventKind, Notice, NoticeKind, Outcome,
};

use super::builder::Builder;
use super::scope::{Scope, ScopeHandle};
use super::walk::Walk;
use crate::ingest::ingest;
use crate::message::{Bus, Listener};
use crate::plan::{Explanation, Plan, Planner};
use crate::registry::{
    Changed, Entry, Hook, HookSet, Layer, Limits, RegisterError, Registration, Registry, SwitchError,
};
use crate::run::{self, Deferred, Launcher, Resources, StopSignal, WaitMode};

/// Runs the hooks of events. Cheap to clone: all clones share one engine.
#[derive(Debug, Clone)]
pub struct Engine(pub(super) Arc<Shared>);

/// What all clones of an engine share.
pub(super) struct Shared {
    pub(super) planner: ArcSwap<Planner>,
    /// Held while a new planner is made from the current one.
    pub(super) changing: Mutex<()>,
    pub(super) limits: Limits,
    pub(super) defaults: Arc<Defaults>,
    pub(super) timing: bool,
    pub(super) bus: Arc<Bus>,
    pub(super) resources: Arc<Resources>,
    pub(super) deferred: Arc<Deferred>,
    pub(super) launcher: Option<Box<Launcher>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("planner", &self.planner).finish_non_exhaustive()
    }
}

impl Drop for Shared {
    /// When the last clone is dropped, everything that the engine started is stopped.
    fn drop(&mut self) {
        self.resources.processes.shut_down();
    }
}

impl Shared {
    pub(super) fn change(&self, change: impl FnOnce(&Registry) -> (Registry, Changed)) {
        let result: Result<(), std::convert::Infallible> = self.try_change(|registry| {
            let (registry, changed) = change(registry);
            Ok((registry, changed, ()))
        });
        match result {
            Ok(()) => {}
        }
    }

    /// Installs a changed registry; running fires keep the one they began with.
    fn try_change<T, E>(
        &self,
        change: impl FnOnce(&Registry) -> Result<(Registry, Changed, T), E>,
    ) -> Result<T, E> {
        // Declared before the lock, so that it is dropped after the lock is released: it may hold the last
        // reference to a hook, and dropping that hook's code may change this engine.
        let planner;
        let _held = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        planner = self.planner.load_full();
        let (registry, changed, result) = change(&planner.registry)?;
        self.planner.store(Arc::new(planner.next(registry, &changed)));
        Ok(result)
    }

    /// The plan for this event; `None` when no hook runs. The cheap check comes first, because most events
    /// have no hook.
    #[inline]
    fn plan(&self, event: &Event) -> Option<Arc<Plan>> {
        let Limits { catalog, hooked, .. } = &self.limits;
        let may_have_hooks = catalog.contains(event.kind()) && hooked.may_have_hooks(event.kind().index());
        if may_have_hooks { self.find_plan(event) } else { None }
    }

    /// The plan for an event that was not fired. A host's typed payload is not bound to the catalog yet.
    fn plan_for(&self, event: &Event) -> Option<Arc<Plan>> {
        self.plan(&event.clone().bound(&self.limits.catalog))
    }

    #[inline(never)]
    fn find_plan(&self, event: &Event) -> Option<Arc<Plan>> {
        self.planner.load().plan(event)
    }

    /// The outcome of an event for which no hook runs. Inlined, so that this large value is built in place.
    #[inline(always)]
    fn outcome_without_hooks(&self, event: Event) -> Outcome {
        let (context, notices) = match self.limits.catalog.contains(event.kind()) {
            true => (self.waiting_context(&event), Vec::new()),
            false => (Vec::new(), vec![foreign_event_notice(&event)]),
        };
        let mut outcome = Outcome::new(event.kind().clone());
        (outcome.context, outcome.notices) = (context, notices);
        outcome
    }

    /// The context that background hooks left for this event.
    pub(super) fn waiting_context(&self, event: &Event) -> Vec<String> {
        match event.kind().capabilities.has(Capability::Context) {
            true => self.deferred.take(event).unwrap_or_default(),
            false => Vec::new(),
        }
    }
}

/// Tells the host that no hook ran, because the event is not in this engine's catalog.
#[cold]
fn foreign_event_notice(event: &Event) -> Notice {
    tracing::warn!(event = event.name(), "an event of another engine was fired");
    let text = format!(
        "no hook ran: the event `{}` belongs to another engine; add its row to this one's builder",
        event.name()
    );
    Notice::new(NoticeKind::Log, "warn", text)
}

/// Walks to the end, or until `stop` is ready. The second value is whether it reached the end.
async fn finish_until(walk: Walk<'_>, stop: impl Future<Output = ()>) -> (Outcome, bool) {
    let signal = StopSignal::default();
    let (mut walk, mut stop) = (walk.stopped_by(&signal), pin!(stop));
    let done = poll_fn(|context| match stop.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(false),
        Poll::Pending => walk.poll(context).map(|()| true),
    })
    .await;
    if !done {
        walk.stop(&signal).await;
    }
    (walk.end(), done)
}

/// Walks to the end on this thread. Inlined, so that the walk is not copied.
#[inline(always)]
fn finish_here(mut walk: Walk<'_>) -> Outcome {
    run::block_on(poll_fn(|context| walk.poll(context)));
    walk.end()
}

impl Engine {
    /// Begins an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// Fires an event: runs the hooks that match and folds their answers into one outcome.
    ///
    /// It cannot fail: failures of hooks are part of the outcome. Dropping the future cancels the fire and
    /// kills the processes that it started.
    pub async fn fire(&self, event: impl Into<Event>) -> Outcome {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        let Some(plan) = self.0.plan(&event) else { return self.0.outcome_without_hooks(event) };
        let mut walk = Walk::new(&self.0, &plan, event, WaitMode::Async);
        poll_fn(|context| walk.poll(context)).await;
        walk.end()
    }

    /// Like [`fire`](Self::fire), but ends when `stop` is ready: running hooks are then stopped, and the
    /// outcome is what was decided so far. The second value is whether all hooks ran. If the fire was
    /// stopped, observers do not run.
    ///
    /// `stop` is polled each time before the fire is.
    pub async fn fire_until(
        &self,
        event: impl Into<Event>,
        stop: impl Future<Output = ()>,
    ) -> (Outcome, bool) {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        let Some(plan) = self.0.plan(&event) else { return (self.0.outcome_without_hooks(event), true) };
        finish_until(Walk::new(&self.0, &plan, event, WaitMode::Async), stop).await
    }

    /// Like [`recheck`](Self::recheck), but ends when `stop` is ready; see [`fire_until`](Self::fire_until).
    pub async fn recheck_until(
        &self,
        event: impl Into<Event>,
        stop: impl Future<Output = ()>,
    ) -> (Outcome, bool) {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        let plan = self.0.plan(&event);
        let Some(guards) = plan.as_ref().and_then(|plan| plan.guards()) else {
            return (Outcome::new(event.kind().clone()), true);
        };
        finish_until(Walk::recheck(&self.0, guards, event, WaitMode::Async), stop).await
    }

    /// Like [`fire`](Self::fire), but waits for the outcome on this thread. It may be called inside an async
    /// runtime, which it does not use, and whose thread it blocks.
    pub fn fire_blocking(&self, event: impl Into<Event>) -> Outcome {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        match self.0.plan(&event) {
            Some(plan) => self.walk_here(&plan, event),
            None => self.0.outcome_without_hooks(event),
        }
    }

    fn walk_here(&self, plan: &Plan, event: Event) -> Outcome {
        finish_here(Walk::new(&self.0, plan, event, WaitMode::Blocking))
    }

    /// Asks the guards about an event that the host changed after it was fired, for example because a person
    /// edited the input of a tool. No other hook runs. Without a guard, the outcome has no decision.
    ///
    /// As in the second pass of a fire, a guard that wants to rewrite the input denies instead, if the event
    /// can be denied.
    pub async fn recheck(&self, event: impl Into<Event>) -> Outcome {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        let plan = self.0.plan(&event);
        let Some(guards) = plan.as_ref().and_then(|plan| plan.guards()) else {
            return Outcome::new(event.kind().clone());
        };
        let mut walk = Walk::recheck(&self.0, guards, event, WaitMode::Async);
        poll_fn(|context| walk.poll(context)).await;
        walk.end()
    }

    /// Like [`recheck`](Self::recheck), but waits for the outcome on this thread.
    pub fn recheck_blocking(&self, event: impl Into<Event>) -> Outcome {
        let event = ingest(event, &self.0.defaults, &self.0.limits.catalog);
        let plan = self.0.plan(&event);
        match plan.as_ref().and_then(|plan| plan.guards()) {
            Some(guards) => finish_here(Walk::recheck(&self.0, guards, event, WaitMode::Blocking)),
            None => Outcome::new(event.kind().clone()),
        }
    }

    /// The events that can be fired.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.0.limits.catalog
    }

    /// Reads a host's JSON object as the event of this name or alias.
    ///
    /// # Errors
    /// When no event has this name, or the object does not fit it.
    pub fn event(&self, name: &str, json: &[u8]) -> Result<Event, EventError> {
        let kind = self.catalog().find(name);
        let kind =
            kind.ok_or_else(|| EventError::UnknownEvent { detail: self.catalog().unknown_event(name) })?;
        Event::from_json(kind, json)
    }

    /// Registers a base hook and returns its name.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn register(&self, hook: Hook) -> Result<Arc<str>, RegisterError> {
        // Keeps the hook alive until the lock is released, even if it is refused: dropping its code may
        // change the engine.
        let _held = hook.clone();
        self.0.try_change(|registry| {
            let mut base = HookSet::clone(&registry.base);
            let added = base.add(hook, &self.0.limits)?;
            Ok((registry.with_base(base), Changed::Base, Arc::clone(&added.name)))
        })
    }

    /// Removes a hook, by its name as shown. Returns false when no hook has this name, or it is managed.
    pub fn unregister(&self, name: &str) -> bool {
        let removed = self.0.try_change(|registry| {
            match registry.find(name).filter(|entry| entry.layer != Layer::Managed) {
                Some(entry) => {
                    let (registry, changed) = registry.without(entry);
                    Ok((registry, changed, ()))
                }
                None => Err(()),
            }
        });
        removed.is_ok()
    }

    /// Registers an agent's hooks for as long as the handle lives.
    ///
    /// # Errors
    /// What is wrong with one of the hooks. None is registered then.
    pub fn enter(&self, scope: Scope) -> Result<ScopeHandle, RegisterError> {
        let id = Arc::clone(scope.id());
        let added = self.add_scope(scope)?;
        Ok(ScopeHandle { engine: Arc::downgrade(&self.0), id, added })
    }

    fn add_scope(&self, scope: Scope) -> Result<Vec<Registration>, RegisterError> {
        // Keeps the hooks alive until the lock is released, even if they are refused: dropping their code may
        // change the engine.
        let _held = scope.clone();
        let id = Arc::clone(scope.id());
        self.0.try_change(|registry| {
            let (registry, added) = scope.add_to(registry, &self.0.limits)?;
            Ok((registry, Changed::Scope(id), added))
        })
    }

    /// Registers hooks for an agent until [`unregister_scoped`](Self::unregister_scoped).
    ///
    /// These are added to the hooks that the agent already has. To replace those, call
    /// [`unregister_scoped`](Self::unregister_scoped) first.
    ///
    /// # Errors
    /// What is wrong with one of the hooks. None is registered then.
    pub fn register_scoped(
        &self,
        agent_id: &str,
        hooks: impl IntoIterator<Item = Hook>,
    ) -> Result<(), RegisterError> {
        self.add_scope(Scope::new(agent_id).hooks(hooks)).map(|_| ())
    }

    /// Removes all hooks of an agent.
    pub fn unregister_scoped(&self, agent_id: &str) {
        let id: Arc<str> = agent_id.into();
        self.0.change(|registry| (registry.without_scope(&id), Changed::Scope(Arc::clone(&id))));
    }

    /// Enables a hook.
    ///
    /// # Errors
    /// When no hook has this name.
    pub fn enable(&self, name: &str) -> Result<(), SwitchError> {
        self.switch(name, true)
    }

    /// Disables a hook, which stays registered.
    ///
    /// # Errors
    /// When no hook has this name, or it is a system hook or a managed one.
    pub fn disable(&self, name: &str) -> Result<(), SwitchError> {
        self.switch(name, false)
    }

    fn switch(&self, name: &str, enabled: bool) -> Result<(), SwitchError> {
        self.0.try_change(|registry| {
            let (registry, changed) = registry.switched(name, enabled)?;
            Ok((registry, changed, ()))
        })
    }

    /// Whether a hook of this name exists and is enabled.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.enabled)
    }

    /// The hook of this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        self.0.planner.load().registry.find(name).cloned()
    }

    /// Every hook, base first, then scope by scope in the order they were registered.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.0.planner.load().registry.entries().cloned().collect()
    }

    /// Whether a hook on this event was ever registered. If not, firing it runs nothing.
    #[must_use]
    pub fn may_have_hooks(&self, kind: &EventKind) -> bool {
        let Limits { catalog, hooked, .. } = &self.0.limits;
        match catalog.contains(kind) {
            true => hooked.may_have_hooks(kind.index()),
            false => catalog.bind(kind).is_none_or(|kind| hooked.may_have_hooks(kind.index())),
        }
    }

    /// Whether any hook would run for this event.
    #[must_use]
    pub fn is_wanted(&self, event: &Event) -> bool {
        self.0.plan_for(event).is_some()
    }

    /// How long the hooks of this event can take together, if each uses its whole time limit and is asked twice, as
    /// guards are. Callbacks do not count: zero means that no process is started.
    #[must_use]
    pub fn longest_run(&self, event: &Event) -> Duration {
        let Some(plan) = self.0.plan_for(event) else { return Duration::ZERO };
        let hooks = plan.hooks().iter().chain(plan.observers());
        hooks.filter(|hook| !hook.handler.is_callback()).map(|hook| hook.timeout * 2).sum()
    }

    /// The plan for this event, and why each other hook is not in it.
    #[must_use]
    pub fn explain(&self, event: &Event) -> Explanation {
        event.complete(&self.0.defaults);
        let event = event.clone().bound(self.catalog());
        if !self.catalog().contains(event.kind()) {
            return Explanation { plan: Arc::default(), excluded: Vec::new() };
        }
        self.0.planner.load().explain(&event)
    }

    /// Subscribes to messages about running hooks, with a queue for this many unread messages.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Listener {
        self.0.bus.subscribe(capacity)
    }

    /// Kills every process that runs for this engine. Later command hooks fail.
    pub fn shut_down(&self) {
        self.0.resources.processes.shut_down();
    }

    /// How many processes run for hooks at this moment: commands, and Python workers that are busy with a
    /// call. After [`shut_down`](Self::shut_down), which ends idle workers itself, it falls to 0: a host that
    /// is about to exit can wait for that, so that no hook outlives it.
    #[must_use]
    pub fn running_processes(&self) -> usize {
        self.0.resources.processes.running_processes()
    }

    /// A file descriptor for a signal handler: writing one byte to it kills every process that runs for this
    /// engine, as [`shut_down`](Self::shut_down) does.
    ///
    /// # Errors
    /// When the engine is shut down, or no descriptors are left.
    pub fn kill_switch(&self) -> io::Result<OwnedFd> {
        self.0.resources.processes.shutdown_handle()
    }
}
