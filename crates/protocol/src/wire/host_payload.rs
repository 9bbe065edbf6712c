//! Events whose payload the host keeps in its own form, such as objects of another language. Their JSON is made only
//! when it is needed.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use serde_json::Error;

use super::event::{Body, Event};
use crate::event::EventKind;
use crate::json::Json;
use crate::payload::{AnyPayload, Base, FieldSink};

/// A payload in the host's own form.
///
/// The host must have checked that it fits the event: required fields are present, and each holds what the
/// row says.
pub trait HostPayload: Debug + Send + Sync + 'static {
    /// The fields that every event has.
    fn base(&self) -> &Base;

    /// The value that matchers run on.
    fn matcher_value(&self) -> Option<&str>;

    /// Returns every payload field with its JSON, in order.
    ///
    /// # Errors
    /// Why it cannot be written. Hooks that need the JSON then fail, and the event is denied if it can be.
    fn fields(&self) -> Result<Vec<(String, Json)>, String>;

    /// The host's own value.
    fn as_any(&self) -> &(dyn Any + Send + Sync);
}

#[derive(Debug)]
struct HostPayloadAdapter(Arc<dyn HostPayload>);

impl AnyPayload for HostPayloadAdapter {
    fn base(&self) -> &Base {
        self.0.base()
    }
    fn agent_id(&self) -> Option<&str> {
        self.0.base().agent_id.as_deref()
    }
    fn matcher_value(&self) -> Option<&str> {
        self.0.matcher_value()
    }
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
    fn serialize_fields(&self, sink: &mut dyn FieldSink) -> Result<(), Error> {
        use serde::ser::Error as _;
        for (name, json) in self.0.fields().map_err(Error::custom)? {
            if let Some(out) = sink.begin(&name) {
                out.extend_from_slice(json.text().as_bytes());
                sink.end(&name);
            }
        }
        Ok(())
    }
}

impl Event {
    /// An event of this kind with a payload that the host keeps.
    pub fn from_host_payload(kind: EventKind, host_payload: Arc<dyn HostPayload>) -> Self {
        let body = Body::Typed(Arc::new(HostPayloadAdapter(Arc::clone(&host_payload))));
        Self::with_host_payload(kind, body, host_payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Catalog;

    #[derive(Debug, Default)]
    struct Mine {
        base: Base,
        broken: bool,
    }

    impl HostPayload for Mine {
        fn base(&self) -> &Base {
            &self.base
        }
        fn matcher_value(&self) -> Option<&str> {
            Some("Bash")
        }
        fn fields(&self) -> Result<Vec<(String, Json)>, String> {
            if self.broken {
                return Err("`tool_input.x` is a set".to_owned());
            }
            let input = Json::parse(r#"{"n":123456789012345678901234567890}"#).map_err(|e| e.to_string())?;
            Ok(vec![("tool_name".to_owned(), "Bash".into()), ("tool_input".to_owned(), input)])
        }
        fn as_any(&self) -> &(dyn Any + Send + Sync) {
            self
        }
    }

    fn event(host_payload: Mine) -> Event {
        Event::from_host_payload(Catalog::default().find("PreToolUse").unwrap(), Arc::new(host_payload))
    }

    #[test]
    fn its_json_is_made_late_and_a_rewritten_event_still_knows_it() {
        let event = event(Mine::default());
        assert_eq!(event.matcher_value(), Some("Bash"));
        assert!(event.wire().unwrap().contains("123456789012345678901234567890"));
        let rewritten = event.rewritten("tool_input", Json::parse("{}").unwrap());
        assert_eq!(rewritten.get("tool_input").unwrap().text(), "{}");
        assert!(rewritten.host_payload().unwrap().as_any().is::<Mine>());
    }

    #[test]
    fn what_cannot_be_written_is_a_delivery_failure() {
        let event = event(Mine { broken: true, ..Mine::default() });
        assert!(event.wire().unwrap_err().detail.contains("tool_input.x"));
    }
}
