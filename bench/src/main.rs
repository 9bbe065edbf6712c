//! All performance claims of Crosier, as a program: `cargo run --release -p bench`.
//!
//! - `measure`: interleaved rounds, medians, bootstrap intervals.
//! - `row`: one line of the table, its goal and its verdict.
//! - `floor`: the least work that any program must do: what Crosier is compared with.
//! - `suite`: what is measured.
//! - `report`: table, Markdown, JSON, chart.

mod args;
mod floor;
mod lab;
mod machine;
mod measure;
mod report;
mod row;
mod suite;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use args::{Args, HELP, variable};
use lab::{Findings, Lab};
use machine::{Machine, Noise};
use measure::Budget;
use report::Report;
use suite::SUITES;

fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)).and_then(run) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<ExitCode> {
    if args.help {
        print!("{HELP}");
    } else if args.list {
        SUITES.iter().for_each(|suite| println!("{:14} {}", suite.name, suite.goals.join(" ")));
    } else if let Some(words) = &args.part {
        suite::part(words)?;
    } else if let Some(json) = &args.chart {
        let text = fs::read_to_string(json).with_context(|| format!("cannot read {}", json.display()))?;
        write(&results().join("chart.svg"), &report::chart(&text)?)?;
    } else {
        return measure_all(&args);
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_all(args: &Args) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        eprintln!(
            "bench: this is a debug build; its numbers mean nothing. Use `cargo run --release -p bench`."
        );
    }
    let peers = args.peers.clone().or_else(|| variable("BENCH_PEERS").map(PathBuf::from));
    let lab = Lab::new(Budget { quick: args.quick }, peers.filter(|_| !args.no_peers))?;
    let machine = Machine::look(lab.python.as_deref());
    let mut noise = vec![Noise::measure("before")];
    let mut findings = Findings::default();
    let mut broken = false;
    for suite in SUITES.iter().filter(|suite| suite.is_wanted(&args.only)) {
        eprintln!("… {}", suite.name);
        if let Err(error) = (suite.run)(&lab, &mut findings) {
            broken = true;
            findings.skip(suite.name, format!("it failed: {error:#}"));
        }
    }
    noise.push(Noise::measure("after"));
    let Findings { rows, curves, skipped } = findings;
    let report = Report { date: today(), quick: args.quick, machine, noise, rows, curves, skipped };
    print!("{}", report::table(&report));
    save(&report, args)?;
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes complete runs to `bench/results`; partial runs are only printed.
fn save(report: &Report, args: &Args) -> Result<()> {
    let json = serde_json::to_string_pretty(report)?;
    if let Some(path) = &args.json {
        write(path, &json)?;
    }
    if !args.only.is_empty() {
        return Ok(());
    }
    let name = if report.quick { format!("{}-quick", report.date) } else { report.date.clone() };
    write(&results().join(format!("{name}.md")), &report::markdown(report))?;
    write(&results().join(format!("{name}.json")), &json)?;
    if !report.quick {
        write(&results().join("chart.svg"), &report::chart(&json)?)?;
    }
    eprintln!("written: bench/results/{name}.md and .json");
    Ok(())
}

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The day, in UTC.
fn today() -> String {
    crosier::timestamp(std::time::SystemTime::now())[..10].to_owned()
}
