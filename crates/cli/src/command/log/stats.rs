//! The statistics of the log, for people.

use crosier_log::Stats;

use crate::print::{self, one_line};
use crate::setup::count;
use crate::table;

pub(super) fn json(stats: &Stats) -> String {
    print::escaped_json(&serde_json::to_string_pretty(stats).unwrap_or_default())
}

pub(super) fn text(stats: &Stats) -> String {
    let mut text = table::paragraph(&format!(
        "{}: {} denied, {} asked, {} only warned about, {} denied because Crosier could not decide",
        count(stats.events, "event"),
        stats.denied,
        stats.asked,
        stats.would,
        stats.closed
    ));
    let mut add = |drawn: &comfy_table::Table| text.push_str(&format!("\n{}\n", table::text(drawn)));
    if !stats.denials.is_empty() {
        let mut drawn = table::table(["DENIED BY", "RULE", "TIMES", "LAST REASON"]);
        for row in &stats.denials {
            drawn.add_row([
                one_line(&row.by),
                row.rule.as_deref().map_or_else(|| "-".to_owned(), one_line),
                row.count.to_string(),
                one_line(&row.reason),
            ]);
        }
        add(&drawn);
    }
    if !stats.slowest.is_empty() {
        let mut drawn = table::table(["SLOWEST HOOK", "RUNS", "P50 MS", "P95 MS", "MAX MS"]);
        for row in &stats.slowest {
            let time = |ms: f64| format!("{ms:.1}");
            drawn.add_row([
                one_line(&row.hook),
                row.runs.to_string(),
                time(row.p50_ms),
                time(row.p95_ms),
                time(row.max_ms),
            ]);
        }
        add(&drawn);
    }
    if !stats.failures.is_empty() {
        let mut drawn = table::table(["FAILED HOOK", "TIMES", "HOW", "LAST CAUSE"]);
        for row in &stats.failures {
            drawn.add_row([
                one_line(&row.hook),
                row.count.to_string(),
                one_line(&row.kind),
                one_line(&row.detail),
            ]);
        }
        add(&drawn);
    }
    text
}
