//! Runs callbacks: in place, as a future, or on a thread of their own. A panic becomes a failure.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crosier_protocol::{Answer, Failure, FailureKind};

use super::thread::spawn;
use super::{WaitMode, deadline_in};
use crate::registry::{BoxFuture, Call};

pub(super) type Function = dyn Fn(Call<'_>) -> Answer + Send + Sync;

/// Calls it on this thread.
#[inline(always)]
pub(super) fn inline(code: &Arc<Function>, call: Call<'_>) -> Answer {
    catch_unwind(AssertUnwindSafe(|| code(call))).unwrap_or_else(panicked)
}

/// Calls it and polls its future once: the answer, or the future that is still pending.
#[inline(always)]
pub(super) fn start(
    code: impl FnOnce() -> BoxFuture,
    context: &mut Context<'_>,
) -> Result<Answer, BoxFuture> {
    // Declared outside `catch_unwind`: if its drop panicked while unwinding, the process would abort.
    let mut future = None;
    let polled = catch_unwind(AssertUnwindSafe(|| future.insert(code()).as_mut().poll(context)));
    match (polled, future) {
        (Ok(Poll::Pending), Some(future)) => Err(future),
        (polled, future) => {
            // Dropping it may panic; the answer still counts.
            discard(future);
            Ok(match polled {
                Ok(Poll::Ready(answer)) => answer,
                Ok(Poll::Pending) => Failure::error("it ended without an answer").into(),
                Err(panic) => panicked(panic),
            })
        }
    }
}

/// Waits for a pending future, and drops it at its deadline.
pub(super) async fn wait(mut future: BoxFuture, timeout: Duration) -> Answer {
    let mut sleep = pin!(tokio::time::sleep(timeout));
    // The callback is polled before the timer, so that an answer at the last moment counts.
    let answer = poll_fn(|context| match poll(&mut future, context) {
        Poll::Pending => sleep.as_mut().poll(context).map(|()| late(timeout)),
        ready => ready,
    })
    .await;
    discard(future);
    answer
}

/// Calls it and waits for it. A timer is created only if the first poll does not complete it.
pub(super) async fn run(code: impl Fn() -> BoxFuture, timeout: Duration) -> Answer {
    match poll_fn(|context| Poll::Ready(start(&code, context))).await {
        Ok(answer) => answer,
        Err(future) => wait(future, timeout).await,
    }
}

/// Polls the callback, which must not be polled again after it answered or panicked.
fn poll(future: &mut BoxFuture, context: &mut Context<'_>) -> Poll<Answer> {
    catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)))
        .unwrap_or_else(|panic| Poll::Ready(panicked(panic)))
}

/// Calls it on a thread of its own. A late answer is dropped, but the thread cannot be stopped.
pub(super) async fn run_on_thread(
    code: &Arc<Function>,
    call: Call<'_>,
    timeout: Duration,
    wait: WaitMode,
) -> Answer {
    let deadline = deadline_in(timeout);
    let (code, event, hook) = (Arc::clone(code), call.event.clone(), Arc::clone(call.hook));
    let Call { second, pass, is_only_hook, .. } = call;
    let pending = match spawn("crosier-hook", move || {
        inline(&code, Call { event: &event, hook: &hook, second, pass, is_only_hook })
    }) {
        Ok(pending) => pending,
        Err(error) => {
            return Failure::error(format!("no thread could be started for it: {error}")).into();
        }
    };
    let answer = match wait {
        WaitMode::Blocking => pending.wait_until(deadline),
        WaitMode::Async => tokio::time::timeout(timeout, pending).await.ok(),
    };
    answer.unwrap_or_else(|| late(timeout))
}

fn late(timeout: Duration) -> Answer {
    Failure::new(FailureKind::Timeout, format!("it did not finish within {timeout:?}")).into()
}

fn panicked(panic: Box<dyn Any + Send>) -> Answer {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let detail = format!("it panicked: {}", message.unwrap_or("no message"));
    let answer = Failure::new(FailureKind::Panic, detail).into();
    discard(panic);
    answer
}

/// Drops a value of the host. Its drop may panic, and so may dropping the payload of that panic, which is
/// leaked.
fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
}
