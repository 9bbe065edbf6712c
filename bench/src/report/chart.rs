//! The main rows as a chart, drawn from the JSON of a run.
//!
//! Every bar is the share of its goal that is used: all goals are at the same line, shorter is better, and a bar
//! that crosses the line is a missed goal. The thin line is the 95 % interval. Colours follow the reader's
//! light or dark setting.

use anyhow::{Context, Result};
use serde_json::Value;

use super::text;
use crate::row::Unit;

/// The rows that represent their goal, and their labels in the chart.
const MAIN: &[(&str, &str)] = &[
    ("G1.sync", "command hook against raw posix_spawn"),
    ("G2.sync", "the same with 1 GiB in the parent"),
    ("G3", "argv form against sh -c"),
    ("G4.cold.1kb", "warm python hook under a cold one"),
    ("G5.1.sync", "fire of 1 callback against a bare call"),
    ("G5.10.async", "fire of 10 async callbacks against a bare loop"),
    ("G6.scan", "10,000 hooks under a linear scan"),
    ("G6.flat", "10,000 hooks against 10"),
    ("G7.100kb", "event JSON for 10 hooks against one"),
    ("G8", "crosier fire, no match, against a static true"),
    ("G8.git", "crosier fire, one command, against git hook run"),
    ("G9.sync", "back after the deadline"),
    ("G10", "100 parallel commands against sequential"),
];

const LABELS: f64 = 330.0;
const GOAL: f64 = 330.0;
const LINE: f64 = 26.0;
const WIDTH: f64 = 900.0;
/// A bar longer than this many goals is cut.
const MAX: f64 = 1.25;

pub(crate) fn chart(json: &str) -> Result<String> {
    let report: Value = serde_json::from_str(json).context("that is not the JSON of a run")?;
    let rows = report["rows"].as_array().context("that JSON has no rows")?;
    let mut bars = String::new();
    let mut count = 0;
    for (id, label) in MAIN {
        let row = rows.iter().find(|row| row["id"] == *id);
        if let Some(bar) = row.and_then(|row| bar(row, label, 74.0 + LINE * f64::from(count))) {
            bars.push_str(&bar);
            count += 1;
        }
    }
    let height = 74.0 + LINE * f64::from(count) + 34.0;
    let (goal, bottom) = (LABELS + GOAL, height - 36.0);
    let from = format!(
        "{}, commit {}, {}",
        report["date"].as_str().unwrap_or_default(),
        report["machine"]["commit"].as_str().unwrap_or_default(),
        if report["quick"] == true { "a quick run: not a claim" } else { "a full run" }
    );
    Ok(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="How much of each performance goal Crosier uses">
<style>
  text {{ font: 13px system-ui, sans-serif; fill: #24292f }}
  .title {{ font-size: 16px; font-weight: 600 }}
  .small {{ font-size: 11px; fill: #57606a }}
  .bar {{ fill: #2da44e }}
  .missed {{ fill: #cf222e }}
  .line {{ stroke: #57606a; stroke-width: 1; stroke-dasharray: 4 3 }}
  .interval {{ stroke: #24292f; stroke-width: 1.5 }}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #e6edf3 }}
    .small {{ fill: #8d96a0 }}
    .bar {{ fill: #3fb950 }}
    .missed {{ fill: #f85149 }}
    .line {{ stroke: #8d96a0 }}
    .interval {{ stroke: #e6edf3 }}
  }}
</style>
<text class="title" x="12" y="26">How much of each goal is used (shorter is better)</text>
<text class="small" x="12" y="44">{from}</text>
<text class="small" x="{goal}" y="62" text-anchor="middle">goal</text>
<line class="line" x1="{goal}" y1="66" x2="{goal}" y2="{bottom}"/>
{bars}<text class="small" x="12" y="{foot}">thin line: 95 % interval; every number is a ratio inside one run</text>
</svg>
"#,
        from = escape(&from),
        foot = height - 12.0,
    ))
}

fn bar(row: &Value, label: &str, top: f64) -> Option<String> {
    let unit = match row["unit"].as_str()? {
        "times" => Unit::Times,
        "times_under" => Unit::TimesUnder,
        "percent" => Unit::Percent,
        "nanoseconds" => Unit::Nanoseconds,
        "nanoseconds_more" => Unit::NanosecondsMore,
        _ => return None,
    };
    let (at_most, goal) = match (row["goal"]["at_most"].as_f64(), row["goal"]["at_least"].as_f64()) {
        (Some(goal), _) => (true, goal),
        (None, Some(goal)) => (false, goal),
        (None, None) => return None,
    };
    let used = |value: f64| (if at_most { value / goal } else { goal / value }).clamp(0.0, MAX) * GOAL;
    let number = |name: &str| row["value"][name].as_f64();
    let (mid, low, high) = (number("mid")?, number("low")?, number("high")?);
    let class = if row["verdict"] == "missed" { "missed" } else { "bar" };
    let sign = if at_most { "≤" } else { "≥" };
    let says = format!("{} ({sign} {})", text::value(unit, mid), text::value(unit, goal));
    let (width, middle) = (used(mid), top + 9.0);
    let (from, to) = (LABELS + used(low), LABELS + used(high));
    let words = LABELS + width.max(used(low)).max(used(high)).max(GOAL) + 8.0;
    Some(format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
         <rect class=\"{class}\" x=\"{LABELS}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"18\" rx=\"2\"/>\n\
         <line class=\"interval\" x1=\"{from:.1}\" y1=\"{middle:.1}\" x2=\"{to:.1}\" y2=\"{middle:.1}\"/>\n\
         <text class=\"small\" x=\"{words:.1}\" y=\"{:.1}\">{}</text>\n",
        LABELS - 8.0,
        top + 13.0,
        escape(label),
        top + 13.0,
        escape(&says),
    ))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_a_goal_becomes_a_bar_and_a_missed_one_is_marked() {
        let row = |mid: f64, verdict: &str| {
            serde_json::json!({
                "id": "G3", "unit": "times", "verdict": verdict,
                "value": {"mid": mid, "low": mid, "high": mid}, "goal": {"at_most": 0.65},
            })
        };
        let json = |row: Value| serde_json::json!({"date": "2026-01-01", "rows": [row]}).to_string();
        let met = chart(&json(row(0.5, "met"))).unwrap();
        assert!(met.contains("class=\"bar\"") && met.contains("0.50x (≤ 0.65x)"));
        assert!(chart(&json(row(0.9, "missed"))).unwrap().contains("class=\"missed\""));
        assert!(chart("[]").is_err());
    }
}
