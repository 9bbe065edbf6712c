//! G10: many command hooks on one event, in parallel against one after the other.

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook, Mode};

use super::command::{LINE, current_thread};
use crate::lab::{Findings, Lab, check_ran, event_of};
use crate::measure::{Group, clock};
use crate::row::Row;

const HOOKS: usize = 100;

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let command = CommandSpec::shell(LINE, lab.folder());
    let work = "100 command hooks, parallel against sequential";
    let row = compare(lab, "G10", work, &command, lab.budget.pick((5, 20), (2, 4)))?;
    findings.rows.push(row.at_most(0.80).note("a round is 100 hooks each way, so there are fewer rounds"));
    let waits = CommandSpec::argv(["/bin/sleep", "0.02"], lab.folder());
    let work = "100 hooks that wait 20 ms, parallel against sequential";
    let row = compare(lab, "G10.wait", work, &waits, lab.budget.pick((5, 6), (1, 3)))?;
    findings.rows.push(row.at_most(0.20).note("at the default width of min(8, 4 x cores)"));
    Ok(())
}

fn compare(
    lab: &Lab,
    id: &str,
    work: &str,
    command: &CommandSpec,
    (runs, rounds): (usize, usize),
) -> Result<Row> {
    let of = |mode: Mode| -> Result<Engine> {
        let hooks = (0..HOOKS).map(|_| Hook::on(PreToolUse).mode(mode).command(command.clone()));
        Ok(lab.engine().hooks(hooks).build()?)
    };
    let (sequential, parallel, runtime) = (of(Mode::Sequential)?, of(Mode::Parallel)?, current_thread()?);
    let fire = |engine: &Engine| {
        let event = Event::from(event_of(1_024));
        let (time, outcome) = clock(|| runtime.block_on(engine.fire(&event)));
        check_ran(&outcome, HOOKS)?;
        Ok(time)
    };
    let mut group = Group::default();
    let sequential = group.case("sequential", || fire(&sequential));
    let parallel = group.case("parallel", || fire(&parallel));
    let samples = group.run(runs, rounds)?;
    Ok(Row::ratio(id, work, &samples, parallel, sequential))
}
