//! G11: the built-in hooks. Records of the audit log against a plain append of the same bytes, redaction of a
//! megabyte against one search for the literals of its rules, a fire with one guard, and hostile shell lines.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use crosier::config::Loader;
use crosier::payload::PreToolUse;
use crosier::{Catalog, Engine, Event, Json};
use crosier_builtins::audit::{Fsync, Log, Settings};
use crosier_builtins::redact_secrets::Redactor;
use crosier_builtins::rules::{RuleLists, Rules};

use super::callback::{fire_sync, guard, tool_call};
use super::growth::nanoseconds;
use crate::lab::{Findings, Lab, check_ran};
use crate::measure::{CaseId, Group, clock};
use crate::report::{Curve, Point};
use crate::row::Row;

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    audit(lab, findings)?;
    redact(lab, findings)?;
    fires(lab, findings)?;
    guards(lab, findings)?;
    lines(lab, findings)
}

/// What the hook writes about one tool call, without number, time and hashes.
const FIELDS: &str = ",\"time\":\"2026-11-15T21:45:11.000Z\",\"event\":\"PreToolUse\",\"session\":\"0197-abc\",\
\"agent\":null,\"tool_name\":\"Bash\",\"decision\":null,\"by\":null,\"hooks\":[{\"hook\":\"guard\",\"status\":\"ok\"}],\
\"payload\":{\"tool_input\":{\"type\":\"object\",\"bytes\":120,\"keys\":[\"command\"],\"sha256\":\
\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}";

fn log(lab: &Lab, name: &str, fsync: Fsync) -> Log {
    // Never renamed, because the plain file is not either.
    Log::new(lab.folder().join(name), Settings { max_size: u64::MAX, fsync, ..Settings::default() })
}

/// Appends a record; an error is kept for the end.
fn append(log: &Log, failed: &RefCell<Option<std::io::Error>>) {
    if let Err(error) = log.append(|line| line.push_str(FIELDS)) {
        failed.borrow_mut().get_or_insert(error);
    }
}

fn audit(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let failed = RefCell::new(None);
    let first = log(lab, "first.jsonl", Fsync::Never);
    append(&first, &failed);
    let line = std::fs::read(first.path())?;
    let plain = |name: &str| OpenOptions::new().append(true).create(true).open(lab.folder().join(name));
    let write = |mut file: &File| {
        if let Err(error) = file.write_all(&line) {
            failed.borrow_mut().get_or_insert(error);
        }
    };
    let (file, synced) = (plain("plain")?, plain("plain-synced")?);
    let never = log(lab, "never.jsonl", Fsync::Never);
    let every = log(lab, "every.jsonl", Fsync::Every(Duration::from_secs(1)));
    let mut group = Group::default();
    let floor = group.repeated("plain append", |times| (0..times).for_each(|_| write(&file)));
    let ours = group.repeated("audit record", |times| (0..times).for_each(|_| append(&never, &failed)));
    let seconds = group.repeated("audit record", |times| (0..times).for_each(|_| append(&every, &failed)));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    const WORK: &str = "a record of the audit log";
    const GOAL: &str = "10 µs are 100,000 records per second";
    findings.rows.push(Row::ratio(
        "G11.audit",
        format!("{WORK}, against the same bytes"),
        &samples,
        ours,
        floor,
    ));
    findings.rows.push(Row::time("G11.audit.ns", WORK, &samples, ours).at_most(10_000.0).note(GOAL));
    findings.rows.push(Row::time("G11.audit.second", format!("{WORK}, fsync: 1s"), &samples, seconds));

    let always = log(lab, "always.jsonl", Fsync::Always);
    let mut group = Group::default();
    let floor = group.case("append and fdatasync", || {
        let (time, done) = clock(|| {
            write(&synced);
            synced.sync_data()
        });
        done.map(|()| time).map_err(Into::into)
    });
    let ours = group.case("audit record", || Ok(clock(|| append(&always, &failed)).0));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(100))?;
    let work = format!("{WORK}, fsync: always, against the same bytes and a sync");
    findings.rows.push(Row::ratio("G11.audit.always", work, &samples, ours, floor));
    match failed.into_inner() {
        Some(error) => bail!("the log could not be written: {error}"),
        None => Ok(()),
    }
}

