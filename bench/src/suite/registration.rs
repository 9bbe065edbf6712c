//! Registers and removes hooks and scopes: while events fire, and among many others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Reply, Scope};

use super::callback::tool_call;
use super::growth::{nanoseconds, scoped};
use super::matcher::one_of;
use crate::lab::{Findings, Lab};
use crate::measure::{Group, percentile};
use crate::report::{Curve, Point};
use crate::row::Row;

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let span = Duration::from_millis(lab.budget.pick(1_000, 100));
    let mut points = Vec::new();
    for size in SIZES {
        let engine = one_of(lab, size)?;
        let quiet = fire(&engine, span);
        let over = AtomicBool::new(false);
        let (busy, changes) = std::thread::scope(|scope| {
            let changes = scope.spawn(|| change(&engine, &over));
            let busy = fire(&engine, span);
            over.store(true, Ordering::Relaxed);
            (busy, changes.join().unwrap_or_default())
        });
        let values = vec![
            percentile(&quiet, 0.5),
            percentile(&busy, 0.5),
            percentile(&busy, 0.99),
            percentile(&busy, 1.0),
            percentile(&changes, 0.5),
        ];
        points.push(Point { at: size as f64, values });
    }
    findings.curves.push(Curve {
        id: "growth.registration".to_owned(),
        title: "Hooks that come and go without a pause while events fire".to_owned(),
        across: "hooks".to_owned(),
        columns: vec![
            nanoseconds("fire, nothing changes: p50"),
            nanoseconds("fire, hooks come and go: p50"),
            nanoseconds("p99"),
            nanoseconds("slowest"),
            nanoseconds("register and remove one: p50"),
        ],
        points,
    });
    among_many(lab, findings)
}

/// The cost of a change among 10 others and among 10,000: it must be the same, or many agents would slow each other
/// down.
fn among_many(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let (few_scopes, many_scopes) = (scoped(lab, 10)?, scoped(lab, 10_000)?);
    let (few_hooks, many_hooks) = (one_of(lab, 10)?, one_of(lab, 10_000)?);
    let mut group = Group::default();
    let mut cases = |change: fn(&Engine), few, many| {
        [("10", few), ("10,000", many)].map(|(size, engine): (_, &Engine)| {
            group.repeated(size, move |times| (0..times).for_each(|_| change(engine)))
        })
    };
    let rows = [
        (
            "scope",
            "enter and leave a scope among 10,000 against among 10",
            cases(enter, &few_scopes, &many_scopes),
        ),
        (
            "hook",
            "register and remove a hook, 10,000 scopes alive against 10",
            cases(register, &few_scopes, &many_scopes),
        ),
        (
            "base",
            "register and remove a hook, 10,000 hooks alive against 10",
            cases(register, &few_hooks, &many_hooks),
        ),
    ];
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(112))?;
    findings.rows.extend(rows.map(|(id, work, [few, many])| {
        Row::ratio(&format!("growth.change.{id}"), work, &samples, many, few).at_most(2.0)
    }));
    Ok(())
}

fn enter(engine: &Engine) {
    let hook = Hook::on(PreToolUse).callback(|_: &PreToolUse| Reply::none());
    drop(engine.enter(Scope::new("guest").hook(hook)));
}

fn register(engine: &Engine) {
    let hook = Hook::on(PreToolUse).named("guest").matching("Other").callback(|_: &PreToolUse| Reply::none());
    let _ = engine.register(hook);
    engine.unregister("guest");
}

/// Fires for this long; returns the time of each fire.
fn fire(engine: &Engine, span: Duration) -> Vec<f64> {
    let event = Event::from(tool_call());
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < span {
        let start = Instant::now();
        std::hint::black_box(engine.fire_blocking(&event));
        times.push(start.elapsed().as_nanos() as f64);
    }
    times
}

/// Registers and removes a hook until it is told to stop.
fn change(engine: &Engine, over: &AtomicBool) -> Vec<f64> {
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let start = Instant::now();
        register(engine);
        times.push(start.elapsed().as_nanos() as f64);
    }
    times
}
