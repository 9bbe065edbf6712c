//! One run of a hook that blocks: everything it needs in one value, so that it can move to a thread.

use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier_protocol::{Answer, Event, Failure, FailureKind};

use super::crew::Rope;
use super::telling::Telling;
use super::{Host, Means, Run, Setting, moment_in};
use crate::registry::Call;

pub(super) struct Errand {
    pub(super) event: Event,
    pub(super) hook: Arc<str>,
    pub(super) second: bool,
    pub(super) host: Arc<Host>,
    /// From before anything is started.
    pub(super) deadline: Instant,
    pub(super) timeout: Duration,
}

impl Errand {
    pub(super) fn call(&self) -> Call<'_> {
        Call { event: &self.event, hook: &self.hook, second: self.second }
    }

    /// The event's JSON, if there is any point in going on.
    pub(super) fn input(&self) -> Result<&str, Failure> {
        if self.host.is_shut_down() {
            return Err(Failure::error("the engine is shut down"));
        }
        self.event.wire().map_err(Failure::clone)
    }
}

/// Does the work here, or on a thread. Dropping the future lets go of the rope that the work watches, and the
/// work ends what it started.
pub(super) async fn send(
    call: Call<'_>,
    run: Run,
    setting: &Setting<'_>,
    telling: &mut Option<Telling>,
    work: impl FnOnce(&Errand, Option<&OwnedFd>, &mut Option<Telling>) -> Answer + Send + 'static,
) -> Answer {
    let errand = Errand {
        event: call.event.clone(),
        hook: Arc::clone(call.hook),
        second: call.second,
        host: Arc::clone(setting.host),
        deadline: moment_in(run.timeout),
        timeout: run.timeout,
    };
    // A thread that panics would never answer, and nobody would wake who waits for it.
    let work = |errand: &Errand, cancel: Option<&OwnedFd>, telling: &mut Option<Telling>| {
        catch_unwind(AssertUnwindSafe(|| work(errand, cancel, telling))).unwrap_or_else(|_| {
            Failure::new(FailureKind::Panic, "the engine panicked while it ran the hook").into()
        })
    };
    if setting.means == Means::InPlace {
        return work(&errand, None, telling);
    }
    let cannot = |what, error| Failure::new(FailureKind::Spawn, format!("{what}: {error}")).into();
    let crew = &setting.host.crew;
    let Rope { held, watched } = match crew.rope() {
        Ok(rope) => rope,
        Err(error) => return cannot("no descriptors are left to watch over it", error),
    };
    let mut theirs = telling.take();
    let work = move || {
        let answer = work(&errand, Some(&watched), &mut theirs);
        (answer, theirs, watched)
    };
    match crew.hand(work) {
        Ok(pending) => {
            let (answer, theirs, watched) = pending.await;
            // Here are both ends again: had the future been dropped, so had been the one that is held.
            crew.keep(Rope { held, watched });
            *telling = theirs;
            answer
        }
        Err(error) => cannot("no thread could be started for it", error),
    }
}
