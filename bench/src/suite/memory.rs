//! The memory of an engine, and the time to make one.

use std::process::Command;

use anyhow::{Context, Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Answer, Engine, Hook, Outcome, Reply, Report};

use super::callback::tool_call;
use super::matcher::unmatched_matcher;
use crate::lab::{Findings, Lab};
use crate::machine::ProcessUsage;
use crate::measure::{Group, clock};
use crate::row::{Row, Unit};

const HOOKS: usize = 10_000;

fn make(hooks: usize) -> Result<Engine> {
    let hook = |number: usize| {
        let matcher = if number == 0 { "Bash".to_owned() } else { unmatched_matcher(number) };
        Hook::on(PreToolUse).matching(matcher).callback(|_: &PreToolUse| Reply::none())
    };
    Ok(Engine::builder().max_hooks_per_point(hooks).hooks((0..hooks).map(hook)).build()?)
}

/// Runs in a separate process, so that nothing else is counted: makes an engine, fires once, prints its memory.
pub(super) fn part(hooks: usize) -> Result<()> {
    drop(make(1)?.fire_blocking(tool_call()));
    let before = ProcessUsage::of_self().resident;
    let engine = make(hooks)?;
    let outcome = engine.fire_blocking(tool_call());
    let after = ProcessUsage::of_self().resident;
    if outcome.reports.len() != 1 {
        bail!("{} hooks ran instead of one", outcome.reports.len());
    }
    println!("{} {}", after - before, after);
    drop(engine);
    Ok(())
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let part = Command::new(std::env::current_exe()?).args(["--part", "memory", &HOOKS.to_string()]).output();
    let part = part.context("the bench could not start itself")?;
    let text = String::from_utf8_lossy(&part.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [held, whole] = numbers[..] else { bail!("no numbers: {text}") };
    let counted = |id: &str, work: &str, value: f64| Row::counted(id, work, Unit::Bytes, value);
    findings.rows.extend([
        counted("memory.hooks", "an engine with 10,000 hooks", held),
        counted("memory.hook", "one of its hooks", held / HOOKS as f64),
        counted("memory.process", "the whole process with it", whole),
    ]);
    let engine = make(1)?;
    let future = engine.fire(tool_call());
    let of_types = [
        ("memory.future", "the future of a fire", size_of_val(&future)),
        ("memory.outcome", "an outcome, on the stack", size_of::<Outcome>()),
        ("memory.report", "one report in it", size_of::<Report>()),
        ("memory.answer", "what a callback returns", size_of::<Answer>()),
    ];
    drop(future);
    findings.rows.extend(of_types.map(|(id, work, bytes)| counted(id, work, bytes as f64)));
    let mut group = Group::default();
    let small = group.case("one hook", || Ok(clock(|| make(1)).0));
    let large = group.case("10,000 hooks", || Ok(clock(|| make(HOOKS)).0));
    let first = group.case("first fire", || {
        let engine = make(HOOKS)?;
        Ok(clock(|| drop(engine.fire_blocking(tool_call()))).0)
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(112))?;
    findings.rows.extend([
        Row::time("start.1", "make an engine with one hook", &samples, small),
        Row::time("start.10000", "make an engine with 10,000 hooks", &samples, large),
        Row::time("start.fire", "the first fire of an engine with 10,000 hooks", &samples, first),
    ]);
    Ok(())
}
