//! Whether another thread shares the core.
//!
//! On a rented machine, another tenant may run on the same core, as its second thread. Then both are about half as
//! fast, for a moment or for minutes, and work that needs large caches suffers most. Only the time that the same work
//! takes reveals this. So a short loop that needs the whole core is timed between the cases, and a sample counts only
//! if the loop was fast before and after it. The value of the sample itself plays no part in that.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock;

/// The core counts as shared if the loop is this many times slower than its best. Measured on shared cores: 1.7 to 1.9.
const SHARED: f64 = 1.3;
/// If fewer samples than this share were taken on an unshared ("quiet") core, all count.
const ENOUGH: f64 = 0.2;

/// The fastest loop so far. Times are positive, so their bits have the same order.
static BEST: AtomicU64 = AtomicU64::new(f64::INFINITY.to_bits());

/// Nanoseconds that the loop takes at this moment: the best of three, because the caches are cold after another
/// process.
pub(super) fn loop_time() -> f64 {
    let time = (0..3).map(|_| clock(work).0).fold(f64::INFINITY, f64::min);
    BEST.fetch_min(time.to_bits(), Ordering::Relaxed);
    time
}

/// Six sums that depend on each other as little as possible, so that one thread can use all units of the core.
fn work() {
    let mut sums = black_box([1_u64, 2, 3, 4, 5, 6]);
    for step in 0..3_000 {
        let [a, b, c, d, e, f] = sums;
        sums = [
            a.wrapping_add(step ^ b),
            b.wrapping_add(c),
            c ^ d.wrapping_add(step),
            d.wrapping_add(e),
            e ^ f.wrapping_add(step),
            f.wrapping_add(a),
        ];
    }
    black_box(sums);
}

/// Keeps the times that were measured while the core was not shared, and replaces the others by `NAN`; returns the share
/// that was kept. `loop_times` has, for each time, the slower of the two loops around it.
pub(super) fn keep_quiet(times: &mut [f64], loop_times: &[f64]) -> f64 {
    keep_below(times, loop_times, f64::from_bits(BEST.load(Ordering::Relaxed)) * SHARED)
}

fn keep_below(times: &mut [f64], loop_times: &[f64], limit: f64) -> f64 {
    let quiet =
        loop_times.iter().filter(|&&time| time <= limit).count() as f64 / loop_times.len().max(1) as f64;
    if quiet >= ENOUGH {
        for (time, _) in times.iter_mut().zip(loop_times).filter(|&(_, &loop_time)| loop_time > limit) {
            *time = f64::NAN;
        }
    }
    quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_beside_a_slow_loop_is_left_out() {
        let mut times = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(keep_below(&mut times, &[9.0, 21.0, 20.0, 11.0], 20.0), 0.75);
        assert!(times[1].is_nan() && [times[0], times[2], times[3]] == [1.0, 3.0, 4.0]);
    }

    #[test]
    fn where_hardly_anything_is_quiet_all_counts() {
        let mut times = [1.0; 10];
        let mut loop_times = [30.0; 10];
        loop_times[0] = 1.0;
        assert_eq!(keep_below(&mut times, &loop_times, 20.0), 0.1);
        assert_eq!(times, [1.0; 10]);
    }

    #[test]
    fn the_fastest_loop_is_the_measure() {
        let times: Vec<f64> = (0..50).map(|_| loop_time()).collect();
        let best = f64::from_bits(BEST.load(Ordering::Relaxed));
        assert!(times.iter().all(|&time| best <= time) && best > 0.0);
    }
}
