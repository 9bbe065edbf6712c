//! Instructions per fire, counted by valgrind: the same on a noisy machine as on a quiet one.
//!
//! Two runs of different length are compared, so that the start of the program cancels out and it does not
//! matter how the program was linked. `counts.json` contains the counts that were last accepted, per
//! build profile and for one compiler; `tests/counts.rs` fails when a count has grown by more than a tenth.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use crosier::{Engine, Event};
use serde::{Deserialize, Serialize};

use super::callback::{async_guard, fire_async, fire_sync, guard, tool_call};
use super::command::current_thread;
use crate::lab::{Findings, Lab, check_ran};
use crate::machine::rustc;
use crate::row::{Row, Unit};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.json");
const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };
const CALLBACKS: [usize; 3] = [0, 1, 10];
const WAYS: [&str; 2] = ["sync", "async"];
/// The lengths of the two runs.
const SHORT: usize = 200;
const LONG: usize = 1_200;
/// How much a count may grow.
const GROWTH: f64 = 1.10;

/// The accepted counts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Accepted {
    rustc: String,
    /// Profile, then case, then instructions per fire.
    counts: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Accepted {
    fn read() -> Self {
        let text = fs::read_to_string(FILE).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The counts of this profile; `None` when they are from another compiler, whose counts differ.
    fn of(&self, rustc: &str) -> Option<&BTreeMap<String, u64>> {
        self.counts.get(PROFILE).filter(|_| self.rustc == rustc)
    }
}

/// Fires this often, under valgrind.
pub(super) fn fires(callbacks: usize, way: &str, count: usize) -> Result<()> {
    let is_sync = way == "sync";
    let hook = |number: usize| if is_sync { guard(number) } else { async_guard(number) };
    let engine = Engine::builder().hooks((0..callbacks).map(hook)).build()?;
    let event = Event::from(tool_call());
    check_ran(&engine.fire_blocking(&event), callbacks)?;
    match is_sync {
        true => fire_sync(&engine, &event, count),
        false => fire_async(&current_thread()?, &engine, &event, count),
    }
    Ok(())
}

/// Counts every case; `None` without valgrind.
fn count_all() -> Result<Option<BTreeMap<String, u64>>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(None);
    }
    let mut counts = BTreeMap::new();
    for callbacks in CALLBACKS {
        for way in WAYS {
            let (short, long) = std::thread::scope(|scope| {
                let short = scope.spawn(|| instructions(callbacks, way, SHORT));
                let long = instructions(callbacks, way, LONG);
                (short.join(), long)
            });
            let short = short.map_err(|_| anyhow::anyhow!("the short run panicked"))??;
            let per_fire = long?.saturating_sub(short) / (LONG - SHORT) as u64;
            counts.insert(format!("{callbacks:02} {way}"), per_fire);
        }
    }
    Ok(Some(counts))
}

fn instructions(callbacks: usize, way: &str, count: usize) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["--part", "fires", &callbacks.to_string(), way, &count.to_string()])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("valgrind ended with {}: {said}", output.status);
    }
    let counted = said.lines().find_map(|line| line.split_once("Collected :"));
    let counted = counted.and_then(|(_, number)| number.trim().parse().ok());
    counted.with_context(|| format!("valgrind counted nothing: {said}"))
}

pub(super) fn run(_: &Lab, findings: &mut Findings) -> Result<()> {
    let Some(counts) = count_all()? else {
        findings.skip("counts", "valgrind is not installed");
        return Ok(());
    };
    let accepted = Accepted::read();
    let accepted = accepted.of(&rustc());
    for (case, count) in counts {
        let id = format!("counts.{}", case.replace(' ', "."));
        let row =
            Row::counted(&id, format!("instructions per fire, callbacks: {case}"), Unit::Count, count as f64);
        findings.rows.push(match accepted.and_then(|accepted| accepted.get(&case)) {
            Some(&accepted) => row.at_most((accepted as f64 * GROWTH).floor()),
            None => row,
        });
    }
    Ok(())
}

/// Counts and compares; an error when a count has grown. With `accept`, stores the counts.
pub(super) fn compare(accept: bool) -> Result<()> {
    let Some(counts) = count_all()? else {
        bail!("nothing was compared: valgrind is not installed (Debian package `valgrind`)");
    };
    let (mut accepted, rustc) = (Accepted::read(), rustc());
    if accept {
        if accepted.rustc != rustc {
            accepted = Accepted { rustc, ..Accepted::default() };
        }
        accepted.counts.insert(PROFILE.to_owned(), counts);
        fs::write(FILE, serde_json::to_string_pretty(&accepted)? + "\n")?;
        return Ok(());
    }
    let Some(old) = accepted.of(&rustc) else {
        println!(
            "not compared: counts.json has no {PROFILE} counts of {rustc}; accept new ones (see tests/counts.rs)"
        );
        return Ok(());
    };
    let mut grown = Vec::new();
    for (case, &count) in &counts {
        let Some(&old) = old.get(case) else { bail!("counts.json does not know the case `{case}`") };
        println!("{case}: {count} instructions per fire, {old} accepted");
        if count as f64 > old as f64 * GROWTH {
            grown.push(format!("{case}: {old} -> {count}"));
        }
    }
    if !grown.is_empty() {
        bail!("a fire has grown by more than a tenth: {}", grown.join(", "));
    }
    Ok(())
}
