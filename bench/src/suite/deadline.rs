//! G9: how soon a fire returns when its hook is late, or leaves a process behind.

use std::time::Duration;

use anyhow::{Result, bail};
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, DEFAULT_GRACE, Engine, Event, FailureKind, Hook, Outcome};

use super::command::{current_thread, fire_blocking, fire_here};
use crate::lab::{Findings, Lab, event_of};
use crate::measure::{Group, clock};
use crate::row::Row;

const TIMEOUT: Duration = Duration::from_millis(30);
/// The shell and three children, all on the hook's pipes.
const LATE: &str = "sleep 5 & sleep 5 & sleep 5 & wait";
const STUBBORN: &str = "trap '' TERM; sleep 5 & sleep 5 & sleep 5 & wait";

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    late(lab, findings)?;
    background(lab, findings)
}

fn late(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let of = |line: &str| -> Result<Engine> {
        let hook = Hook::on(PreToolUse).timeout(TIMEOUT).command(CommandSpec::shell(line, lab.folder()));
        Ok(lab.engine().hook(hook).build()?)
    };
    let (late, stubborn, runtime) = (of(LATE)?, of(STUBBORN)?, current_thread()?);
    let over = |allowed: Duration, (time, outcome): (f64, Outcome)| -> Result<f64> {
        let timed_out = |(_, failure): (&str, &crosier::Failure)| failure.kind == FailureKind::Timeout;
        if !outcome.failures().any(timed_out) {
            bail!("the hook was not late");
        }
        Ok(time - allowed.as_nanos() as f64)
    };
    let event = || Event::from(event_of(1_024));
    let mut group = Group::default();
    let sync = group.case("fire_blocking", || {
        let event = event();
        over(TIMEOUT, clock(|| late.fire_blocking(&event)))
    });
    let tokio = group.case("fire", || {
        let event = event();
        over(TIMEOUT, clock(|| runtime.block_on(late.fire(&event))))
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = |how: &str| format!("back after the deadline, shell + 3 sleeps on the pipe, {how}");
    findings.rows.extend([
        Row::time("G9.sync", work("fire_blocking"), &samples, sync).at_most(3e6),
        Row::time("G9.tokio", work("fire"), &samples, tokio).at_most(3e6),
    ]);
    let mut group = Group::default();
    let case = group.case("fire_blocking", || {
        let event = event();
        over(TIMEOUT + DEFAULT_GRACE, clock(|| stubborn.fire_blocking(&event)))
    });
    let samples = group.run(lab.budget.runs(), lab.budget.pick(40, 5))?;
    let work = "back after deadline + grace, the same ignoring SIGTERM, fire_blocking";
    findings.rows.push(Row::time("G9.stubborn", work, &samples, case).at_most(3e6));
    Ok(())
}

fn background(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let of = |line: &str| -> Result<Engine> {
        let hook = Hook::on(PreToolUse).command(CommandSpec::shell(line, lab.folder()));
        Ok(lab.engine().hook(hook).build()?)
    };
    let (alone, leaves, runtime) = (of("echo {}")?, of("sleep 0.5 & echo {}")?, current_thread()?);
    let mut group = Group::default();
    let alone_sync = group.case("no child", || fire_blocking(&alone, 1_024));
    let sync = group.case("child left, fire_blocking", || fire_blocking(&leaves, 1_024));
    let alone_tokio = group.case("no child", || fire_here(&runtime, &alone, 1_024));
    let tokio = group.case("child left, fire", || fire_here(&runtime, &leaves, 1_024));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = |how: &str| format!("delay by a child that a finished hook leaves on its stdout, {how}");
    findings.rows.extend([
        Row::more("G9.child", work("fire_blocking"), &samples, sync, alone_sync).at_most(5e6),
        Row::more("G9.child.tokio", work("fire"), &samples, tokio, alone_tokio).at_most(5e6),
    ]);
    Ok(())
}
