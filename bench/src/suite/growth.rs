//! How the time of a fire grows: with hooks that do not match, with hooks that do, with scopes.

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{Base, Engine, Event, Hook, Reply, Scope};

use super::callback::{fire_sync, guard, tool_call};
use super::matcher::one_of;
use crate::lab::{Findings, Lab, check_ran};
use crate::measure::{CaseId, Group, Samples};
use crate::report::{Column, Curve, Point};
use crate::row::{Row, Unit};

const SIZES: [usize; 5] = [1, 10, 100, 1_000, 10_000];

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    unmatched(lab, findings)?;
    matched(lab, findings)?;
    scopes(lab, findings)
}

pub(super) fn nanoseconds(name: &str) -> Column {
    Column { name: name.to_owned(), unit: Unit::Nanoseconds }
}

/// A group with one case per size.
fn fires(lab: &Lab, sizes: &[usize], of: impl Fn(usize) -> Result<(Engine, Event)>) -> Result<Fires> {
    let engines = sizes.iter().map(|&size| of(size)).collect::<Result<Vec<_>>>()?;
    let mut group = Group::default();
    let cases = engines.iter().zip(sizes).map(|((engine, event), size)| {
        group.repeated(format!("{size}"), move |times| fire_sync(engine, event, times))
    });
    let cases: Vec<CaseId> = cases.collect();
    Ok(Fires { samples: group.run(lab.budget.runs(), lab.budget.rounds(112))?, cases })
}

struct Fires {
    samples: Samples,
    cases: Vec<CaseId>,
}

impl Fires {
    fn points(&self, sizes: &[usize]) -> Vec<Point> {
        let point = |(&size, &case): (&usize, &CaseId)| Point {
            at: size as f64,
            values: vec![self.samples.percentile(case, 0.5), self.samples.percentile(case, 0.9)],
        };
        sizes.iter().zip(&self.cases).map(point).collect()
    }
}

fn unmatched(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let fires = fires(lab, &SIZES, |size| Ok((one_of(lab, size)?, tool_call().into())))?;
    findings.curves.push(Curve {
        id: "growth.unmatched".to_owned(),
        title: "Registered hooks, of which one matches".to_owned(),
        across: "hooks".to_owned(),
        columns: vec![nanoseconds("p50"), nanoseconds("p90")],
        points: fires.points(&SIZES),
    });
    let work = "fire with 10,000 registered hooks, one matches, against 10";
    let row = Row::ratio("growth.unmatched", work, &fires.samples, fires.cases[4], fires.cases[1]);
    findings.rows.push(row.at_most(2.0));
    Ok(())
}

fn matched(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let fires = fires(lab, &SIZES, |size| {
        let engine = lab.engine().hooks((0..size).map(guard)).build()?;
        check_ran(&engine.fire_blocking(tool_call()), size)?;
        Ok((engine, tool_call().into()))
    })?;
    let mut points = fires.points(&SIZES);
    points.iter_mut().for_each(|point| point.values.push(point.values[0] / point.at));
    findings.curves.push(Curve {
        id: "growth.matched".to_owned(),
        title: "Hooks that all match".to_owned(),
        across: "hooks".to_owned(),
        columns: vec![nanoseconds("p50"), nanoseconds("p90"), nanoseconds("per hook")],
        points,
    });
    let per_hook = fires.samples.estimate(&[fires.cases[3], fires.cases[2]], |p50| p50[0] / p50[1] / 10.0);
    let work = "cost per matching hook at 1,000 against 100";
    let row = Row::ratio("growth.matched", work, &fires.samples, fires.cases[3], fires.cases[2]);
    findings.rows.push(Row { value: per_hook, ..row }.at_most(2.0).note("times are of whole fires"));
    Ok(())
}

const SCOPES: [usize; 4] = [1, 10, 100, 1_000];

/// An engine with this many scopes of one hook each.
pub(super) fn scoped(lab: &Lab, scopes: usize) -> Result<Engine> {
    let hook = || Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none());
    let mut builder = lab.engine().hook(hook());
    for number in 0..scopes {
        builder = builder.scope(Scope::new(format!("agent{number}")).hook(hook()));
    }
    Ok(builder.build()?)
}

fn scopes(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let mine = fires(lab, &SCOPES, |size| {
        let base = Base::default().agent_id(format!("agent{}", size / 2));
        let event = tool_call().with_base(base);
        let engine = scoped(lab, size)?;
        check_ran(&engine.fire_blocking(event.clone()), 2)?;
        Ok((engine, event.into()))
    })?;
    let all = fires(lab, &SCOPES, |size| {
        let engine = scoped(lab, size)?;
        check_ran(&engine.fire_blocking(tool_call()), size + 1)?;
        Ok((engine, tool_call().into()))
    })?;
    let engines = SCOPES.iter().map(|&size| scoped(lab, size)).collect::<Result<Vec<_>>>()?;
    let mut group = Group::default();
    let enters = engines.iter().zip(SCOPES).map(|(engine, size)| {
        group.repeated(format!("{size}"), move |times| {
            for _ in 0..times {
                let hook = Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none());
                drop(engine.enter(Scope::new("guest").hook(hook)));
            }
        })
    });
    let cases: Vec<CaseId> = enters.collect();
    let enters = Fires { samples: group.run(lab.budget.runs(), lab.budget.rounds(112))?, cases };
    let median = |fires: &Fires, at: usize| fires.samples.percentile(fires.cases[at], 0.5);
    let point = |(at, &size): (usize, &usize)| Point {
        at: size as f64,
        values: vec![median(&mine, at), median(&all, at), median(&enters, at)],
    };
    findings.curves.push(Curve {
        id: "growth.scopes".to_owned(),
        title: "Scopes of agents, one hook each".to_owned(),
        across: "scopes".to_owned(),
        columns: vec![
            nanoseconds("fire in an agent"),
            nanoseconds("fire outside agents (all hooks run)"),
            nanoseconds("enter and leave a scope"),
        ],
        points: SCOPES.iter().enumerate().map(point).collect(),
    });
    let work = "fire in one agent of 1,000 scopes against 10";
    let row = Row::ratio("growth.scopes", work, &mine.samples, mine.cases[3], mine.cases[1]);
    findings.rows.push(row.at_most(2.0));
    Ok(())
}
