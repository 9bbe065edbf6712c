//! Code of the host: called in place, polled, or on a thread of its own. A panic is an answer.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crosier_protocol::{Answer, Failure, FailureKind};

use super::thread::spawn;
use super::{Means, moment_in};
use crate::registry::{BoxFuture, Call};

pub(super) type Code = dyn Fn(Call<'_>) -> Answer + Send + Sync;
pub(super) type AsyncCode = dyn Fn(Call<'_>) -> BoxFuture + Send + Sync;

/// Calls it here and now.
#[inline(always)]
pub(super) fn inline(code: &Arc<Code>, call: Call<'_>) -> Answer {
    catch_unwind(AssertUnwindSafe(|| code(call))).unwrap_or_else(panicked)
}

/// Calls it and polls it once: its answer, or what is to be waited for.
#[inline(always)]
pub(super) fn begin(
    code: &Arc<AsyncCode>,
    call: Call<'_>,
    context: &mut Context<'_>,
) -> Result<Answer, BoxFuture> {
    // Outside of what may panic: it must not be dropped while a panic is under way.
    let mut future = None;
    let polled = catch_unwind(AssertUnwindSafe(|| future.insert(code(call)).as_mut().poll(context)));
    match (polled, future) {
        (Ok(Poll::Pending), Some(future)) => Err(future),
        (polled, future) => {
            // What the code holds is dropped now; a panic there is not worth more than the answer.
            discard(future);
            Ok(match polled {
                Ok(Poll::Ready(answer)) => answer,
                Ok(Poll::Pending) => Failure::error("it ended without an answer").into(),
                Err(panic) => panicked(panic),
            })
        }
    }
}

/// Waits for what has begun, and drops it at its deadline.
pub(super) async fn rest(mut future: BoxFuture, timeout: Duration) -> Answer {
    let Ok(sleep) = catch_unwind(|| tokio::time::sleep(timeout)) else {
        discard(future);
        return Failure::error("an async callback that waits needs a tokio runtime with its clock on").into();
    };
    let mut sleep = pin!(sleep);
    // The code goes first: an answer at the last moment counts.
    let answer = poll_fn(|context| match poll(&mut future, context) {
        Poll::Pending => sleep.as_mut().poll(context).map(|()| late(timeout)),
        ready => ready,
    })
    .await;
    discard(future);
    answer
}

/// Calls it and waits for it. The timer is armed only when the first poll is not enough.
pub(super) async fn polled(code: &Arc<AsyncCode>, call: Call<'_>, timeout: Duration) -> Answer {
    match poll_fn(|context| Poll::Ready(begin(code, call, context))).await {
        Ok(answer) => answer,
        Err(future) => rest(future, timeout).await,
    }
}

/// Polls the code. It is not to be polled again when it has answered or panicked.
fn poll(future: &mut BoxFuture, context: &mut Context<'_>) -> Poll<Answer> {
    catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)))
        .unwrap_or_else(|panic| Poll::Ready(panicked(panic)))
}

/// Calls it on a thread of its own. A late answer is dropped; the thread cannot be.
pub(super) async fn on_a_thread(code: &Arc<Code>, call: Call<'_>, timeout: Duration, means: Means) -> Answer {
    let deadline = moment_in(timeout);
    let (code, event, hook) = (Arc::clone(code), call.event.clone(), Arc::clone(call.hook));
    let second = call.second;
    let pending = match spawn("crosier-hook", move || {
        inline(&code, Call { event: &event, hook: &hook, second })
    }) {
        Ok(pending) => pending,
        Err(error) => return Failure::error(format!("no thread could be started for it: {error}")).into(),
    };
    let answer = match means {
        Means::InPlace => pending.wait_until(deadline),
        Means::Threads => match catch_unwind(|| tokio::time::timeout(timeout, pending)) {
            Ok(limited) => limited.await.ok(),
            Err(_) => {
                return Failure::error("a blocking callback needs a tokio runtime with its clock on").into();
            }
        },
    };
    answer.unwrap_or_else(|| late(timeout))
}

fn late(timeout: Duration) -> Answer {
    Failure::new(FailureKind::Timeout, format!("it was not done after {timeout:?}")).into()
}

fn panicked(panic: Box<dyn Any + Send>) -> Answer {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let answer = Failure::new(FailureKind::Panic, format!("it panicked: {said}")).into();
    discard(panic);
    answer
}

/// Drops something of the host's, whose drop may panic, and the panic's own words may panic when dropped.
fn discard<T>(thing: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(thing))) {
        std::mem::forget(panic);
    }
}
