//! Numbers for people.

use crate::measure::Interval;
use crate::row::{Goal, Row, Unit};

/// `812 ns`, `1.24 µs`, `2.40 ms`.
pub(crate) fn nanoseconds(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        _ if size >= 1e9 => (value / 1e9, "s"),
        _ if size >= 1e6 => (value / 1e6, "ms"),
        _ if size >= 1e3 => (value / 1e3, "µs"),
        _ => (value, "ns"),
    };
    format!("{} {unit}", digits(scaled))
}

fn bytes(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        _ if size >= 1_048_576.0 => (value / 1_048_576.0, "MiB"),
        _ if size >= 1_024.0 => (value / 1_024.0, "KiB"),
        _ => (value, "B"),
    };
    format!("{} {unit}", digits(scaled))
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub(crate) fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Times => format!("{}x", digits(value)),
        Unit::TimesUnder => format!("{}x under", digits(value)),
        Unit::Percent => format!("{} %", digits(value)),
        Unit::Nanoseconds => nanoseconds(value),
        Unit::NanosecondsMore => format!("+{}", nanoseconds(value)),
        Unit::Bytes => bytes(value),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => digits(value),
    }
}

/// The value of a row with its interval.
pub(crate) fn with_interval(row: &Row) -> String {
    let Interval { mid, low, high } = row.value;
    let mid_text = value(row.unit, mid);
    if low == high {
        return mid_text;
    }
    let bare = |number: f64| match row.unit {
        Unit::Times | Unit::TimesUnder | Unit::Percent | Unit::Count => digits(number),
        Unit::Nanoseconds | Unit::NanosecondsMore => nanoseconds(number),
        Unit::Bytes => bytes(number),
    };
    format!("{mid_text} [{}, {}]", bare(low), bare(high))
}

pub(crate) fn goal(row: &Row) -> String {
    match row.goal {
        None => String::new(),
        Some(Goal::AtMost(goal)) => format!("≤ {}", value(row.unit, goal).trim_start_matches('+')),
        Some(Goal::AtLeast(goal)) => format!("≥ {}", value(row.unit, goal)),
    }
}

/// The columns of a row: id, work, floor, Crosier, ratio with its interval, goal, verdict.
pub(crate) fn cells(row: &Row) -> [String; 7] {
    let floor = row
        .floor
        .as_ref()
        .map(|side| format!("{} ({})", nanoseconds(side.p50), side.name))
        .unwrap_or_default();
    let ours = row.ours.as_ref().map(|side| nanoseconds(side.p50)).unwrap_or_default();
    let verdict = row.verdict.map(|verdict| verdict.word().to_owned()).unwrap_or_default();
    [row.id.clone(), row.work.clone(), floor, ours, with_interval(row), goal(row), verdict]
}

pub(crate) const HEADINGS: [&str; 7] =
    ["id", "work", "floor or peer (p50)", "Crosier (p50)", "ratio [95 %]", "goal", "verdict"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(nanoseconds(812.4), "812 ns");
        assert_eq!(nanoseconds(1_240.0), "1.24 µs");
        assert_eq!(nanoseconds(24_000_000.0), "24.0 ms");
        assert_eq!(value(Unit::TimesUnder, 612.0), "612x under");
        assert_eq!(value(Unit::Percent, 0.4742), "0.47 %");
        assert_eq!(value(Unit::Bytes, 2_097_152.0), "2.00 MiB");
        assert_eq!(value(Unit::Count, 3.0), "3");
    }
}
