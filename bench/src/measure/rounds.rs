//! Interleaved rounds: in each round every case runs once, in a random order.
//!
//! A disturbance of the machine then affects all cases alike, and hardly changes the ratio of two cases. Rotating the
//! order is not enough: each case would always follow the same one, and a case after an interpreter always finds cold
//! caches. The first tenth of each run is dropped, and so are samples that were taken while the core was shared.

use std::time::Instant;

use anyhow::{Context, Result};

use super::Random;
use super::quiet::{keep_quiet, loop_time};
use super::statistic::{Interval, median, percentile};

const RESAMPLES: usize = 1_000;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) quick: bool,
}

impl Budget {
    pub(crate) fn runs(self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// Rounds per run: a tenth in a quick run.
    pub(crate) fn rounds(self, full: usize) -> usize {
        if self.quick { (full / 10).max(10) } else { full }
    }

    /// One of two sizes.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// Nanoseconds that some work takes, and its result.
pub(crate) fn clock<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_nanos() as f64, result)
}

/// The number of repetitions of work that is too short for a clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch(usize);

impl Batch {
    const NANOSECONDS: f64 = 40_000.0;

    /// Determines the number of repetitions, with the best of three attempts: a cold or interrupted one would seem long
    /// enough with too few repetitions, and then the overhead around the work would be measured.
    pub(crate) fn of(mut work: impl FnMut(usize)) -> Self {
        let mut count = 1;
        loop {
            let spent = (0..3).map(|_| clock(|| work(count)).0).fold(f64::INFINITY, f64::min);
            if spent >= Self::NANOSECONDS || count >= 1 << 20 {
                return Self(count);
            }
            count *= 2;
        }
    }

    /// Nanoseconds per repetition.
    pub(crate) fn time(self, work: impl FnOnce(usize)) -> f64 {
        clock(|| work(self.0)).0 / self.0 as f64
    }
}

/// Does the work once; returns nanoseconds.
type Work<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

struct Case<'a> {
    name: String,
    work: Work<'a>,
}

/// The number of a case in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CaseId(usize);

/// Cases that are compared with each other.
#[derive(Default)]
pub(crate) struct Group<'a> {
    cases: Vec<Case<'a>>,
}

impl<'a> Group<'a> {
    /// Adds a case that measures its own time.
    pub(crate) fn case(&mut self, name: impl Into<String>, work: impl FnMut() -> Result<f64> + 'a) -> CaseId {
        self.cases.push(Case { name: name.into(), work: Box::new(work) });
        CaseId(self.cases.len() - 1)
    }

    /// Adds a case that is repeated until a clock can measure it. `work` gets the number of repetitions.
    pub(crate) fn repeated(&mut self, name: impl Into<String>, mut work: impl FnMut(usize) + 'a) -> CaseId {
        let batch = Batch::of(&mut work);
        self.case(name, move || Ok(batch.time(&mut work)))
    }

    pub(crate) fn run(mut self, runs: usize, rounds: usize) -> Result<Samples> {
        let count = self.cases.len();
        let dropped = rounds.div_ceil(10).min(rounds - 1);
        let mut all = Vec::with_capacity(runs);
        let mut random = Random::new(1);
        let mut order: Vec<usize> = (0..count).collect();
        for _ in 0..runs {
            let mut times = vec![Vec::with_capacity(rounds); count];
            let mut loop_times = times.clone();
            let mut before = loop_time();
            for round in 0..rounds {
                random.shuffle(&mut order);
                for &at in &order {
                    let case = &mut self.cases[at];
                    let time = (case.work)().with_context(|| case.name.clone())?;
                    let after = loop_time();
                    if round >= dropped {
                        times[at].push(time);
                        loop_times[at].push(before.max(after));
                    }
                    before = after;
                }
            }
            all.push((times, loop_times));
        }
        let mut quiet = vec![0.0; count];
        let keep = |(mut times, loop_times): (Vec<Vec<f64>>, Vec<Vec<f64>>)| {
            for ((times, loop_times), quiet) in times.iter_mut().zip(&loop_times).zip(&mut quiet) {
                *quiet += keep_quiet(times, loop_times) / runs as f64;
            }
            times
        };
        let runs = all.into_iter().map(keep).collect();
        let names = self.cases.into_iter().map(|case| case.name).collect();
        Ok(Samples { names, runs, quiet })
    }
}

/// The times of all cases, run by run and round by round.
#[derive(Debug)]
pub(crate) struct Samples {
    names: Vec<String>,
    /// Run, case, round. `NAN` where the core was shared.
    runs: Vec<Vec<Vec<f64>>>,
    /// The share of each case's samples that was taken on an unshared core.
    quiet: Vec<f64>,
}

