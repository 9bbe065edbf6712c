//! What is logged of python hooks: hooks and kinds by default, a traceback for who asks for it.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::lab::{Way, one_way, tool};

/// Writes down every event, with all its fields, at the levels that people see by default and at all.
#[derive(Debug, Clone, Default)]
struct Log {
    by_default: Arc<Mutex<String>>,
    all: Arc<Mutex<String>>,
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{}:", event.metadata().level());
        event.record(&mut Line(&mut line));
        line.push('\n');
        if *event.metadata().level() <= Level::INFO {
            self.by_default.lock().unwrap().push_str(&line);
        }
        self.all.lock().unwrap().push_str(&line);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn an_exception_is_logged_by_its_kind_and_its_traceback_for_who_asks() {
    one_way(Way::Async, |lab| {
        let log = Log::default();
        tracing::subscriber::set_global_default(log.clone()).unwrap();
        let desk = lab.desk(
            "def inner(event): raise ValueError(event.args['command'] + ' hunter2')
def raises(event): return inner(event)
def dies(event): os._exit(1)
def prints(event): print('hunter2')",
        );
        for function in ["raises", "dies", "prints", "nothing"] {
            lab.fire(&desk.engine, tool(function));
        }
        let by_default = log.by_default.lock().unwrap().clone();
        assert_eq!(by_default.matches("hook failed").count(), 3, "{by_default}");
        assert!(by_default.contains("kind=error") && by_default.contains("kind=worker_lost"), "{by_default}");
        assert!(!by_default.contains("hunter2") && !by_default.contains("Traceback"), "{by_default}");
        let all = log.all.lock().unwrap().clone();
        for part in ["DEBUG", "Traceback", "in raises", "in inner", "ValueError: ls hunter2"] {
            assert!(all.contains(part), "no {part} in {all}");
        }
    });
}
