//! Hooks that come and go while events fire.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Reply};

use super::callback::tool_call;
use super::growth::nanoseconds;
use super::matcher::one_of;
use crate::lab::{Findings, Lab};
use crate::measure::percentile;
use crate::report::{Curve, Point};

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
    Ok(())
}

/// Fires for so long; the time of each.
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

/// Registers a hook and takes it out again, until told to stop.
fn change(engine: &Engine, over: &AtomicBool) -> Vec<f64> {
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let hook = Hook::on(PreToolUse).named("guest").matching("Other");
        let hook = hook.callback(|_: &PreToolUse| Reply::none());
        let start = Instant::now();
        let _ = engine.register(hook);
        engine.unregister("guest");
        times.push(start.elapsed().as_nanos() as f64);
    }
    times
}
