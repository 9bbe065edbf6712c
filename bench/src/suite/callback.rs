//! G5: a fire of callbacks against a bare loop over the same boxed callbacks.
//!
//! Each callback is a small guard: it searches for a text in the tool's input and has no opinion. The loop calls
//! the same closures that are registered, taken from the engine; it does no planning, unwinding, reporting or
//! folding.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Builder, Call, Callback, Engine, Event, Handler, Hook, Json, Reply};
use tokio::runtime::Runtime;

use super::command::current_thread;
use crate::lab::{Findings, Lab, check_ran};
use crate::measure::{CaseId, Group};
use crate::row::Row;

pub(super) fn tool_call() -> PreToolUse {
    PreToolUse::new("Bash", Json::from(serde_json::json!({"command": "cargo test --workspace"})))
}

/// A guard that searches for its own text.
pub(super) fn guard(number: usize) -> Hook {
    let word = format!("rm -rf /{number}");
    Hook::on(PreToolUse).callback(move |event: &PreToolUse| {
        if event.tool_input.text().contains(&word) { Reply::deny("no") } else { Reply::none() }
    })
}

pub(super) fn async_guard(number: usize) -> Hook {
    let word: Arc<str> = format!("rm -rf /{number}").into();
    Hook::on(PreToolUse).async_callback(move |event: Arc<PreToolUse>| {
        let word = Arc::clone(&word);
        async move {
            if event.tool_input.text().contains(&*word) { Reply::deny("no") } else { Reply::none() }
        }
    })
}

/// The callbacks of an engine, as the engine holds them.
fn callbacks(engine: &Engine) -> Vec<(Arc<str>, Callback)> {
    let code = |entry: Arc<crosier::Entry>| match &entry.handler {
        Handler::Callback(code) => Some((Arc::clone(&entry.name), code.clone())),
        _ => None,
    };
    engine.entries().into_iter().filter_map(code).collect()
}

/// The floor of a synchronous fire.
fn call_all(callbacks: &[(Arc<str>, Callback)], event: &Event) {
    for (hook, code) in callbacks {
        if let Callback::Inline(code) = code {
            black_box(code(Call::new(event, hook)));
        }
    }
}

/// The floor of an asynchronous fire.
async fn await_all(callbacks: &[(Arc<str>, Callback)], event: &Event) {
    for (hook, code) in callbacks {
        if let Callback::Async(code) = code {
            black_box(code(Call::new(event, hook)).await);
        }
    }
}

pub(super) fn fire_sync(engine: &Engine, event: &Event, count: usize) {
    for _ in 0..count {
        black_box(&engine.fire_blocking(event));
    }
}

pub(super) fn fire_async(runtime: &Runtime, engine: &Engine, event: &Event, count: usize) {
    runtime.block_on(async {
        for _ in 0..count {
            black_box(&engine.fire(event).await);
        }
    });
}

/// An engine, checked to run this many hooks.
fn engine(builder: Builder, hooks: usize) -> Result<Engine> {
    let engine = builder.build()?;
    check_ran(&engine.fire_blocking(tool_call()), hooks)?;
    Ok(engine)
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let runtime = current_thread()?;
    none(lab, &runtime, findings)?;
    let goals = [
        (1, [Some(8.0), None], [Some(120.0), Some(220.0)]),
        (10, [None, Some(3.0)], [None, Some(1_000.0)]),
        (100, [None, Some(2.6)], [None, Some(8_000.0)]),
    ];
    for (count, ratios, times) in goals {
        some(lab, &runtime, count, ratios, times, findings)?;
    }
    beside(lab, findings)
}

const ABSOLUTE: &str = "nanoseconds depend on the machine; the ratio is the goal that travels";

fn none(lab: &Lab, runtime: &Runtime, findings: &mut Findings) -> Result<()> {
    let engine = engine(lab.engine(), 0)?;
    let event = Event::from(tool_call());
    let mut group = Group::default();
    let sync = group.repeated("fire_blocking", |count| fire_sync(&engine, &event, count));
    let tokio = group.repeated("fire", |count| fire_async(runtime, &engine, &event, count));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let row = |id: &str, how: &str, case: CaseId| {
        Row::time(id, format!("fire, no hook, {how}"), &samples, case).at_most(40.0).note(ABSOLUTE)
    };
    findings.rows.extend([row("G5.0.sync", "sync", sync), row("G5.0.async", "async", tokio)]);
    Ok(())
}

fn some(
    lab: &Lab,
    runtime: &Runtime,
    count: usize,
    ratios: [Option<f64>; 2],
    times: [Option<f64>; 2],
    findings: &mut Findings,
) -> Result<()> {
    let sync = engine(lab.engine().hooks((0..count).map(guard)), count)?;
    let tokio = engine(lab.engine().hooks((0..count).map(async_guard)), count)?;
    let (calls, futures) = (callbacks(&sync), callbacks(&tokio));
    if calls.len() != count || futures.len() != count {
        bail!("the engine does not hold the callbacks that were registered");
    }
    let event = Event::from(tool_call());
    let mut group = Group::default();
    let raw_sync = group.repeated("raw loop", |times| (0..times).for_each(|_| call_all(&calls, &event)));
    let raw_async = group.repeated("raw loop of futures", |times| {
        runtime.block_on(async {
            for _ in 0..times {
                await_all(&futures, &event).await;
            }
        });
    });
    let sync = group.repeated("fire_blocking", |times| fire_sync(&sync, &event, times));
    let tokio = group.repeated("fire", |times| fire_async(runtime, &tokio, &event, times));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let plural = if count == 1 { "callback" } else { "callbacks" };
    for (at, how, ours, raw) in [(0, "sync", sync, raw_sync), (1, "async", tokio, raw_async)] {
        let work = format!("fire, {count} {plural}, {how}");
        let row = Row::ratio(&format!("G5.{count}.{how}"), &work, &samples, ours, raw);
        findings.rows.push(match ratios[at] {
            Some(goal) => row.at_most(goal),
            None => row,
        });
        if let Some(goal) = times[at] {
            let row = Row::time(&format!("G5.{count}.{how}.ns"), &work, &samples, ours);
            findings.rows.push(row.at_most(goal).note(ABSOLUTE));
        }
    }
    Ok(())
}

/// The cost of options that a host can choose: a new event each time, timing, a listener.
fn beside(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let plain = engine(lab.engine().hook(guard(0)), 1)?;
    let timed = engine(lab.engine().timing().hook(guard(0)), 1)?;
    let heard = engine(lab.engine().hook(guard(0)), 1)?;
    let listener = heard.subscribe(16);
    let event = Event::from(tool_call());
    let payload = tool_call();
    let mut group = Group::default();
    let base = group.repeated("fire_blocking", |times| fire_sync(&plain, &event, times));
    let new = group.repeated("a new event each time", |times| {
        (0..times).for_each(|_| drop(black_box(plain.fire_blocking(payload.clone()))));
    });
    let timed = group.repeated("with timing", |times| fire_sync(&timed, &event, times));
    let heard = group.repeated("with a listener", |times| {
        fire_sync(&heard, &event, times);
        while listener.try_next().is_some() {}
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let row = |id: &str, what: &str, case: CaseId| {
        Row::more(id, format!("fire, 1 callback, sync: {what}"), &samples, case, base)
    };
    findings.rows.extend([
        row("G5.event", "a new event each time", new),
        row("G5.timing", "the engine takes the time", timed),
        row("G5.listener", "somebody listens", heard),
    ]);
    Ok(())
}
