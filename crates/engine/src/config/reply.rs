//! `type: reply`: a hook whose answer is written down, for cases.

use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, Failure, FailureKind, Reply};

use super::hook::Keys;
use super::section::Event;
use super::tree::{Node, Value};
use super::value::{Sheet, Unit};
use crate::registry::{Callback, Handler};

/// What one call of it does.
#[derive(Debug, Clone)]
enum Act {
    Answer(Answer),
    Panic,
}

pub(super) fn reply(sheet: &mut Sheet<'_>, keys: &Keys<'_>, event: &Event) -> Option<Handler> {
    let written =
        |key: &str| keys.get(key).map(|node| Answer::from(Reply::decode(text(node).as_bytes(), &event.kind)));
    let first = match keys.get("fail") {
        None => Act::Answer(written("reply").unwrap_or_default()),
        Some(node) => {
            let words: Vec<(&'static str, FailureKind)> =
                FailureKind::ALL.into_iter().map(|kind| (kind.word(), kind)).collect();
            match sheet.word("fail", node, &words)? {
                FailureKind::Panic => Act::Panic,
                kind => Act::Answer(Failure::new(kind, "it was told to fail").into()),
            }
        }
    };
    let second = Act::Answer(written("then").unwrap_or_default());
    let delay = match keys.get("delay") {
        None => None,
        Some(node) => Some(sheet.duration("delay", node, Unit::Seconds)?),
    };
    Some(Handler::Callback(callback(first, second, delay)))
}

/// A string is what the hook wrote, to the letter; anything else is the reply as JSON.
fn text(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        _ => node.to_json(),
    }
}

fn callback(first: Act, second: Act, delay: Option<Duration>) -> Callback {
    match delay {
        None => Callback::Inline(Arc::new(move |call| act(if call.second { &second } else { &first }))),
        Some(delay) => Callback::Async(Arc::new(move |call| {
            let chosen = if call.second { second.clone() } else { first.clone() };
            Box::pin(async move {
                tokio::time::sleep(delay).await;
                act(&chosen)
            })
        })),
    }
}

fn act(act: &Act) -> Answer {
    match act {
        Act::Answer(answer) => answer.clone(),
        // Really unwinds, as a broken callback does, but without the noise of the panic hook.
        Act::Panic => std::panic::resume_unwind(Box::new("it was told to panic")),
    }
}
