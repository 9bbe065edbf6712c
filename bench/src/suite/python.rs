//! G4: a Python hook in a warm worker, against a cold interpreter and against an echo over pipes.

use std::path::Path;

use anyhow::{Context, Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, Json, PythonSpec};
use tokio::sync::Semaphore;

use super::command::{current_thread, fire_blocking, fire_here, multi_thread};
use crate::floor::{Echo, Raw};
use crate::lab::{Findings, Lab, check, check_ran, json_of};
use crate::measure::{Group, clock, median};
use crate::row::Row;

/// The same check of the same field, as a function and as a program.
const MODULE: &str = r#"
def guard(event):
    if "rm -rf" in event["tool_input"]["command"]:
        return {"decision": "deny", "reason": "no"}
    return {"decision": "allow", "reason": "looked at"}

def busy(event):
    total = 0
    for number in range(int(event["tool_input"]["steps"])):
        total += number * number
    return None
"#;
const SCRIPT: &str = r#"
import json, sys
event = json.load(sys.stdin)
if "rm -rf" in event["tool_input"]["command"]:
    print(json.dumps({"decision": "deny", "reason": "no"}))
else:
    print(json.dumps({"decision": "allow", "reason": "looked at"}))
"#;

/// An engine with one Python hook and a warm worker. The interpreter is named, so that no shim is in between.
pub(super) fn warm_engine(lab: &Lab, python: &Path, function: &str) -> Result<Engine> {
    lab.file("looks.py", MODULE)?;
    let engine = lab.engine().hook(hook(lab, python, function)?).build()?;
    for (_, warmed) in engine.warm() {
        warmed.map_err(|failure| anyhow::anyhow!("the worker did not start: {failure}"))?;
    }
    Ok(engine)
}

pub(super) fn hook(lab: &Lab, python: &Path, function: &str) -> Result<Hook> {
    lab.file("looks.py", MODULE)?;
    let spec = PythonSpec::new(&format!("looks.{function}"), lab.folder()).context("no module")?;
    let spec = PythonSpec { interpreter: python.display().to_string(), ..spec };
    Ok(Hook::on(PreToolUse).python(spec))
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let Some(python) = &lab.python else {
        findings.skip("G4", "there is no python3");
        return Ok(());
    };
    for (bytes, name, factor) in [(1_024, "1 KB", 300.0), (102_400, "100 KB", 40.0)] {
        against_cold(lab, python, bytes, name, factor, findings)?;
    }
    throughput(lab, python, findings)
}

fn against_cold(
    lab: &Lab,
    python: &Path,
    bytes: usize,
    name: &str,
    factor: f64,
    findings: &mut Findings,
) -> Result<()> {
    let engine = warm_engine(lab, python, "guard")?;
    let script = lab.file("looks_script.py", SCRIPT)?;
    let cold = Raw::new(python, &[&script.display().to_string()], &lab.path);
    let input = json_of(&engine, bytes)?;
    let mut cat = Echo::start()?;
    let runtime = current_thread()?;
    let mut group = Group::default();
    let cold = group.case("cold python3 script.py", || {
        let (time, written) = clock(|| cold.run(&input));
        if !written?.starts_with(b"{\"decision\": \"allow\"") {
            bail!("the script answered something else");
        }
        Ok(time)
    });
    let echo = group.case("cat echo", || {
        in_a_row(|| {
            let (time, echoed) = clock(|| cat.echo(&input));
            echoed.map(|()| time)
        })
    });
    let sync = group.case("warm, fire_blocking", || in_a_row(|| fire_blocking(&engine, bytes)));
    let tokio = group.case("warm, fire", || in_a_row(|| fire_here(&runtime, &engine, bytes)));
    let lone = group.case("one call alone", || fire_blocking(&engine, bytes));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let id = |part: &str| format!("G4.{part}.{}", name.replace(' ', "").to_lowercase());
    let work = |what: &str| format!("python hook, {name}, {what}");
    let row = Row::under(&id("cold"), work("warm under cold, fire_blocking"), &samples, sync, cold);
    findings.rows.push(row.at_least(factor));
    let row = Row::under(&id("cold.tokio"), work("warm under cold, fire"), &samples, tokio, cold);
    findings.rows.push(row.at_least(factor));
    let row = Row::ratio(&id("echo"), work("warm against an echo, fire_blocking"), &samples, sync, echo);
    findings.rows.push(if bytes == 1_024 { row.at_most(4.5) } else { row });
    findings.rows.push(
        Row::ratio(&id("echo.tokio"), work("warm against an echo, fire"), &samples, tokio, echo)
            .note("no goal: the hand-over to a thread and back comes on top"),
    );
    findings.rows.push(
        Row::time(&id("lone"), work("one call after other programs ran, fire_blocking"), &samples, lone)
            .note("no goal: the caches are those of the programs before it"),
    );
    Ok(())
}

/// The median of some calls in a row, as a session makes them, so that the worker is warm. Not the mean, because one
/// interrupted call would distort it.
fn in_a_row(call: impl FnMut() -> Result<f64>) -> Result<f64> {
    const CALLS: usize = 20;
    let mut times = std::iter::repeat_with(call).take(CALLS).collect::<Result<Vec<_>>>()?;
    Ok(median(&mut times))
}

const FIRES: usize = 8;

/// Eight fires at once of a hook that computes for 2 ms: with one worker, and with two.
fn throughput(lab: &Lab, python: &Path, findings: &mut Findings) -> Result<()> {
    let engine = warm_engine(lab, python, "busy")?;
    let event = |steps: usize| {
        let input = Json::from(serde_json::json!({ "steps": steps, "command": "" }));
        Event::from(PreToolUse::new("Bash", input))
    };
    // A number of steps and not a time, because a hook that watched the clock would do less work on a busy machine.
    let mut steps = 1_000;
    let best = |steps: usize| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..9 {
            let (time, outcome) = clock(|| engine.fire_blocking(event(steps)));
            check_ran(&outcome, 1)?;
            best = best.min(time);
        }
        Ok(best)
    };
    while best(steps)? < 1e6 {
        steps *= 2;
    }
    steps = (steps as f64 * 2e6 / best(steps)?) as usize;
    let runtime = multi_thread()?;
    let through = |workers: usize| -> Result<f64> {
        let gate = std::sync::Arc::new(Semaphore::new(workers));
        let (time, outcomes) = clock(|| {
            runtime.block_on(async {
                let fires: Vec<_> = (0..FIRES)
                    .map(|_| {
                        let (engine, gate, event) = (engine.clone(), gate.clone(), event(steps));
                        runtime.spawn(async move {
                            let _permit = gate.acquire().await;
                            engine.fire(event).await
                        })
                    })
                    .collect();
                let mut outcomes = Vec::with_capacity(FIRES);
                for fire in fires {
                    outcomes.push(fire.await);
                }
                outcomes
            })
        });
        for outcome in outcomes {
            check(&outcome?)?;
        }
        Ok(time)
    };
    let mut group = Group::default();
    let one = group.case("one worker", || through(1));
    let two = group.case("two workers", || through(2));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = "python hook that computes 2 ms, 8 fires at once: two workers against one";
    findings.rows.push(Row::under("G4.workers", work, &samples, two, one).at_least(1.5).note(
        "throughput; a gate in front of the engine lets one or two fires through, since the pool cannot be set",
    ));
    Ok(())
}
