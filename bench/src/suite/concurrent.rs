//! Many fires at once: how many per second, and the 99th percentile.

use std::time::Instant;

use anyhow::Result;
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook};
use tokio::runtime::Runtime;

use super::callback::{async_guard, tool_call};
use super::command::{LINE, multi_thread};
use super::growth::nanoseconds;
use crate::lab::{Findings, Lab, check, event_of};
use crate::measure::{clock, percentile};
use crate::report::{Column, Curve, Point};
use crate::row::Unit;

const WIDTHS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let runtime = multi_thread()?;
    let callbacks = lab.engine().hooks((0..10).map(async_guard)).build()?;
    let command = Hook::on(PreToolUse).command(CommandSpec::shell(LINE, lab.folder()));
    let command = lab.engine().hook(command).build()?;
    let mut points = Vec::new();
    let (in_process, processes) = lab.budget.pick((400_000, 3_000), (40_000, 256));
    for width in WIDTHS {
        let (rate, late) = together(&runtime, &callbacks, &tool_call(), width, in_process)?;
        let (command_rate, command_late) = together(&runtime, &command, &event_of(1_024), width, processes)?;
        points.push(Point { at: width as f64, values: vec![rate, late, command_rate, command_late] });
    }
    let rate = |name: &str| Column { name: name.to_owned(), unit: Unit::Count };
    findings.curves.push(Curve {
        id: "growth.concurrent".to_owned(),
        title: "Fires at once, on multi-thread tokio".to_owned(),
        across: "at once".to_owned(),
        columns: vec![
            rate("10 callbacks: fires/s"),
            nanoseconds("p99"),
            rate("command: fires/s"),
            nanoseconds("p99"),
        ],
        points,
    });
    Ok(())
}

/// Runs this many fires in all, this many at once: fires per second, and the 99th percentile of one.
fn together(
    runtime: &Runtime,
    engine: &Engine,
    payload: &PreToolUse,
    width: usize,
    total: usize,
) -> Result<(f64, f64)> {
    let (spent, lanes) = clock(|| {
        runtime.block_on(async {
            let lanes: Vec<_> = (0..width)
                .map(|_| {
                    let (engine, payload) = (engine.clone(), payload.clone());
                    runtime.spawn(async move {
                        let mut times = Vec::with_capacity(total / width);
                        let mut failed = None;
                        for _ in 0..total / width {
                            let event = Event::from(payload.clone());
                            let start = Instant::now();
                            let outcome = engine.fire(event).await;
                            times.push(start.elapsed().as_nanos() as f64);
                            failed = failed.or(check(&outcome).err());
                            // A callback never waits, so yield to the other fires.
                            tokio::task::yield_now().await;
                        }
                        (times, failed)
                    })
                })
                .collect();
            let mut ended = Vec::with_capacity(width);
            for lane in lanes {
                ended.push(lane.await);
            }
            ended
        })
    });
    let mut times = Vec::with_capacity(total);
    for lane in lanes {
        let (lane, failed) = lane?;
        failed.map_or(Ok(()), Err)?;
        times.extend(lane);
    }
    Ok(((times.len() as f64 / (spent / 1e9)).round(), percentile(&times, 0.99)))
}