/// A megabyte of typical tool output: code, logs, and sometimes a secret.
fn megabyte() -> String {
    let code = include_str!("command.rs");
    let rules = include_str!("../../../crates/builtins/src/redact_secrets/rules.yaml");
    let mut text = String::with_capacity(1 << 20);
    for index in 0.. {
        if text.len() >= 1 << 20 {
            break;
        }
        text.push_str(code);
        for second in 0..60 {
            text.push_str(&format!(
                "2026-11-15T21:45:{second:02}Z INFO request id={index} user=alice path=/api/v1/items status=200\n"
            ));
        }
        // Text about secrets is the worst case: literals everywhere, with hardly any secrets after them.
        if index % 4 == 0 {
            text.push_str(rules);
        }
        text.push_str(&format!("export TOKEN=gh{}_{}\n", "p", "a1B2".repeat(9)));
    }
    text
}

fn redact(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let redactor = Redactor::standard().map_err(|why| anyhow!(why))?;
    let text = megabyte();
    let (hits, secrets) = (redactor.literals().find_iter(&text).count(), redactor.find(&text).len());
    if secrets < 20 || redactor.text(&text).len() != text.len() {
        bail!("{secrets} secrets of {hits} literals were masked: this is not the text that was meant");
    }
    let mut group = Group::default();
    let floor = group.case("one Aho-Corasick pass over the literals", || {
        Ok(clock(|| black_box(redactor.literals().find_iter(&text).count())).0)
    });
    let ours = group.case("redact-secrets", || Ok(clock(|| black_box(redactor.text(&text)).len()).0));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(60))?;
    let row =
        Row::ratio("G11.redact", "1 MB of text without its secrets", &samples, ours, floor).at_most(3.0);
    findings.rows.push(row.note(format!("{hits} literals, {secrets} secrets")));
    Ok(())
}

/// An engine with one built-in hook on PreToolUse.
fn engine(lab: &Lab, handler: &str, options: &str) -> Result<Engine> {
    let text = format!("hooks: {{PreToolUse: [{{type: builtin, handler: {handler}, options: {options}}}]}}");
    let loader = crosier_builtins::register(Loader::new(Catalog::default()));
    let config =
        loader.text("bench", &text, lab.folder()).load().map_err(|problems| anyhow!("{problems}"))?;
    Ok(lab.engine().config(config).build()?)
}

fn fires(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let hooks = [
        ("block-commands", "{}"),
        ("permissions", "{allow: ['Bash(cargo test *)', 'Bash(git status:*)'], deny: ['Bash(rm *)']}"),
        ("protect-paths", "{}"),
    ];
    let event = Event::from(tool_call());
    let engines =
        hooks.iter().map(|(name, options)| engine(lab, name, options)).collect::<Result<Vec<_>>>()?;
    for engine in &engines {
        check_ran(&engine.fire_blocking(&event), 1)?;
    }
    let plain = lab.engine().hook(guard(0)).build()?;
    let mut group = Group::default();
    let floor = group.repeated("fire, 1 callback", |times| fire_sync(&plain, &event, times));
    let cases: Vec<CaseId> = engines
        .iter()
        .zip(hooks)
        .map(|(engine, (name, _))| group.repeated(name, |times| fire_sync(engine, &event, times)))
        .collect();
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    for (case, (name, _)) in cases.into_iter().zip(hooks) {
        let work = format!("fire, PreToolUse with {name}, sync: beyond a callback that looks for a text");
        findings.rows.push(Row::more(&format!("G11.fire.{name}"), work, &samples, case, floor));
    }
    Ok(())
}

