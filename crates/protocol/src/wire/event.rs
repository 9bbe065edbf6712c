//! [`Event`]: one fired event.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::encode;
use super::host_payload::HostPayload;
use crate::event::{Catalog, EventKind};
use crate::failure::{Failure, FailureKind};
use crate::json::{self, Json};
use crate::payload::{AnyPayload, Base, FieldList, Payload};

/// The values with which the engine fills in missing base fields.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Defaults {
    /// The session of events that name none.
    pub session_id: String,
    /// The folder of events that name none.
    pub cwd: String,
    /// The current time, as RFC 3339 in UTC.
    pub now: fn() -> String,
}

impl Defaults {
    /// Defaults with this session, this folder and this clock.
    #[must_use]
    pub fn new(session_id: impl Into<String>, cwd: impl Into<String>, now: fn() -> String) -> Self {
        Self { session_id: session_id.into(), cwd: cwd.into(), now }
    }
}

/// One fired event. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Event(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: EventKind,
    body: Body,
    /// Further values that matchers run on.
    other_names: Option<Arc<[String]>>,
    /// Fields that the engine adds after the payload: `outcome`, for observers.
    extra: Vec<(&'static str, Json)>,
    defaults: OnceLock<Arc<Defaults>>,
    /// Shared by all rewritten versions of the event, so that they have the same timestamp.
    timestamp: Arc<OnceLock<String>>,
    wire: OnceLock<Result<encode::Wire, Failure>>,
    entries: OnceLock<Vec<(String, Json)>>,
    decoded: DecodedPayloads,
    /// The payload in the host's own form, as it was fired; rewritten versions of the event keep it.
    host_payload: Option<Arc<dyn HostPayload>>,
}

/// The payload decoded into the types that callbacks asked for: a linked list, usually of one element.
#[derive(Debug, Clone, Default)]
struct DecodedPayloads(OnceLock<Box<DecodedPayload>>);

#[derive(Debug, Clone)]
struct DecodedPayload {
    payload: Arc<dyn Any + Send + Sync>,
    next: DecodedPayloads,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    /// The host's struct.
    Typed(Arc<dyn AnyPayload>),
    /// Read from JSON: the base fields, then payload and unknown fields in order.
    Fields { base: Base, fields: Vec<(String, Json)>, matcher_value: Option<String> },
}

impl Event {
    pub(super) fn new(kind: EventKind, body: Body) -> Self {
        Self::make(kind, body, None)
    }

    pub(super) fn with_host_payload(kind: EventKind, body: Body, host_payload: Arc<dyn HostPayload>) -> Self {
        Self::make(kind, body, Some(host_payload))
    }

