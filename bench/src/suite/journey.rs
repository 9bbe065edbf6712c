//! The cost of one PreToolUse for a host, from a new event to the outcome.

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook};

use super::callback::{async_guard, guard};
use super::command::{LINE, current_thread};
use super::python;
use crate::lab::{Findings, Lab, check_ran, event_of};
use crate::measure::{CaseId, Group, clock};
use crate::row::Row;

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let runtime = current_thread()?;
    let command = || Hook::on(PreToolUse).command(CommandSpec::shell(LINE, lab.folder()));
    let Some(interpreter) = &lab.python else {
        findings.skip("journey", "there is no python3");
        return Ok(());
    };
    let python = || python::hook(lab, interpreter, "guard");
    let inline = lab.engine().hook(guard(0)).build()?;
    let one_command = lab.engine().hook(command()).build()?;
    let one_python = lab.engine().hook(python()?).build()?;
    let mixed = (0..6).map(guard).chain((0..2).map(async_guard)).chain([command(), python()?]);
    let mixed = lab.engine().hooks(mixed).build()?;
    let payload = event_of(1_024);
    let fire = |engine: &Engine, hooks: usize| -> Result<f64> {
        let (time, outcome) = clock(|| {
            let event = Event::from(payload.clone());
            runtime.block_on(engine.fire(event))
        });
        check_ran(&outcome, hooks)?;
        Ok(time)
    };
    let mut group = Group::default();
    let cases = [
        ("journey.a", "one inline callback", group.case("fire", || fire(&inline, 1))),
        ("journey.b", "one command", group.case("fire", || fire(&one_command, 1))),
        ("journey.c", "one warm python hook", group.case("fire", || fire(&one_python, 1))),
        (
            "journey.d",
            "ten: 6 callbacks, 2 async, 1 command, 1 python",
            group.case("fire", || fire(&mixed, 10)),
        ),
    ];
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let row = |(id, what, case): (&str, &str, CaseId)| {
        Row::time(id, format!("one PreToolUse of 1 KB, new event to outcome: {what}"), &samples, case)
            .note("between processes, as in a session: caches are cold")
    };
    findings.rows.extend(cases.map(row));
    Ok(())
}
