//! Crosier's side of a comparison with a peer, in a separate process.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Builder, CommandSpec, Engine, Event, Hook, Json, Reply};
use tokio::runtime::Runtime;

use super::super::callback::{async_guard, guard};
use super::super::command::{LINE, current_thread, fire_here};
use crate::lab::check_ran;
use crate::measure::{clock, percentile};

const COMMANDS: [&str; 4] = [
    "cargo test --workspace",
    "cargo test --workspace -q",
    "cargo test --workspace --all",
    "cargo test --workspace --doc",
];

/// Measures one kind of work and prints its time.
pub(crate) fn ours(work: &str, hooks: usize) -> Result<()> {
    let runtime = current_thread()?;
    let time = match work {
        "sync" => sync(hooks)?,
        "async" => fires(&runtime, &engine(Engine::builder(), hooks, async_guard)?, hooks)?,
        "answer" => answer(&runtime, &engine(Engine::builder(), hooks, async_guard)?),
        "waits" => fires(&runtime, &engine(Engine::builder().timing(), hooks, waiting_guard)?, hooks)?,
        "whole" => whole(&runtime, &engine(Engine::builder().timing(), hooks, parsing_guard)?, hooks)?,
        "command" => command(&runtime)?,
        "deadline" => deadline(&runtime)?,
        _ => bail!("no such work: {work}"),
    };
    println!("{}", serde_json::json!({"version": "", "ns": time}));
    Ok(())
}

fn engine(builder: Builder, hooks: usize, hook: fn(usize) -> Hook) -> Result<Engine> {
    Ok(builder.hooks((0..hooks).map(hook)).build()?)
}

/// Waits once, so that its timer is started.
fn waiting_guard(number: usize) -> Hook {
    let word: Arc<str> = format!("rm -rf /{number}").into();
    Hook::on(PreToolUse).async_callback(move |event: Arc<PreToolUse>| {
        let word = Arc::clone(&word);
        async move {
            tokio::task::yield_now().await;
            if event.tool_input.text().contains(&*word) { Reply::deny("no") } else { Reply::none() }
        }
    })
}

/// Waits once and looks into the parsed input.
fn parsing_guard(number: usize) -> Hook {
    let word: Arc<str> = format!("rm -rf /{number}").into();
    Hook::on(PreToolUse).matching("Bash|Write").async_callback(move |event: Arc<PreToolUse>| {
        let word = Arc::clone(&word);
        async move {
            tokio::task::yield_now().await;
            let input = event.tool_input.to_value().unwrap_or_default();
            let command = input["command"].as_str().unwrap_or_default();
            if command.contains(&*word) { Reply::deny("no") } else { Reply::none() }
        }
    })
}

fn events() -> [Event; 4] {
    COMMANDS
        .map(|command| PreToolUse::new("Bash", Json::from(serde_json::json!({ "command": command }))).into())
}

const BATCHES: usize = 400;
const REPEATS: usize = 200;

/// At least as long as the peers measure, so that there is a moment in which the core is not shared.
const SPAN: Duration = Duration::from_millis(333);

fn batched(mut work: impl FnMut(usize)) -> f64 {
    of_batches(|| (0..REPEATS).for_each(&mut work))
}

/// The time of one repetition: the tenth percentile over batches, as with the peers; the first tenth is dropped.
fn of_batches(mut batch: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < BATCHES || start.elapsed() < SPAN {
        times.push(clock(&mut batch).0 / REPEATS as f64);
    }
    percentile(&times[times.len() / 10..], 0.1)
}

fn sync(hooks: usize) -> Result<f64> {
    let engine = engine(Engine::builder(), hooks, guard)?;
    let events = events();
    check_ran(&engine.fire_blocking(&events[0]), hooks)?;
    Ok(batched(|at| {
        black_box(&engine.fire_blocking(&events[at % 4]));
    }))
}

fn fires(runtime: &Runtime, engine: &Engine, hooks: usize) -> Result<f64> {
    let events = events();
    check_ran(&runtime.block_on(engine.fire(&events[0])), hooks)?;
    Ok(of_batches(|| {
        runtime.block_on(async {
            for at in 0..REPEATS {
                black_box(&engine.fire(&events[at % 4]).await);
            }
        });
    }))
}

/// Fires and converts the outcome to JSON text.
fn answer(runtime: &Runtime, engine: &Engine) -> f64 {
    let events = events();
    batched(|at| {
        let outcome = runtime.block_on(engine.fire(&events[at % 4]));
        black_box(outcome.to_json());
    })
}

/// The whole way, from the JSON text of the event.
fn whole(runtime: &Runtime, engine: &Engine, hooks: usize) -> Result<f64> {
    let texts = COMMANDS.map(|command| {
        serde_json::json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}})
            .to_string()
    });
    let fire = |at: usize| {
        let event = engine.event("PreToolUse", texts[at % 4].as_bytes())?;
        Ok::<_, anyhow::Error>(runtime.block_on(engine.fire(event)))
    };
    check_ran(&fire(0)?, hooks)?;
    Ok(batched(|at| {
        black_box(&fire(at));
    }))
}

fn command(runtime: &Runtime) -> Result<f64> {
    let hook = Hook::on(PreToolUse).command(CommandSpec::shell(LINE, "/"));
    let engine = Engine::builder().hook(hook).build()?;
    let times = (0..60).map(|_| fire_here(runtime, &engine, 1_024)).collect::<Result<Vec<_>>>()?;
    Ok(percentile(&times[6..], 0.1))
}

fn deadline(runtime: &Runtime) -> Result<f64> {
    let limit = Duration::from_millis(200);
    let line = "sleep 3 & sleep 3 & sleep 3 & wait";
    let hook = Hook::on(PreToolUse).timeout(limit).command(CommandSpec::shell(line, "/"));
    let engine = Engine::builder().hook(hook).build()?;
    let [event, ..] = events();
    let (time, _) = clock(|| runtime.block_on(engine.fire(event)));
    Ok(time - limit.as_nanos() as f64)
}
