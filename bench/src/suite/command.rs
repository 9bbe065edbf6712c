//! G1, G2, G3: one command hook against the raw command.

use std::hint::black_box;
use std::process::Command;

use anyhow::{Context, Result, bail};
use crosier::payload::PreToolUse;
use crosier::{CommandSpec, Engine, Event, Hook};
use tokio::runtime::Runtime;

use crate::floor::Raw;
use crate::lab::{Findings, Lab, check_ran, event_of, json_of};
use crate::machine::memory_bytes;
use crate::measure::{CaseId, Group, Samples, clock};
use crate::row::{Row, Unit};

pub(super) const LINE: &str = "cat >/dev/null; echo {}";

/// Makes an event and fires it, on this thread.
pub(super) fn fire_blocking(engine: &Engine, bytes: usize) -> Result<f64> {
    let event = Event::from(event_of(bytes));
    let (time, outcome) = clock(|| engine.fire_blocking(&event));
    check_ran(&outcome, 1)?;
    Ok(time)
}

pub(super) fn fire_here(runtime: &Runtime, engine: &Engine, bytes: usize) -> Result<f64> {
    let event = Event::from(event_of(bytes));
    let (time, outcome) = clock(|| runtime.block_on(engine.fire(&event)));
    check_ran(&outcome, 1)?;
    Ok(time)
}

/// As a separate task, on any thread of the runtime.
fn fire_spawned(runtime: &Runtime, engine: &Engine, bytes: usize) -> Result<f64> {
    let event = Event::from(event_of(bytes));
    let engine = engine.clone();
    let (time, outcome) = clock(|| runtime.block_on(runtime.spawn(async move { engine.fire(&event).await })));
    check_ran(&outcome?, 1)?;
    Ok(time)
}

pub(super) fn current_thread() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")
}

pub(super) fn multi_thread() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")
}

struct Cases {
    samples: Samples,
    raw: CaseId,
    sync: CaseId,
    here: CaseId,
    spawned: CaseId,
}

fn against_raw(lab: &Lab, rounds: usize) -> Result<Cases> {
    let engine = lab.engine().hook(Hook::on(PreToolUse).command(CommandSpec::shell(LINE, lab.folder())));
    let engine = engine.build()?;
    let (raw, input) = (Raw::shell(LINE, &lab.path), json_of(&engine, 1_024)?);
    let (here, many) = (current_thread()?, multi_thread()?);
    let mut group = Group::default();
    let raw = group.case("raw posix_spawn", || {
        let (time, written) = clock(|| raw.run(&input));
        if written? != b"{}\n" {
            bail!("the raw command answered something else");
        }
        Ok(time)
    });
    let sync = group.case("fire_blocking", || fire_blocking(&engine, 1_024));
    let here = group.case("fire, current-thread", || fire_here(&here, &engine, 1_024));
    let spawned = group.case("fire, multi-thread", || fire_spawned(&many, &engine, 1_024));
    Ok(Cases { samples: group.run(lab.budget.runs(), rounds)?, raw, sync, here, spawned })
}

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let Cases { samples, raw, sync, here, spawned } = against_raw(lab, lab.budget.rounds(334))?;
    let work = |how: &str| format!("command hook `{LINE}`, 1 KB, {how}");
    findings.rows.extend([
        Row::ratio("G1.sync", work("fire_blocking"), &samples, sync, raw).at_most(1.05),
        Row::ratio("G1.tokio", work("fire on current-thread tokio"), &samples, here, raw).at_most(1.10),
        Row::ratio("G1.multi", work("fire on multi-thread tokio"), &samples, spawned, raw).at_most(1.10),
    ]);
    argv_against_shell(lab, findings)
}

