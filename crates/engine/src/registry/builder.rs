//! Builds hooks: `Hook::on(PreToolUse).named("guard").matching("Bash").callback(|e: &PreToolUse| …)`.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, Event, EventKind, EventOf, Failure, Payload};
use futures_util::FutureExt;

use super::handler::{Call, Callback, CommandSpec, Handler, PythonSpec};
use super::hook::{DEFAULT_PRIORITY, Enforcement, Hook, Mode, OnError};
use super::layer::Layer;
use super::matcher::Matcher;
use super::service::Service;
use super::sources::Sources;

/// A hook without its code. `E` is what callbacks take: [`Typed`] or [`Untyped`].
#[derive(Debug, Clone)]
#[must_use = "a hook has an effect only when it gets its code and is registered"]
pub struct HookBuilder<E> {
    kind: EventKind,
    name: Option<Arc<str>>,
    matcher: Option<String>,
    priority: i32,
    timeout: Option<Duration>,
    on_error: Option<OnError>,
    mode: Mode,
    enforcement: Enforcement,
    guard: Option<bool>,
    system: bool,
    enabled: bool,
    description: Option<Arc<str>>,
    takes: PhantomData<fn(&E)>,
}

impl Hook {
    /// Begins a hook on an event that has a payload struct; its callbacks get that struct.
    pub fn on<P: Payload>(event: EventOf<P>) -> HookBuilder<Typed<P>> {
        HookBuilder::new(event.kind())
    }

    /// Begins a hook on any event, built-in or defined by the host; its callbacks get an [`Event`].
    pub fn on_event(kind: EventKind) -> HookBuilder<Untyped> {
        HookBuilder::new(kind)
    }

    /// What it runs.
    #[must_use]
    pub fn handler(&self) -> &Handler {
        &self.handler
    }

    /// The same hook as part of this layer.
    #[must_use]
    pub fn in_layer(self, layer: Layer) -> Self {
        Self { layer, ..self }
    }