/// A guard, the name of its row, a shell line, and how many nanoseconds it may cost. Lines that end with `…` are
/// repeated up to 64 KiB.
const GUARDED: [(&str, &str, &str, f64); 8] = [
    ("block-commands", "normal", "cargo test --workspace", 6_000.0),
    ("block-commands", "git", "git status", 6_000.0),
    ("block-commands", "three", "cd src && cargo build --release 2>&1 | tail -n 20", 12_000.0),
    ("protect-paths", "file", "cat src/main.rs", 25_000.0),
    ("protect-paths", "copy", "cp src/main.rs src/old.rs && cat src/main.rs", 25_000.0),
    ("block-commands", "64k.eval", "eval …", 50_000_000.0),
    ("block-commands", "64k.commands", "rm -rf x; …", 50_000_000.0),
    ("protect-paths", "64k.commands", "rm -rf x; …", 50_000_000.0),
];

/// The cost of a guard for a line, beyond a callback that searches for a text.
fn guards(lab: &Lab, findings: &mut Findings) -> Result<()> {
    std::fs::create_dir_all(lab.folder().join("src"))?;
    lab.file("src/main.rs", "fn main() {}\n")?;
    let plain = lab.engine().hook(guard(0)).build()?;
    for (name, row, line, goal) in GUARDED {
        let (line, rounds) = match line.strip_suffix('…') {
            Some(part) => (part.repeat((64 << 10) / part.len()), lab.budget.rounds(20)),
            None => (line.to_owned(), lab.budget.rounds(334)),
        };
        let call = PreToolUse::new("Bash", Json::from(serde_json::json!({ "command": line })));
        let (engine, event) = (engine(lab, name, "{}")?, Event::from(call));
        check_ran(&engine.fire_blocking(&event), 1)?;
        let mut group = Group::default();
        let floor = group.repeated("fire, 1 callback", |times| fire_sync(&plain, &event, times));
        let ours = group.repeated(name, |times| fire_sync(&engine, &event, times));
        let samples = group.run(lab.budget.runs(), rounds)?;
        let shown: String = line.chars().take(60).collect();
        let work = format!("{name} on `{shown}`, {} bytes", line.len());
        findings
            .rows
            .push(Row::more(&format!("G11.{name}.{row}"), work, &samples, ours, floor).at_most(goal));
    }
    Ok(())
}

/// Lines that are meant to take too long: the time for each must grow linearly with its length.
const HOSTILE: [(&str, &str, &str); 6] = [
    ("commands", "", "rm -rf x; "),
    ("substitutions", "", "$(a) "),
    ("never closed", "", "$("),
    ("sudo sudo …", "", "sudo "),
    ("braces", "", "{a,b}"),
    ("a here-document of joined lines", "cat <<E\n", "x\\\n"),
];

fn lines(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let list = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let lists = RuleLists { allow: list(&["Bash(ls *)"]), ask: Vec::new(), deny: list(&["Bash(rm x *)"]) };
    let rules = Rules::parse(&lists).map_err(|errors| anyhow!("{errors:?}"))?;
    let mut points = Vec::new();
    for bytes in [1 << 10, 8 << 10, 64 << 10, 512 << 10] {
        let mut group = Group::default();
        let cases = HOSTILE.map(|(name, start, part)| {
            let line = format!("{start}{}", part.repeat(bytes / part.len()));
            let (rules, input) = (&rules, Json::from(serde_json::json!({ "command": line })));
            group.case(name, move || {
                let (time, verdict) = clock(|| rules.decide("Bash", &input, Path::new("/")));
                if verdict.is_allowed() { bail!("a line of {name} was allowed") } else { Ok(time) }
            })
        });
        let samples = group.run(lab.budget.pick(3, 1), lab.budget.pick(20, 5))?;
        let values = cases.iter().map(|&case| samples.percentile(case, 0.5)).collect();
        points.push(Point { at: bytes as f64, values });
    }
    findings.curves.push(Curve {
        id: "growth.shell-line".to_owned(),
        title: "Length of a hostile line of shell that permission rules judge".to_owned(),
        across: "bytes".to_owned(),
        columns: HOSTILE.iter().map(|(name, ..)| nanoseconds(name)).collect(),
        points,
    });
    Ok(())
}
