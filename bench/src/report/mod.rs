//! The results of a run as a table, as Markdown, as JSON and as a chart.

mod chart;
mod markdown;
mod table;
mod text;

use serde::Serialize;

use crate::machine::{Machine, Noise};
use crate::row::{Row, Verdict};

pub(crate) use chart::chart;
pub(crate) use markdown::markdown;
pub(crate) use table::table;

/// All results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) date: String,
    pub(crate) quick: bool,
    pub(crate) machine: Machine,
    /// Before the first measurement and after the last.
    pub(crate) noise: Vec<Noise>,
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
    /// What was not measured, and why.
    pub(crate) skipped: Vec<String>,
}

/// A series of measurements for growing sizes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curve {
    pub(crate) id: String,
    pub(crate) title: String,
    /// What the points differ in.
    pub(crate) across: String,
    /// The values of each point, in order.
    pub(crate) columns: Vec<Column>,
    pub(crate) points: Vec<Point>,
}

/// One value of each point.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) unit: crate::row::Unit,
}

/// One point of a curve.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Point {
    pub(crate) at: f64,
    pub(crate) values: Vec<f64>,
}

impl Report {
    /// The share of samples that were taken on an unshared core.
    pub(crate) fn quiet(&self) -> String {
        let mut sampled: Vec<&Row> = self.rows.iter().filter(|row| row.ours.is_some()).collect();
        sampled.sort_by(|a, b| a.quiet.total_cmp(&b.quiet));
        let part = |row: &Row| format!("{:.0} %", row.quiet * 100.0);
        match (sampled.first(), sampled.get(sampled.len() / 2)) {
            (Some(least), Some(middle)) => format!(
                "quiet: in most rows, no other program used the core during {} of the samples; the lowest share is that of {}, {}",
                part(middle),
                least.id,
                part(least)
            ),
            _ => "quiet: nothing was sampled".to_owned(),
        }
    }

    /// How many goals there are of each verdict: met, met within noise, missed.
    pub(crate) fn tally(&self) -> [usize; 3] {
        [Verdict::Met, Verdict::WithinNoise, Verdict::Missed]
            .map(|verdict| self.rows.iter().filter(|row| row.verdict == Some(verdict)).count())
    }

    /// The tally as a sentence.
    pub(crate) fn summary(&self) -> String {
        let [met, noise, missed] = self.tally();
        format!("{} goals: {met} met, {noise} met within noise, {missed} missed", met + noise + missed)
    }
}