    fn make(kind: EventKind, body: Body, host_payload: Option<Arc<dyn HostPayload>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            body,
            other_names: None,
            extra: Vec::new(),
            defaults: OnceLock::new(),
            timestamp: Arc::default(),
            wire: OnceLock::new(),
            entries: OnceLock::new(),
            decoded: DecodedPayloads::default(),
            host_payload,
        }))
    }

    /// The payload in the host's own form, as it was fired. A rewritten event returns it unchanged: replaced values are
    /// only in the event itself.
    #[must_use]
    pub fn host_payload(&self) -> Option<&Arc<dyn HostPayload>> {
        self.0.host_payload.as_ref()
    }

    /// Whether all of its payload is in the host's own form: nothing was replaced or added.
    #[must_use]
    pub fn is_only_host_payload(&self) -> bool {
        self.0.host_payload.is_some() && matches!(self.0.body, Body::Typed(_)) && self.0.extra.is_empty()
    }

    /// Makes an event from a host's struct that does not return its matcher value: the value is read from its
    /// JSON.
    fn with_matcher_from_json<P: Payload>(kind: EventKind, payload: P) -> Self {
        let event = Self::new(kind, Body::Typed(Arc::new(payload.clone())));
        let Some(fields) = event.payload_fields() else { return event };
        let mut base = event.base().clone();
        base.agent_id = event.agent_id().map(str::to_owned);
        let matcher_value = super::ingest::matcher_value(event.kind(), &fields);
        let event = event.with_body(Body::Fields { base, fields, matcher_value }, Vec::new());
        let _ = event
            .0
            .decoded
            .0
            .set(Box::new(DecodedPayload { payload: Arc::new(payload), next: DecodedPayloads::default() }));
        event
    }

    /// The same event, with its row as this catalog holds it. A row that is not in the catalog stays as it
    /// is.
    #[inline]
    #[must_use]
    pub fn bound(self, catalog: &Catalog) -> Self {
        if catalog.contains(&self.0.kind) { self } else { self.bind(catalog) }
    }

    #[cold]
    fn bind(self, catalog: &Catalog) -> Self {
        let Some(kind) = catalog.bind(&self.0.kind) else { return self };
        let mut event = self.with_body(self.0.body.clone(), self.0.extra.clone());
        // The `Arc` is not shared yet.
        if let Some(inner) = Arc::get_mut(&mut event.0) {
            inner.kind = kind;
            inner.decoded.clone_from(&self.0.decoded);
        }
        event
    }

    /// The kind of the event: its row.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> &EventKind {
        &self.0.kind
    }

    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.kind.name
    }

    /// The value that matchers run on.
    #[inline]
    #[must_use]
    pub fn matcher_value(&self) -> Option<&str> {
        match &self.0.body {
            Body::Typed(payload) => payload.matcher_value(),
            Body::Fields { matcher_value, .. } => matcher_value.as_deref(),
        }
    }

    /// The same event; matchers also run on these names. A tool can have another name in its agent.
    #[must_use]
    pub fn also_matching(mut self, names: Vec<String>) -> Self {
        if Arc::get_mut(&mut self.0).is_none() {
            self = self.with_body(self.0.body.clone(), self.0.extra.clone());
        }
        // The `Arc` is not shared yet.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.other_names = Some(names.into());
        }
        self
    }

    /// Further values that matchers run on, besides [`matcher_value`](Self::matcher_value).
    #[inline]
    #[must_use]
    pub fn other_names(&self) -> &[String] {
        self.0.other_names.as_deref().unwrap_or_default()
    }

    /// Sets the values for missing base fields. Only the first call has an effect.
    #[inline]
    pub fn complete(&self, defaults: &Arc<Defaults>) {
        if self.0.defaults.get().is_none() {
            let _ = self.0.defaults.set(Arc::clone(defaults));
        }
    }

    /// The same event with these values for missing base fields. JSON that was written without them is discarded.
    #[inline]
    #[must_use]
    pub fn completed(self, defaults: &Arc<Defaults>) -> Self {
        if self.0.defaults.get().is_some() { self } else { self.complete_now(defaults) }
    }

    #[inline(never)]
    fn complete_now(self, defaults: &Arc<Defaults>) -> Self {
        let event = match self.0.wire.get() {
            Some(_) => self.with_body(self.0.body.clone(), self.0.extra.clone()),
            None => self,
        };
        event.complete(defaults);
        event
    }

    fn base(&self) -> &Base {
        match &self.0.body {
            Body::Typed(payload) => payload.base(),
            Body::Fields { base, .. } => base,
        }
    }

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        let given = self.base().session_id.as_deref();
        given.or_else(|| self.0.defaults.get().map(|d| d.session_id.as_str())).unwrap_or_default()
    }

    /// The folder in which the agent works.
    #[must_use]
    pub fn cwd(&self) -> &str {
        let given = self.base().cwd.as_deref();
        given.or_else(|| self.0.defaults.get().map(|d| d.cwd.as_str())).unwrap_or_default()
    }

    /// The agent that this happens in.
    #[inline]
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        match &self.0.body {
            Body::Typed(payload) => payload.agent_id(),
            Body::Fields { base, .. } => base.agent_id.as_deref(),
        }
    }

    /// The path of the transcript.
    #[must_use]
    pub fn transcript_path(&self) -> &str {
        self.base().transcript_path.as_deref().unwrap_or_default()
    }

    /// How the host asks for permissions.
    #[must_use]
    pub fn permission_mode(&self) -> Option<&str> {
        self.base().permission_mode.as_deref()
    }

    /// The id of the orchestrator that runs the agents.
    #[must_use]
    pub fn orchestrator_id(&self) -> &str {
        self.base().orchestrator_id.as_deref().unwrap_or_default()
    }

    /// When it happened (RFC 3339, UTC).
    #[must_use]
    pub fn timestamp(&self) -> &str {
        if let Some(given) = self.base().timestamp.as_deref() {
            return given;
        }
        match self.0.defaults.get() {
            Some(defaults) => self.0.timestamp.get_or_init(defaults.now),
            None => "",
        }
    }

    /// The field with this name: of the base, of the payload, or one that the host added.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Json> {
        let entries = self.0.entries.get_or_init(|| match self.wire() {
            Ok(wire) => json::object_entries(wire).unwrap_or_default(),
            Err(_) => Vec::new(),
        });
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    }

    /// The JSON object that hooks get, made once.
    ///
    /// # Errors
    /// The failure `delivery`, when the host's own payload cannot be written as JSON.
    pub fn wire(&self) -> Result<&str, &Failure> {
        self.encoded().map(|wire| wire.text.as_str())
    }

    /// Where in [`wire`](Self::wire) the values of large fields are (64 KiB and more), in order. Empty when there is no
    /// such field.
    #[must_use]
    pub fn large_values(&self) -> &[Range<usize>] {
        self.encoded().map_or(&[], |wire| &wire.large)
    }

    /// Like [`large_values`](Self::large_values), for an event of which only the JSON is known. Empty when it is no
    /// JSON object.
    #[must_use]
    pub fn large_values_of(wire: &str) -> Vec<Range<usize>> {
        encode::large_values(wire)
    }

    fn encoded(&self) -> Result<&encode::Wire, &Failure> {
        let made = self.0.wire.get_or_init(|| {
            encode::event(self).map_err(|error| {
                Failure::new(FailureKind::Delivery, format!("the event cannot be written as JSON: {error}"))
            })
        });
        made.as_ref()
    }

    /// The payload as its struct.
    ///
    /// # Errors
    /// The failure `delivery`, when the fields do not fit the struct.
    pub fn typed<P: Payload>(&self) -> Result<&P, Failure> {
        if let Body::Typed(payload) = &self.0.body {
            if let Some(payload) = payload.as_any().downcast_ref::<P>() {
                return Ok(payload);
            }
        }
        self.decoded_as::<P>().and_then(|payload| payload.downcast_ref()).ok_or_else(|| self.unfit())
    }

    /// The payload as a shared struct, for callbacks that outlive the call.
    ///
    /// # Errors
    /// The failure `delivery`, when the fields do not fit the struct.
    pub fn shared<P: Payload>(&self) -> Result<Arc<P>, Failure> {
        if let Body::Typed(payload) = &self.0.body {
            if let Ok(payload) = Arc::clone(payload).into_any().downcast::<P>() {
                return Ok(payload);
            }
        }
        let payload = self.decoded_as::<P>().and_then(|payload| Arc::clone(payload).downcast().ok());
        payload.ok_or_else(|| self.unfit())
    }

    /// The payload as this struct, read from the JSON once.
    fn decoded_as<P: Payload>(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        let mut decoded = &self.0.decoded;
        loop {
            match decoded.0.get() {
                Some(payload) if payload.payload.is::<P>() => return Some(&payload.payload),
                Some(payload) => decoded = &payload.next,
                None => {
                    let payload = self.decode::<P>()?;
                    let _ =
                        decoded.0.set(Box::new(DecodedPayload { payload, next: DecodedPayloads::default() }));
                }
            }
        }
    }

    fn decode<P: Payload>(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        if self.0.kind.name != P::row().name {
            return None;
        }
        let payload: P = json::from_text(self.wire().ok()?).ok()?;
        let base = Base {
            session_id: Some(self.session_id().to_owned()),
            transcript_path: Some(self.transcript_path().to_owned()),
            cwd: Some(self.cwd().to_owned()),
            permission_mode: self.permission_mode().map(str::to_owned),
            agent_id: self.agent_id().map(str::to_owned),
            orchestrator_id: Some(self.orchestrator_id().to_owned()),
            timestamp: Some(self.timestamp().to_owned()),
        };
        Some(Arc::new(payload.with_base(base)))
    }

    fn unfit(&self) -> Failure {
        Failure::new(
            FailureKind::Delivery,
            format!("the event {} does not fit the type that the callback takes", self.name()),
        )
    }

    /// The same event, happening in this agent.
    #[must_use]
    pub fn in_agent(&self, agent_id: &str) -> Self {
        let mut base = self.base().clone();
        base.agent_id = Some(agent_id.to_owned());
        let matcher_value = self.matcher_value().map(str::to_owned);
        let fields = self.payload_fields().unwrap_or_default();
        let body = Body::Fields { base, fields, matcher_value };
        self.with_body(body, self.0.extra.clone())
    }

    /// The same event with one payload field replaced.
    #[must_use]
    pub fn rewritten(&self, field: &str, value: Json) -> Self {
        self.replaced(field, value).0
    }

    /// The same event with one payload field replaced, and the field's previous value, if it had one.
    #[must_use]
    pub fn replaced(&self, field: &str, value: Json) -> (Self, Option<Json>) {
        // A payload that cannot be serialized is never delivered to a hook that needs its JSON, rewritten or
        // not.
        let Some(mut fields) = self.payload_fields() else { return (self.clone(), None) };
        let old = match fields.iter_mut().find(|(name, _)| name == field) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                fields.push((field.to_owned(), value));
                None
            }
        };
        let mut base = self.base().clone();
        base.agent_id = self.agent_id().map(str::to_owned);
        let matcher_value = self.matcher_value().map(str::to_owned);
        let body = Body::Fields { base, fields, matcher_value };
        (self.with_body(body, self.0.extra.clone()), old)
    }

    /// The same event with one more field at its end.
    #[must_use]
    pub fn with_extra(&self, name: &'static str, value: Json) -> Self {
        let mut extra = self.0.extra.clone();
        extra.push((name, value));
        self.with_body(self.0.body.clone(), extra)
    }

    fn with_body(&self, body: Body, extra: Vec<(&'static str, Json)>) -> Self {
        Self(Arc::new(Inner {
            kind: self.0.kind.clone(),
            body,
            other_names: self.0.other_names.clone(),
            extra,
            defaults: self.0.defaults.clone(),
            timestamp: Arc::clone(&self.0.timestamp),
            wire: OnceLock::new(),
            entries: OnceLock::new(),
            decoded: DecodedPayloads::default(),
            host_payload: self.0.host_payload.clone(),
        }))
    }

    pub(super) fn extra(&self) -> &[(&'static str, Json)] {
        &self.0.extra
    }

    pub(super) fn body(&self) -> &Body {
        &self.0.body
    }

    /// The payload and the host's own fields, in order.
    fn payload_fields(&self) -> Option<Vec<(String, Json)>> {
        match &self.0.body {
            Body::Fields { fields, .. } => Some(fields.clone()),
            Body::Typed(payload) => {
                let mut fields = FieldList::default();
                payload.serialize_fields(&mut fields).ok()?;
                Some(fields.all)
            }
        }
    }
}

impl<P: Payload> From<P> for Event {
    fn from(payload: P) -> Self {
        let kind = EventKind::Static(P::row());
        if kind.matcher.is_some() && payload.matcher_value().is_none() {
            return Self::with_matcher_from_json(kind, payload);
        }
        Self::new(kind, Body::Typed(Arc::new(payload)))
    }
}

impl From<&Event> for Event {
    fn from(event: &Event) -> Self {
        event.clone()
    }
}