impl Samples {
    pub(crate) fn name(&self, case: CaseId) -> &str {
        &self.names[case.0]
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The share of a case's samples that was taken on an unshared core.
    pub(crate) fn quiet(&self, case: CaseId) -> f64 {
        self.quiet[case.0]
    }

    /// Rounds per run, without those that are dropped at its beginning.
    pub(crate) fn rounds(&self) -> usize {
        self.runs.first().and_then(|run| run.first()).map_or(0, Vec::len)
    }

    /// The median over the runs of one percentile.
    pub(crate) fn percentile(&self, case: CaseId, share: f64) -> f64 {
        let mut each: Vec<f64> =
            self.runs.iter().map(|run| percentile(&counted(&run[case.0]), share)).collect();
        median(&mut each)
    }

    /// A number computed from the medians of some cases: the median over the runs, with its interval. Runs and their
    /// rounds are resampled; the cases of one round stay together, because they ran together.
    pub(crate) fn estimate(&self, cases: &[CaseId], number: impl Fn(&[f64]) -> f64) -> Interval {
        let of_run = |run: &[Vec<f64>], rounds: Option<&[usize]>, scratch: &mut Vec<f64>| {
            let medians: Vec<f64> = cases
                .iter()
                .map(|case| {
                    let times = &run[case.0];
                    scratch.clear();
                    match rounds {
                        None => scratch.extend_from_slice(times),
                        Some(rounds) => scratch.extend(rounds.iter().map(|&round| times[round])),
                    }
                    scratch.retain(|time| !time.is_nan());
                    median(scratch)
                })
                .collect();
            number(&medians)
        };
        let mut scratch = Vec::new();
        let mut each: Vec<f64> = self.runs.iter().map(|run| of_run(run, None, &mut scratch)).collect();
        let mid = median(&mut each);
        let (runs, rounds) = (self.runs.len(), self.rounds());
        let mut random = Random::new(8);
        let mut drawn = vec![0; rounds];
        let resamples = (0..RESAMPLES).map(|_| {
            let mut each: Vec<f64> = (0..runs)
                .map(|_| {
                    let run = &self.runs[random.below(runs)];
                    drawn.fill_with(|| random.below(rounds));
                    of_run(run, Some(&drawn), &mut scratch)
                })
                .collect();
            median(&mut each)
        });
        Interval::of_resamples(mid, resamples.collect())
    }
}

fn counted(times: &[f64]) -> Vec<f64> {
    times.iter().copied().filter(|time| !time.is_nan()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs_once_a_round_and_the_first_tenth_is_dropped() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut group = Group::default();
        for case in 0..3 {
            let order = &order;
            group.case(format!("case {case}"), move || {
                order.borrow_mut().push(case);
                Ok(f64::from(case) + 1.0)
            });
        }
        let samples = group.run(2, 20).unwrap();
        assert_eq!(samples.rounds(), 18);
        for round in order.borrow().chunks(3) {
            assert!((0..3).all(|case| round.contains(&case)), "{round:?}");
        }
        let follows = |first, second| order.borrow().windows(2).any(|pair| pair == [first, second]);
        assert!(
            follows(0, 1)
                && follows(1, 0)
                && follows(1, 2)
                && follows(2, 1)
                && follows(0, 2)
                && follows(2, 0)
        );
        let ratio = samples.estimate(&[CaseId(2), CaseId(0)], |p50| p50[0] / p50[1]);
        assert_eq!((ratio.low, ratio.mid, ratio.high), (3.0, 3.0, 3.0));
    }

    #[test]
    fn what_was_left_out_has_no_part_in_any_number() {
        let quiet = [1.0, 3.0, 2.0];
        let with_gaps = [1.0, f64::NAN, 3.0, f64::NAN, 2.0];
        let samples = |times: &[f64]| Samples {
            names: vec!["case".to_owned()],
            runs: vec![vec![times.to_vec()]],
            quiet: vec![0.6],
        };
        let (all, some) = (samples(&quiet), samples(&with_gaps));
        let mid = |samples: &Samples| samples.estimate(&[CaseId(0)], |p50| p50[0]).mid;
        assert_eq!((mid(&all), mid(&some)), (2.0, 2.0));
        for share in [0.0, 0.5, 0.9, 1.0] {
            assert_eq!(some.percentile(CaseId(0), share), all.percentile(CaseId(0), share));
        }
    }

    #[test]
    fn the_interval_grows_with_the_noise() {
        let spread = |noise: f64| {
            let mut random = Random::new(1);
            let mut group = Group::default();
            let case = group.case("noisy", move || Ok(100.0 + noise * random.below(100) as f64));
            let samples = group.run(5, 50).unwrap();
            let interval = samples.estimate(&[case], |p50| p50[0]);
            interval.high - interval.low
        };
        assert!(spread(1.0) > spread(0.1));
    }
}
