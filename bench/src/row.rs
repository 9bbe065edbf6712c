//! One line of the table: some work, its floor, Crosier's time, and the goal.

use serde::Serialize;

use crate::measure::{CaseId, Interval, Samples};

/// A line of the table.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// `G1.sync`: its goal, and the case.
    pub(crate) id: String,
    pub(crate) work: String,
    pub(crate) floor: Option<Timing>,
    pub(crate) ours: Option<Timing>,
    pub(crate) unit: Unit,
    pub(crate) value: Interval,
    pub(crate) goal: Option<Goal>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) note: String,
    pub(crate) runs: usize,
    pub(crate) rounds: usize,
    /// The share of samples that was taken on an unshared core; of the side that has less.
    pub(crate) quiet: f64,
}

/// The time of one side, in nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
}

/// What the value of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Crosier's time as a multiple of the floor.
    Times,
    /// The other side's time as a multiple of Crosier's.
    TimesUnder,
    /// Crosier's time as a percentage of the other side's.
    Percent,
    /// Crosier's time in nanoseconds.
    Nanoseconds,
    /// Crosier's time beyond the other side's, in nanoseconds.
    NanosecondsMore,
    /// Bytes.
    Bytes,
    /// A count.
    Count,
}

/// The goal for the value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// Whether the goal is met. Noise counts in favour: a goal is missed only when the whole interval misses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The value itself reaches the goal.
    Met,
    /// The value does not, but the interval does.
    WithinNoise,
    Missed,
}

impl Goal {
    pub(crate) fn judge(self, value: Interval) -> Verdict {
        let (reached, reachable) = match self {
            Self::AtMost(goal) => (value.mid <= goal, value.low <= goal),
            Self::AtLeast(goal) => (value.mid >= goal, value.high >= goal),
        };
        match (reached, reachable) {
            (true, _) => Verdict::Met,
            (false, true) => Verdict::WithinNoise,
            (false, false) => Verdict::Missed,
        }
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::WithinNoise => "met within noise",
            Self::Missed => "MISSED",
        }
    }
}

impl Row {
    /// A counted number, without a floor.
    pub(crate) fn counted(id: &str, work: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self {
            id: id.to_owned(),
            work: work.into(),
            floor: None,
            ours: None,
            unit,
            value: Interval::exact(value),
            goal: None,
            verdict: None,
            note: String::new(),
            runs: 1,
            rounds: 1,
            quiet: 1.0,
        }
    }

    /// Crosier's time as a multiple of the floor.
    pub(crate) fn ratio(
        id: &str,
        work: impl Into<String>,
        samples: &Samples,
        ours: CaseId,
        floor: CaseId,
    ) -> Self {
        let value = samples.estimate(&[ours, floor], |p50| p50[0] / p50[1]);
        Self::sampled(id, work, samples, ours, Some(floor), Unit::Times, value)
    }

    /// The other side's time as a multiple of Crosier's.
    pub(crate) fn under(
        id: &str,
        work: impl Into<String>,
        samples: &Samples,
        ours: CaseId,
        other: CaseId,
    ) -> Self {
        let value = samples.estimate(&[ours, other], |p50| p50[1] / p50[0]);
        Self::sampled(id, work, samples, ours, Some(other), Unit::TimesUnder, value)
    }

    /// Crosier's time as a percentage of the whole.
    pub(crate) fn share(
        id: &str,
        work: impl Into<String>,
        samples: &Samples,
        ours: CaseId,
        whole: CaseId,
    ) -> Self {
        let value = samples.estimate(&[ours, whole], |p50| p50[0] / p50[1] * 100.0);
        Self::sampled(id, work, samples, ours, Some(whole), Unit::Percent, value)
    }

    /// Crosier's time.
    pub(crate) fn time(id: &str, work: impl Into<String>, samples: &Samples, ours: CaseId) -> Self {
        let value = samples.estimate(&[ours], |p50| p50[0]);
        Self::sampled(id, work, samples, ours, None, Unit::Nanoseconds, value)
    }

    /// Crosier's time beyond the other side's.
    pub(crate) fn more(
        id: &str,
        work: impl Into<String>,
        samples: &Samples,
        ours: CaseId,
        other: CaseId,
    ) -> Self {
        let value = samples.estimate(&[ours, other], |p50| p50[0] - p50[1]);
        Self::sampled(id, work, samples, ours, Some(other), Unit::NanosecondsMore, value)
    }

    fn sampled(
        id: &str,
        work: impl Into<String>,
        samples: &Samples,
        ours: CaseId,
        floor: Option<CaseId>,
        unit: Unit,
        value: Interval,
    ) -> Self {
        let timing = |case: CaseId| Timing {
            name: samples.name(case).to_owned(),
            p50: samples.percentile(case, 0.5),
            p90: samples.percentile(case, 0.9),
        };
        Self {
            floor: floor.map(timing),
            ours: Some(timing(ours)),
            value,
            runs: samples.runs(),
            rounds: samples.rounds(),
            quiet: floor.map_or(1.0, |floor| samples.quiet(floor)).min(samples.quiet(ours)),
            ..Self::counted(id, work, unit, value.mid)
        }
    }

    pub(crate) fn at_most(self, goal: f64) -> Self {
        self.promised(Goal::AtMost(goal))
    }

    pub(crate) fn at_least(self, goal: f64) -> Self {
        self.promised(Goal::AtLeast(goal))
    }

    fn promised(self, goal: Goal) -> Self {
        Self { goal: Some(goal), verdict: Some(goal.judge(self.value)), ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_missed_only_by_the_whole_interval() {
        let value = Interval { mid: 1.1, low: 1.0, high: 1.2 };
        assert_eq!(Goal::AtMost(1.1).judge(value), Verdict::Met);
        assert_eq!(Goal::AtMost(1.05).judge(value), Verdict::WithinNoise);
        assert_eq!(Goal::AtMost(0.9).judge(value), Verdict::Missed);
        assert_eq!(Goal::AtLeast(1.1).judge(value), Verdict::Met);
        assert_eq!(Goal::AtLeast(1.15).judge(value), Verdict::WithinNoise);
        assert_eq!(Goal::AtLeast(1.3).judge(value), Verdict::Missed);
    }
}
