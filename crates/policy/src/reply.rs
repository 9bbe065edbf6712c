//! `type: reply`: a hook whose answer is written in the configuration, for test cases.
//!
//! It is not part of the engine: this crate registers it ([`loader`](crate::loader())), as any host can register hook types.

use std::sync::Arc;
use std::time::Duration;

use crosier::config::{HookRequest, HookType, Key, Node, Value, ValueKind};
use crosier::{Answer, Callback, Capability, Failure, FailureKind, Reply};

/// The hook type.
#[derive(Debug)]
pub struct ReplyType;

const KEYS: [Key; 4] = [
    Key::new("reply", ValueKind::Any, "the hook's reply, for test cases"),
    Key::new("then", ValueKind::Any, "the reply of the second run, when `reply` asks for one"),
    Key::new("delay", ValueKind::Seconds, "how long to wait before replying"),
    Key::new("fail", ValueKind::Word(&FAILURES), "the failure to simulate, for test cases"),
];

const FAILURES: [&str; FailureKind::ALL.len()] = {
    let mut words = [""; FailureKind::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = FailureKind::ALL[at].word();
        at += 1;
    }
    words
};

impl HookType for ReplyType {
    fn name(&self) -> &'static str {
        "reply"
    }

    fn keys(&self) -> &'static [Key] {
        &KEYS
    }

    fn make(&self, request: &mut HookRequest<'_>) -> Option<Callback> {
        let first = match request.node("fail") {
            None => TestAnswer::Answer(answer(request, "reply")),
            Some(_) => {
                let words = FailureKind::ALL.map(|kind| (kind.word(), kind));
                match request.word("fail", &words)? {
                    FailureKind::Panic => TestAnswer::Panic,
                    kind => TestAnswer::Answer(Failure::new(kind, "it is configured to fail").into()),
                }
            }
        };
        let second = TestAnswer::Answer(answer(request, "then"));
        let delay = match request.node("delay") {
            None => None,
            Some(_) => Some(request.duration("delay")?),
        };
        let may = request.event().capabilities;
        let can_deny = may.has(Capability::Deny) || may.has(Capability::Resume);
        if !can_deny && request.node("reply").is_some_and(denies) {
            let message = format!("this hook denies, but {} has no deny", request.event().name);
            request.warn("reply", message, "`crosier events` shows what each event allows");
        }
        Some(callback(first, second, delay))
    }
}

/// What one call does.
#[derive(Debug, Clone)]
enum TestAnswer {
    Answer(Answer),
    Panic,
}

/// A string is used as the hook's raw output; anything else is the reply as JSON.
fn answer(request: &HookRequest<'_>, key: &str) -> Answer {
    let Some(node) = request.node(key) else { return Answer::default() };
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        _ => node.to_json(),
    };
    Answer::from(Reply::decode(text.as_bytes(), request.event()))
}

fn denies(node: &Node) -> bool {
    matches!(node.get("decision").and_then(Node::as_text), Some("deny" | "block"))
        || node.get("abort").and_then(Node::as_bool) == Some(true)
        || node.get("allowed").and_then(Node::as_bool) == Some(false)
}

fn callback(first: TestAnswer, second: TestAnswer, delay: Option<Duration>) -> Callback {
    match delay {
        None => Callback::Inline(Arc::new(move |call| give(if call.second { &second } else { &first }))),
        Some(delay) => Callback::Async(Arc::new(move |call| {
            let chosen = if call.second { second.clone() } else { first.clone() };
            Box::pin(async move {
                tokio::time::sleep(delay).await;
                give(&chosen)
            })
        })),
    }
}

fn give(give: &TestAnswer) -> Answer {
    match give {
        TestAnswer::Answer(answer) => answer.clone(),
        // Unwinds like a callback that panics, but without the panic hook, which would print.
        TestAnswer::Panic => std::panic::resume_unwind(Box::new("it is configured to panic")),
    }
}
