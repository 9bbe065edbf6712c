//! Inside an agent: what one tool call costs, from the start of the hook's process to its end, as an agent starts it.
//!
//! Compared with the smallest process, with the same policy as a plain Python script, and with nah, which also judges
//! commands (`bench/peers/install.sh`).

use std::fs;

use anyhow::Result;

use super::cli::static_true;
use super::serve::{EVENT, Home};
use crate::floor::Raw;
use crate::lab::{Findings, Lab};
use crate::measure::{Group, clock};
use crate::row::Row;

/// What people write instead: the event on stdin, a JSON reply on stdout.
const SCRIPT: &str = "import json, sys\n\
    event = json.load(sys.stdin)\n\
    if event['tool_input']['command'].startswith('rm'):\n    \
        print(json.dumps({'decision': 'block', 'reason': 'no'}))\n";

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let cli = lab.cli()?;
    let home = Home::new(lab, "inside")?;
    let _daemon = home.serve(cli, lab)?;
    fs::write(home.folder.join("pack.yaml"), "extends: crosier:recommended\n")?;
    let script = home.folder.join("script.py");
    fs::write(&script, SCRIPT)?;

    let hook = |config: &str| home.hook(cli, lab, config);
    let (pack, warm) = (hook("pack.yaml"), hook("python.yaml"));
    let floor = static_true(lab, findings)?.map(|program| Raw::new(program, &[], &lab.path));
    let script = lab
        .python
        .as_ref()
        .map(|python| Raw::new(python, &[&script.display().to_string()], &lab.path).in_folder(&home.folder));
    let nah = lab.peers.as_ref().map(|peers| peers.join("python/bin/nah")).filter(|nah| nah.exists());
    if nah.is_none() {
        findings.skip("inside.nah", "nah is not installed: bench/peers/install.sh".to_owned());
    }
    let nah = nah.map(|nah| {
        let raw = Raw::new(nah, &["_claude-hook"], &lab.path).in_folder(&home.folder);
        raw.with("HOME", home.folder.display().to_string())
    });

    let timed = |raw: &Raw| {
        let (time, ran) = clock(|| raw.run(EVENT));
        ran.map(|_| time)
    };
    let mut group = Group::default();
    let pack = group.case("crosier:recommended", || timed(&pack));
    let warm = group.case("crosier, warm Python hook", || timed(&warm));
    let floor = floor.as_ref().map(|raw| group.case("static true", || timed(raw)));
    let script = script.as_ref().map(|raw| group.case("python3 script.py", || timed(raw)));
    let nah = nah.as_ref().map(|raw| group.case("nah", || timed(raw)));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(100))?;

    let rows = &mut findings.rows;
    rows.push(Row::time("inside.pack", "a tool call, crosier:recommended", &samples, pack));
    rows.push(Row::time("inside.python", "a tool call, one Python hook, daemon warm", &samples, warm));
    if let Some(floor) = floor {
        let row = Row::ratio("G12.pack", "crosier hook claude, crosier:recommended", &samples, pack, floor);
        rows.push(row.at_most(2.0));
    }
    if let Some(script) = script {
        let work = "a tool call, one Python hook, under the same as a script";
        rows.push(Row::under("inside.script", work, &samples, warm, script).at_least(5.0));
    }
    if let Some(nah) = nah {
        let row =
            Row::under("inside.nah", "a tool call, crosier:recommended, under nah", &samples, pack, nah);
        rows.push(
            row.at_least(3.0).note("equal: one shell line is taken apart and judged; the rules differ"),
        );
    }
    Ok(())
}
