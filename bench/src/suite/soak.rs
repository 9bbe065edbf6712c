//! Long sessions: the resources of a process must not grow.

use anyhow::{Context, Result};
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook};

use super::callback::{async_guard, guard};
use super::command::current_thread;
use super::python;
use crate::lab::{Findings, Lab, check, check_ran, event_of};
use crate::machine::{ProcessUsage, children};
use crate::row::{Row, Unit};

/// Memory that the allocator may keep.
const SLACK: f64 = 512.0 * 1_024.0;

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    in_process(lab, findings)?;
    commands(lab, findings)?;
    match &lab.python {
        Some(interpreter) => pythons(lab, interpreter, findings),
        None => {
            findings.skip("soak.python", "there is no python3");
            Ok(())
        }
    }
}

/// Repeats some work; returns how much the resources have grown since the first tenth.
fn grown(
    count: usize,
    held: impl Fn() -> ProcessUsage,
    mut work: impl FnMut(usize) -> Result<()>,
) -> Result<ProcessUsage> {
    (0..count / 10).try_for_each(&mut work)?;
    let before = held();
    (count / 10..count).try_for_each(work)?;
    let after = held();
    Ok(ProcessUsage {
        resident: (after.resident - before.resident).max(0.0),
        descriptors: (after.descriptors - before.descriptors).max(0.0),
    })
}

fn rows(id: &str, what: &str, grown: ProcessUsage) -> [Row; 2] {
    let memory = Row::counted(id, format!("{what}: memory grown"), Unit::Bytes, grown.resident);
    let work = format!("{what}: descriptors grown");
    let descriptors = Row::counted(&format!("{id}.fd"), work, Unit::Count, grown.descriptors);
    [memory.at_most(SLACK), descriptors.at_most(0.0)]
}

/// Alternates sync and async, with 1,000 tool names and sometimes a new one.
fn in_process(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let hooks = (0..5).map(guard).chain((0..5).map(async_guard));
    let engine =
        lab.engine().hooks(hooks).hook(Hook::on(PreToolUse).matching("mcp__*").callback(|_: &PreToolUse| ()));
    let engine = engine.build()?;
    let runtime = current_thread()?;
    let count = lab.budget.pick(1_000_000, 50_000);
    let grown = grown(count, ProcessUsage::of_self, |number| {
        let name =
            if number % 10 == 0 { format!("mcp__new__{number}") } else { format!("tool{}", number % 1_000) };
        let event = PreToolUse::new(name, "ls");
        check(&runtime.block_on(engine.fire(event)))
    })?;
    findings.rows.extend(rows("soak.fires", &format!("{count} fires in process"), grown));
    Ok(())
}

fn commands(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let hook = Hook::on(PreToolUse).command(CommandSpec::argv(["/bin/true"], lab.folder()));
    let engine = lab.engine().hook(hook).build()?;
    let runtime = current_thread()?;
    let count = lab.budget.pick(10_000, 500);
    let payload = event_of(1_024);
    let grown = grown(count, ProcessUsage::of_self, |number| {
        let event = Event::from(payload.clone());
        let blocking = number % 2 == 0;
        let outcome =
            if blocking { engine.fire_blocking(event) } else { runtime.block_on(engine.fire(event)) };
        check_ran(&outcome, 1)
    })?;
    findings.rows.extend(rows("soak.commands", &format!("{count} command hooks"), grown));
    let left = children().len() as f64;
    let work = "processes left over after them";
    findings.rows.push(Row::counted("soak.commands.left", work, Unit::Count, left).at_most(0.0));
    Ok(())
}

fn pythons(lab: &Lab, interpreter: &std::path::Path, findings: &mut Findings) -> Result<()> {
    let engine: Engine = python::warm_engine(lab, interpreter, "guard")?;
    let count = lab.budget.pick(100_000, 5_000);
    let payload = event_of(1_024);
    let worker = children().into_iter().next().context("no worker runs")?;
    let both = || {
        let (ours, theirs) = (ProcessUsage::of_self(), ProcessUsage::of(&worker));
        ProcessUsage {
            resident: ours.resident + theirs.resident,
            descriptors: ours.descriptors + theirs.descriptors,
        }
    };
    let grown = grown(count, both, |_| check_ran(&engine.fire_blocking(Event::from(payload.clone())), 1))?;
    findings.rows.extend(rows("soak.python", &format!("{count} python hooks, with their worker"), grown));
    let others = children().into_iter().filter(|pid| *pid != worker).count();
    let work = "workers that had to be replaced";
    findings.rows.push(Row::counted("soak.python.lost", work, Unit::Count, others as f64).at_most(0.0));
    Ok(())
}
