//! Statistics of all fires of a session, by event.

use std::time::Duration;

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Outcome, Status};
use crosier_agent::agent::EVENTS;

use super::effect::effects;

/// The fires of each event, in the order of the event table.
#[derive(Debug)]
pub(crate) struct Tally(Vec<Row>);

/// The figures of one event.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) event: &'static str,
    pub(crate) fired: usize,
    /// How many times a hook ran.
    pub(crate) hooks: usize,
    /// Each kind of effect and how often it occurred, in the order in which they first occurred.
    pub(crate) effects: Vec<(&'static str, usize)>,
    times: Vec<Duration>,
}

impl Default for Tally {
    fn default() -> Self {
        let row = |event| Row { event, fired: 0, hooks: 0, effects: Vec::new(), times: Vec::new() };
        Self(EVENTS.into_iter().map(row).collect())
    }
}

impl Tally {
    /// Adds a fire.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let Some(row) = self.0.iter_mut().find(|row| row.event == outcome.event.name) else { return };
        row.fired += 1;
        for report in outcome.reports.iter().filter(|report| report.status != Status::Skipped) {
            row.hooks += 1;
            row.times.extend(report.duration);
        }
        for effect in effects(outcome) {
            match row.effects.iter_mut().find(|(word, _)| *word == effect.word) {
                Some((_, count)) => *count += 1,
                None => row.effects.push((effect.word, 1)),
            }
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.0
    }

    pub(crate) fn to_json(&self) -> Value {
        let rows = self.0.iter().map(|row| {
            let effects: crosier::protocol::ordered::Map =
                row.effects.iter().map(|(word, count)| ((*word).to_owned(), json!(count))).collect();
            let p50 = row.p50().map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
            json!({"event": row.event, "fired": row.fired, "hooks": row.hooks, "effects": effects, "p50_ms": p50})
        });
        rows.collect()
    }
}

impl Row {
    /// The median time of its hooks; of two middle values, the longer.
    pub(crate) fn p50(&self) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    /// `deny 2, rewrite`.
    pub(crate) fn effects_in_words(&self) -> String {
        let words = self.effects.iter().map(|(word, count)| match count {
            1 => (*word).to_owned(),
            count => format!("{word} {count}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosier::payload::PreToolUse;
    use crosier::{Engine, Hook, Reply};

    #[test]
    fn fires_hooks_and_effects_are_counted_by_event() {
        let deny = Hook::on(PreToolUse).matching("Bash").callback(|_: &PreToolUse| Reply::deny("no"));
        let engine = Engine::builder().hook(deny).timing().build().unwrap();
        let mut tally = Tally::default();
        for tool in ["Bash", "Read", "Bash"] {
            tally.add(&engine.fire_blocking(PreToolUse::new(tool, json!({}))));
        }
        let row = tally.rows().iter().find(|row| row.event == "PreToolUse").unwrap();
        assert_eq!((row.fired, row.hooks, row.effects_in_words().as_str()), (3, 2, "deny 2"));
        assert!(row.p50().is_some());
        assert_eq!(tally.rows().len(), EVENTS.len());
    }
}
