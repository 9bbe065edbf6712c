//! A service that is busy or out of reach is asked again, until something of an answer has come.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crosier_agent::conversation::Block;
use crosier_agent::model::{ModelError, Wire};
use serde_json::json;

use crate::model_answer::{ask, config};
use crate::model_server::{Ending, Reply, Said, Server, anthropic, event, openai};

fn good(wire: Wire) -> Reply {
    let said = [Said::Text("ok")];
    Reply::stream(if wire == Wire::Anthropic { anthropic(&said, "end_turn") } else { openai(&said, "stop") })
}

#[tokio::test]
async fn busy_then_free_is_an_answer() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        for status in [408, 429, 500, 503, 529] {
            let server = Server::replies(vec![Reply::status(status, ""), good(wire)]);
            let (turn, heard) = ask(config(wire, &server.url())).await;
            assert_eq!(turn.unwrap().content, [Block::text("ok")], "{status}");
            assert_eq!(heard.concat(), "ok");
            let requests = server.requests();
            assert_eq!((requests.len(), &requests[0].body), (2, &requests[1].body));
        }
    }
}

#[tokio::test]
async fn broken_for_ever_is_an_error_after_a_while() {
    let server = Server::start(|_, _| Reply::status(500, r#"{"error":{"message":"oops"}}"#));
    let error = ask(config(Wire::Anthropic, &server.url())).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the model's service answered 500: oops (tried 4 times)");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn nobody_there_is_an_error_that_says_where() {
    // Nobody listens there; a port that was free a moment ago may be another test's.
    let error = ask(config(Wire::OpenAi, "http://127.0.0.1:1")).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { tries: 4, .. }), "{error:?}");
    assert!(error.to_string().contains("at http://127.0.0.1:1 could not be reached"), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_connection_that_closes_before_an_answer_is_made_again() {
    let wire = Wire::Anthropic;
    let start = event(&json!({"type": "message_start", "message": {}}));
    let broken = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    let replies =
        vec![Reply::Close, Reply::ending(start, Ending::Cut), Reply::stream(event(&broken)), good(wire)];
    let server = Server::replies(replies);
    assert_eq!(ask(config(wire, &server.url())).await.0.unwrap().content, [Block::text("ok")]);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn what_the_service_asks_for_is_waited_and_told() {
    let busy = Reply::Status { status: 429, headers: "retry-after: 0.02\r\n", body: "slow down".into() };
    let server = Server::replies(vec![busy, good(Wire::OpenAi)]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut config = config(Wire::OpenAi, &server.url());
    let kept = Arc::clone(&told);
    config.on_retry = Some(Arc::new(move |text: &str| kept.lock().unwrap().push(text.to_owned())));
    let started = std::time::Instant::now();
    ask(config).await.0.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(20));
    assert_eq!(*told.lock().unwrap(), ["the model's service answered 429: slow down; asking again in 0.0 s"]);
}

#[tokio::test]
async fn a_service_that_asks_for_an_hour_is_not_waited_for() {
    let busy = Reply::Status { status: 429, headers: "retry-after: 3600\r\n", body: "tomorrow".into() };
    let server = Server::replies(vec![busy, good(Wire::OpenAi)]);
    let error = ask(config(Wire::OpenAi, &server.url())).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the model's service answered 429: tomorrow");
}