fn argv_against_shell(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let of = |spec: CommandSpec| lab.engine().hook(Hook::on(PreToolUse).command(spec)).build();
    let shell = of(CommandSpec::shell("/bin/true", lab.folder()))?;
    let argv = of(CommandSpec::argv(["/bin/true"], lab.folder()))?;
    let raw = Raw::new("/bin/true", &[], &lab.path);
    let input = json_of(&shell, 1_024)?;
    let mut group = Group::default();
    let shell = group.case("command: (sh -c)", || fire_blocking(&shell, 1_024));
    let argv = group.case("argv:", || fire_blocking(&argv, 1_024));
    let raw = group.case("raw posix_spawn", || {
        let (time, written) = clock(|| raw.run(&input));
        written.map(|_| time)
    });
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    findings.rows.extend([
        Row::ratio("G3", "hook `/bin/true`: argv form against sh -c", &samples, argv, shell).at_most(0.65),
        Row::ratio("G3.raw", "hook `/bin/true`: argv form against the raw program", &samples, argv, raw)
            .note("no goal: how far a program that does nothing is from the floor"),
    ]);
    Ok(())
}

const GIB: usize = 1 << 30;
/// At most the size of a page on any system, so that every page is touched.
const PAGE: usize = 4_096;

pub(super) fn run_with_a_large_parent(lab: &Lab, findings: &mut Findings) -> Result<()> {
    no_plain_fork(lab, findings)?;
    if memory_bytes("MemAvailable") < 2.5 * GIB as f64 {
        findings.skip("G2", "less than 2.5 GiB of memory are free");
        return Ok(());
    }
    let mut ballast = vec![0_u8; GIB];
    for page in ballast.chunks_mut(PAGE) {
        page[0] = 1;
    }
    let Cases { samples, raw, sync, here, spawned } = against_raw(lab, lab.budget.rounds(112))?;
    black_box(&ballast);
    let work = |how: &str| format!("the same with 1 GiB resident, {how}");
    findings.rows.extend([
        Row::ratio("G2.sync", work("fire_blocking"), &samples, sync, raw).at_most(1.10),
        Row::ratio("G2.tokio", work("fire on current-thread tokio"), &samples, here, raw).at_most(1.10),
        Row::ratio("G2.multi", work("fire on multi-thread tokio"), &samples, spawned, raw).at_most(1.25),
    ]);
    Ok(())
}

/// Counts the system calls that would copy the parent, with strace on a process of the bench.
fn no_plain_fork(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let log = lab.folder().join("strace.log");
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=clone,clone3,fork,vfork", "-o"])
        .arg(&log)
        .arg(std::env::current_exe()?)
        .args(["--part", "spawn"])
        .output();
    let Ok(traced) = traced else {
        findings.skip("G2.fork", "strace is not installed");
        return Ok(());
    };
    if !traced.status.success() {
        findings.skip("G2.fork", format!("strace: {}", String::from_utf8_lossy(&traced.stderr).trim()));
        return Ok(());
    }
    let log = std::fs::read_to_string(log)?;
    let calls = |word: &str| log.lines().filter(|line| line.contains(word)).count();
    let plain = log.lines().filter(|line| !line.contains("CLONE_VM") && !line.contains("resumed"));
    let plain = plain.filter(|line| [" fork(", " clone(", " clone3("].iter().any(|call| line.contains(call)));
    let spawns = calls("CLONE_VFORK");
    if spawns == 0 {
        bail!("strace saw no process start at all");
    }
    let work = format!("process starts that copy the parent, of {spawns} under strace");
    findings.rows.push(Row::counted("G2.fork", work, Unit::Count, plain.count() as f64).at_most(0.0));
    Ok(())
}

/// Starts a few programs that start nothing themselves, in both ways.
pub(super) fn part() -> Result<()> {
    let folder = std::env::temp_dir();
    let hook = Hook::on(PreToolUse).command(CommandSpec::argv(["/bin/true"], folder));
    let engine = Engine::builder().hook(hook).build()?;
    let runtime = multi_thread()?;
    for _ in 0..5 {
        fire_blocking(&engine, 1_024)?;
        fire_spawned(&runtime, &engine, 1_024)?;
    }
    Ok(())
}
