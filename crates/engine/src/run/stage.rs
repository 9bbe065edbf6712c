//! Runs the hooks of a parallel stage at the same time, up to a limit.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crosier_protocol::Event;
use futures_util::stream::{self, Stream, StreamExt};

use super::{RunContext, RunResult, WaitMode, run_to_end};
use crate::registry::Entry;

/// How many hooks of one parallel stage run at once.
const MAX_PARALLEL: usize = 8;

/// A parallel stage that is running.
pub(crate) struct Stage<'a> {
    running: Pin<Box<dyn Stream<Item = (usize, RunResult)> + Send + 'a>>,
    /// In plan order; `None` for hooks that have not answered yet.
    results: Vec<Option<RunResult>>,
}

impl<'a> Stage<'a> {
    pub(crate) fn start(hooks: &'a [Arc<Entry>], event: &Event, run: RunContext<'a>) -> Self {
        // A blocking fire also needs threads to run several hooks at the same time.
        let run = RunContext { wait: WaitMode::Async, ..run };
        let event = event.clone();
        let width = 4 * std::thread::available_parallelism().map_or(1, usize::from);
        let one = move |(at, hook): (usize, &'a Arc<Entry>)| {
            let event = event.clone();
            async move { (at, run_to_end(hook, &event, run).await) }
        };
        let running = stream::iter(hooks.iter().enumerate()).map(one);
        // A stopped fire starts no more hooks.
        let running = running
            .take_while(move |_| std::future::ready(!run.stop.is_some_and(|stop| stop.is_stopped())))
            .buffer_unordered(width.min(MAX_PARALLEL));
        Self { running: Box::pin(running), results: hooks.iter().map(|_| None).collect() }
    }

    /// Ready when every hook has answered.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match self.running.as_mut().poll_next(context) {
                Poll::Ready(Some((at, result))) => {
                    if let Some(place) = self.results.get_mut(at) {
                        *place = Some(result);
                    }
                }
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The results since the last call, in plan order.
    pub(crate) fn take_results(&mut self) -> Vec<Option<RunResult>> {
        self.results.iter_mut().map(Option::take).collect()
    }
}
