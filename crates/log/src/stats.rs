//! Statistics of the log: denials by rule, slow hooks, failures.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::{Record, RecordKind};

/// Statistics of the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// How many events.
    pub events: usize,
    /// How many were denied.
    pub denied: usize,
    /// How many were asked about.
    pub asked: usize,
    /// How many would have been denied or asked about if every hook were enforced.
    pub would: usize,
    /// How many could not be judged.
    pub closed: usize,
    /// Denials by hook and reason, the most frequent first.
    pub denials: Vec<DenialCount>,
    /// Hooks by the time they take, the slowest first.
    pub slowest: Vec<HookCount>,
    /// Failures by hook and kind, the most frequent first.
    pub failures: Vec<FailureCount>,
}

/// How often something was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DenialCount {
    /// The hook; `closed` when nothing could be judged.
    pub by: String,
    /// The rule that the reason names in parentheses, if it names one.
    pub rule: Option<String>,
    /// The reason of the last one.
    pub reason: String,
    /// How often.
    pub count: usize,
}

/// The time that a hook takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HookCount {
    /// The hook.
    pub hook: String,
    /// How often it ran.
    pub runs: usize,
    /// The median time of its runs, in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// How often a hook failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailureCount {
    /// The hook.
    pub hook: String,
    /// How it failed.
    pub kind: String,
    /// The cause of the last one.
    pub detail: String,
    /// How often.
    pub count: usize,
}

/// The maximum number of rows of each table.
const MAX_ROWS: usize = 10;

/// Counts records as they are read.
#[derive(Debug, Default)]
struct Counter {
    stats: Stats,
    /// By hook and by rule, or by reason where it names none.
    denials: BTreeMap<(String, String), DenialCount>,
    times: BTreeMap<String, Vec<f64>>,
    failures: BTreeMap<(String, String), (usize, String)>,
}

impl Stats {
    /// Counts these records.
    pub fn of(records: impl IntoIterator<Item = Record>) -> Self {
        let mut counter = Counter::default();
        records.into_iter().for_each(|record| counter.add(record));
        counter.end()
    }
}

impl Counter {
    fn add(&mut self, record: Record) {
        if record.kind == RecordKind::Command {
            return;
        }
        let stats = &mut self.stats;
        stats.events += 1;
        stats.closed += usize::from(record.kind == RecordKind::Closed);
        stats.would += usize::from(matches!(record.would.as_deref(), Some("deny" | "ask")));
        stats.asked += usize::from(record.decision.as_deref() == Some("ask"));
        if record.decision.as_deref() == Some("deny") {
            stats.denied += 1;
            let by = match record.kind {
                RecordKind::Closed => "closed".to_owned(),
                _ => record.by.unwrap_or_default(),
            };
            let reason = record.reason.unwrap_or_default();
            let rule = rule_of(&reason).map(str::to_owned);
            let key = (by.clone(), rule.clone().unwrap_or_else(|| reason.clone()));
            let row =
                self.denials.entry(key).or_insert(DenialCount { by, rule, reason: String::new(), count: 0 });
            row.count += 1;
            row.reason = reason;
        }
        for hook in record.hooks {
            self.times.entry(hook.hook).or_default().push(hook.ms);
        }
        for failure in record.failures {
            let (count, detail) = self.failures.entry((failure.hook, failure.kind)).or_default();
            *count += 1;
            *detail = failure.detail;
        }
    }

    fn end(self) -> Stats {
        let mut stats = self.stats;
        stats.denials = self.denials.into_values().collect();
        stats.denials.sort_by_key(|row| std::cmp::Reverse(row.count));
        stats.slowest = self.times.into_iter().map(|(hook, times)| timed(hook, times)).collect();
        stats.slowest.sort_by(|one, other| other.p95_ms.total_cmp(&one.p95_ms));
        let failures = self.failures.into_iter();
        stats.failures = failures
            .map(|((hook, kind), (count, detail))| FailureCount { hook, kind, detail, count })
            .collect();
        stats.failures.sort_by_key(|row| std::cmp::Reverse(row.count));
        stats.denials.truncate(MAX_ROWS);
        stats.slowest.truncate(MAX_ROWS);
        stats.failures.truncate(MAX_ROWS);
        stats
    }
}

/// `git-push-force` of "`git push -f` is blocked (git-push-force): …".
fn rule_of(reason: &str) -> Option<&str> {
    let is_rule = |text: &&str| {
        text.contains('-') && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    reason.split('(').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).find(is_rule)
}

fn timed(hook: String, mut times: Vec<f64>) -> HookCount {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).copied();
    HookCount {
        runs: times.len(),
        p50_ms: at(50).unwrap_or_default(),
        p95_ms: at(95).unwrap_or_default(),
        max_ms: times.last().copied().unwrap_or_default(),
        hook,
    }
}
