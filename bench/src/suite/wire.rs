//! G7: the JSON of an event is made only once, however many hooks ask for it.

use std::hint::black_box;

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Reply};

use crate::lab::{Findings, Lab, check_ran, event_of};
use crate::measure::{Group, clock};
use crate::row::Row;

const HOOKS: usize = 10;

/// Ten callbacks, of which `asking` ask for the JSON.
fn asking(lab: &Lab, asking: usize) -> Result<Engine> {
    let hooks = (0..HOOKS).map(|number| {
        let asks = number < asking;
        Hook::on_event(PreToolUse.kind()).callback(move |event: &Event| {
            if asks {
                black_box(event.wire().is_ok());
            }
            Reply::none()
        })
    });
    Ok(lab.engine().hooks(hooks).build()?)
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let (one, all) = (asking(lab, 1)?, asking(lab, HOOKS)?);
    for (bytes, name, repeats) in [(1_024, "1 KB", 20), (102_400, "100 KB", 1), (1_048_576, "1 MB", 1)] {
        let payload = event_of(bytes);
        let fire = |engine: &Engine| -> Result<f64> {
            // Every fire needs a new event, because the JSON of an old one already exists.
            let events: Vec<Event> = (0..repeats).map(|_| payload.clone().into()).collect();
            let (time, outcomes) =
                clock(|| events.iter().map(|event| engine.fire_blocking(event)).collect::<Vec<_>>());
            outcomes.iter().try_for_each(|outcome| check_ran(outcome, HOOKS))?;
            Ok(time / f64::from(repeats))
        };
        let mut group = Group::default();
        let one = group.case("one of ten hooks asks", || fire(&one));
        let all = group.case("ten hooks ask", || fire(&all));
        let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
        let id = format!("G7.{}", name.replace(' ', "").to_lowercase());
        let work = format!("event JSON of {name} for 10 hooks against one");
        findings.rows.push(Row::ratio(&id, work, &samples, all, one).at_most(1.15));
    }
    Ok(())
}
