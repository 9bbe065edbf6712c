//! What the engine logs, written down.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Every event, with all its fields, at the levels that people see by default and at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logged {
    by_default: Arc<Mutex<String>>,
    all: Arc<Mutex<String>>,
}

impl Logged {
    pub(crate) fn by_default(&self) -> String {
        self.by_default.lock().unwrap().clone()
    }

    pub(crate) fn all(&self) -> String {
        self.all.lock().unwrap().clone()
    }

    pub(crate) fn clear(&self) {
        self.by_default.lock().unwrap().clear();
        self.all.lock().unwrap().clear();
    }

    fn add(&self, level: &Level, line: &str) {
        if *level <= Level::INFO {
            self.by_default.lock().unwrap().push_str(line);
        }
        self.all.lock().unwrap().push_str(line);
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Logged {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut line = String::new();
        attributes.record(&mut Line(&mut line));
        self.add(attributes.metadata().level(), &line);
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = String::new();
        values.record(&mut Line(&mut line));
        self.add(&Level::INFO, &line);
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{}:", event.metadata().level());
        event.record(&mut Line(&mut line));
        line.push('\n');
        self.add(event.metadata().level(), &line);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