    /// The same hook, which runs only while its files are unchanged from this record.
    #[must_use]
    pub fn with_sources(self, sources: Arc<dyn Sources>) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// The hook's name, if it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The same hook under another name.
    #[must_use]
    pub fn renamed(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

impl<E> HookBuilder<E> {
    fn new(kind: EventKind) -> Self {
        Self {
            kind,
            name: None,
            matcher: None,
            priority: DEFAULT_PRIORITY,
            timeout: None,
            on_error: None,
            mode: Mode::Sequential,
            enforcement: Enforcement::Enforce,
            guard: None,
            system: false,
            enabled: true,
            description: None,
            takes: PhantomData,
        }
    }

    /// Names the hook, to find it in reports and to enable or disable it.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets which events of the kind it wants. An invalid matcher is an error when the hook is registered.
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets its place in the order; lower runs first. By convention: 1 system-critical, 10 security, 50 user
    /// scripts, 100 the default.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Limits its running time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets what happens when it fails.
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = Some(on_error);
        self
    }

    /// Sets when it runs, relative to the event.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether it decides about the final input. If a later hook changed what a guard had let through,
    /// the guard runs again at the end, and its second answer replaces the first. System hooks are guards
    /// unless set otherwise; managed hooks always are.
    pub fn guard(mut self, guard: bool) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Sets whether its answer counts.
    pub fn enforcement(mut self, enforcement: Enforcement) -> Self {
        self.enforcement = enforcement;
        self
    }

    /// Makes it a hook that can be neither overridden nor disabled.
    pub fn system(mut self) -> Self {
        self.system = true;
        self
    }

    /// Registers it disabled.
    pub fn disabled(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// Sets a text that says what it is for.
    pub fn description(mut self, text: impl Into<Arc<str>>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Runs a process for each event.
    pub fn command(self, spec: CommandSpec) -> Hook {
        self.with(Handler::Command(Arc::new(spec)))
    }

    /// Calls a python function for each event.
    pub fn python(self, spec: PythonSpec) -> Hook {
        self.with(Handler::Python(Arc::new(spec)))
    }

    /// Runs a handler kind that the host defines.
    pub fn service(self, service: impl Service + 'static) -> Hook {
        self.with(Handler::Service(Arc::new(service)))
    }

    /// Finishes the hook with this handler.
    pub fn with(self, handler: Handler) -> Hook {
        let matcher = match &self.matcher {
            None => Ok(Matcher::all()),
            Some(text) => Matcher::new(text),
        };
        Hook {
            kind: self.kind,
            name: self.name,
            matcher,
            priority: self.priority,
            timeout: self.timeout,
            on_error: self.on_error,
            mode: self.mode,
            enforcement: self.enforcement,
            guard: self.guard,
            layer: Layer::Host,
            system: self.system,
            enabled: self.enabled,
            description: self.description,
            origin: None,
            sources: None,
            handler,
        }
    }
}

/// What the callbacks of a [`HookBuilder`] take.
pub trait CallbackInput: Send + Sync + 'static {
    /// What a callback gets a reference to.
    type Argument;
    /// What a callback that outlives the call gets.
    type Shared: Send;

    /// The argument, borrowed from the event.
    ///
    /// # Errors
    /// The failure `delivery`, when the event does not fit.
    fn borrow(event: &Event) -> Result<&Self::Argument, Failure>;

    /// The argument, shared with the event.
    ///
    /// # Errors
    /// The failure `delivery`, when the event does not fit.
    fn share(event: &Event) -> Result<Self::Shared, Failure>;
}

/// Callbacks take the event's struct.
#[derive(Debug, Clone, Copy)]
pub struct Typed<P>(PhantomData<fn(&P)>);

/// Callbacks take the [`Event`] itself.
#[derive(Debug, Clone, Copy)]
pub struct Untyped;

impl<P: Payload> CallbackInput for Typed<P> {
    type Argument = P;
    type Shared = Arc<P>;
    fn borrow(event: &Event) -> Result<&P, Failure> {
        event.typed()
    }
    fn share(event: &Event) -> Result<Arc<P>, Failure> {
        event.shared()
    }
}

impl CallbackInput for Untyped {
    type Argument = Event;
    type Shared = Event;
    fn borrow(event: &Event) -> Result<&Event, Failure> {
        Ok(event)
    }
    fn share(event: &Event) -> Result<Event, Failure> {
        Ok(event.clone())
    }
}

impl<E: CallbackInput> HookBuilder<E> {
    /// Runs this code in place. It must not block, and has no timeout.
    pub fn callback<A: Into<Answer>>(self, code: impl Fn(&E::Argument) -> A + Send + Sync + 'static) -> Hook {
        self.callback_with(move |argument, _| code(argument))
    }

    /// Like [`callback`](Self::callback), for code that also takes the [`Call`].
    pub fn callback_with<A: Into<Answer>>(
        self,
        code: impl Fn(&E::Argument, Call<'_>) -> A + Send + Sync + 'static,
    ) -> Hook {
        self.with(Handler::Callback(Callback::Inline(function::<E, A>(code))))
    }

    /// Runs this code on a thread of its own, within the hook's timeout.
    ///
    /// A late answer is dropped and reported as `timeout`. A thread cannot be stopped from outside: it runs
    /// until the code returns, and its side effects happen.
    pub fn blocking_callback<A: Into<Answer>>(
        self,
        code: impl Fn(&E::Argument) -> A + Send + Sync + 'static,
    ) -> Hook {
        self.with(Handler::Callback(Callback::Blocking(function::<E, A>(
            move |argument: &E::Argument, _| code(argument),
        ))))
    }

    /// Polls this future in place; it is dropped at the hook's deadline.
    pub fn async_callback<A, F>(self, code: impl Fn(E::Shared) -> F + Send + Sync + 'static) -> Hook
    where
        A: Into<Answer>,
        F: Future<Output = A> + Send + 'static,
    {
        self.async_callback_with(move |argument, _| code(argument))
    }

    /// Like [`async_callback`](Self::async_callback), for code that also takes the [`Call`].
    pub fn async_callback_with<A, F>(
        self,
        code: impl Fn(E::Shared, Call<'_>) -> F + Send + Sync + 'static,
    ) -> Hook
    where
        A: Into<Answer>,
        F: Future<Output = A> + Send + 'static,
    {
        self.with(Handler::Callback(Callback::Async(Arc::new(move |call| match E::share(call.event) {
            Ok(argument) => Box::pin(code(argument, call).map_into()),
            Err(failure) => Box::pin(std::future::ready(failure.into())),
        }))))
    }
}

fn function<E: CallbackInput, A: Into<Answer>>(
    code: impl Fn(&E::Argument, Call<'_>) -> A + Send + Sync + 'static,
) -> Arc<dyn Fn(Call<'_>) -> Answer + Send + Sync> {
    Arc::new(move |call| match E::borrow(call.event) {
        Ok(argument) => code(argument, call).into(),
        Err(failure) => failure.into(),
    })
}
