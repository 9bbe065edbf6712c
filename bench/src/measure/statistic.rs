//! Percentiles and confidence intervals.

use serde::Serialize;

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Interval {
    pub(crate) mid: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// A number that was counted, not sampled.
    pub(crate) fn exact(value: f64) -> Self {
        Self { mid: value, low: value, high: value }
    }

    /// The middle 95 % of the resampled values.
    pub(crate) fn of_resamples(mid: f64, mut resamples: Vec<f64>) -> Self {
        resamples.sort_unstable_by(f64::total_cmp);
        let low = at(&resamples, 0.025);
        let high = at(&resamples, 0.975);
        Self { mid, low: low.min(mid), high: high.max(mid) }
    }
}

/// The value below which this share of the values lies.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    at(&sorted, share)
}

/// The median; changes the order of the values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let (middle, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    if values.is_empty() {
        return f64::NAN;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if is_even { f64::midpoint(lower, upper) } else { upper }
}

/// Interpolates between the two neighbours if the position is not an integer.
fn at(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_or_between_the_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&mut [7.0]), 7.0);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn percentile_interpolates() {
        assert_eq!(percentile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.5), 3.0);
        assert_eq!(percentile(&[0.0, 10.0], 0.9), 9.0);
    }

    #[test]
    fn an_interval_holds_its_middle() {
        let interval = Interval::of_resamples(5.0, vec![1.0, 2.0, 3.0]);
        assert!(interval.low <= interval.mid && interval.mid <= interval.high);
    }
}
