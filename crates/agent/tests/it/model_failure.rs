//! Services that misbehave: each way is an error that says what happened, and none is an answer.

use std::time::Duration;

use crosier_agent::model::{Key, ModelError, Service, ServiceConfig, Wire};
use serde_json::json;

use crate::model_answer::{ask, config};
use crate::model_server::{Ending, Reply, Said, Server, anthropic, chunk, event, openai};

/// What comes of this reply, which must not be asked for twice.
async fn once(wire: Wire, reply: Reply) -> ModelError {
    let server = Server::replies(vec![reply]);
    let (turn, _) = ask(config(wire, &server.url())).await;
    assert_eq!(server.requests().len(), 1, "{turn:?}");
    turn.unwrap_err()
}

#[test]
fn without_a_key_the_providers_are_not_called() {
    let error = Service::new(ServiceConfig::new(Wire::Anthropic, "m")).unwrap_err();
    assert_eq!(error.to_string(), "no key for Anthropic: set ANTHROPIC_API_KEY");
    let mut openai = ServiceConfig::new(Wire::OpenAi, "m");
    openai.base_url = Some("https://api.openai.com/v1/".into());
    assert!(matches!(Service::new(openai), Err(ModelError::NoKey { variable: "OPENAI_API_KEY", .. })));
    // A service of one's own may want none.
    let mut own = ServiceConfig::new(Wire::OpenAi, "m");
    own.base_url = Some("http://localhost:11434/v1".into());
    assert!(Service::new(own).is_ok());
}

#[test]
fn an_address_or_a_key_that_cannot_be_used_is_said_at_once() {
    let with = |url: &str, key: &str| {
        let mut config = ServiceConfig::new(Wire::Anthropic, "m");
        (config.base_url, config.key) = (Some(url.to_owned()), Key::new(key));
        Service::new(config).unwrap_err().to_string()
    };
    assert!(with("localhost:1", "k").contains("not with http: or https:"));
    assert!(with("", "k").contains("its address is not valid"));
    let error = with("https://me:hidden@x.test", "k");
    assert!(error.contains("a name or a password") && !error.contains("hidden"), "{error}");
    let error = with("http://x.test", "sk-\u{1}secret");
    assert!(error.contains("ANTHROPIC_API_KEY") && !error.contains("secret"), "{error}");
}

#[tokio::test]
async fn a_refused_key_says_which_and_never_shows_it() {
    let body = json!({"error": {"message": "bad key: sk-secret"}}).to_string();
    for (wire, variable) in [(Wire::Anthropic, "ANTHROPIC_API_KEY"), (Wire::OpenAi, "OPENAI_API_KEY")] {
        let error = once(wire, Reply::status(401, body.clone())).await;
        assert_eq!(error.to_string(), format!("the key was refused (401): bad key: [key]; check {variable}"));
        assert!(!format!("{error:?}").contains("sk-secret"));
    }
}

#[tokio::test]
async fn an_unknown_model_is_named() {
    let body = json!({"type": "error", "error": {"type": "not_found_error", "message": "model: model-1"}});
    let error = once(Wire::Anthropic, Reply::status(404, body.to_string())).await.to_string();
    assert!(error.starts_with("no model `model-1` at http://127.0.0.1:"), "{error}");
    let body = json!({"error": {"code": "model_not_found", "message": "it does not exist"}});
    let error = once(Wire::OpenAi, Reply::status(400, body.to_string())).await;
    assert!(matches!(error, ModelError::UnknownModel { .. }), "{error}");
}

#[tokio::test]
async fn a_bad_request_is_not_made_again() {
    let error = once(Wire::Anthropic, Reply::status(400, r#"{"error":{"message":"too long"}}"#)).await;
    assert_eq!(error.to_string(), "the model's service answered 400: too long");
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let location =
        Reply::Status { status: 307, headers: "location: http://127.0.0.1:1/\r\n", body: String::new() };
    assert!(matches!(once(Wire::OpenAi, location).await, ModelError::Refused { status: 307, .. }));
}

#[tokio::test]
async fn something_that_is_no_stream_is_no_answer() {
    let headers = "content-type: text/html\r\n";
    let page = Reply::Status { status: 200, headers, body: "<html>".into() };
    let error = once(Wire::Anthropic, page).await.to_string();
    assert!(error.contains("`text/html`") && error.contains("base URL"), "{error}");
}

/// The beginning of an answer: words have come.
fn begun(wire: Wire) -> String {
    let text = json!({"type": "text", "text": "Well"});
    match wire {
        Wire::Anthropic => event(&json!({"type": "content_block_start", "index": 0, "content_block": text})),
        Wire::OpenAi => chunk(&json!({"content": "Well"}), None),
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_not_asked_for_again() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        for end in [Ending::Cut, Ending::Whole] {
            let error = once(wire, Reply::ending(begun(wire), end)).await;
            assert!(matches!(error, ModelError::Interrupted { .. }), "{wire:?} {end:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up() {
    for (wire, reply) in [
        (Wire::Anthropic, Reply::Silence),
        (Wire::Anthropic, Reply::ending(begun(Wire::Anthropic), Ending::Hang)),
        (Wire::OpenAi, Reply::ending("", Ending::Hang)),
    ] {
        let server = Server::replies(vec![reply]);
        let mut config = config(wire, &server.url());
        config.idle_timeout = Duration::from_millis(50);
        let error = ask(config).await.0.unwrap_err();
        assert_eq!(error.to_string(), "the model's service sent nothing for 50ms");
    }
}

#[tokio::test]
async fn an_error_in_the_stream_is_told() {
    let error = json!({"type": "invalid_request_error", "message": "no, sk-secret"});
    let events = begun(Wire::Anthropic) + &event(&json!({"type": "error", "error": error}));
    let said = once(Wire::Anthropic, Reply::stream(events)).await.to_string();
    assert_eq!(
        said,
        "the model's service reported an error while answering (invalid_request_error): no, [key]"
    );
    // Also one that would be worth another try, when words have come.
    let error = json!({"type": "overloaded_error", "message": "busy"});
    let events = begun(Wire::Anthropic) + &event(&json!({"type": "error", "error": error}));
    assert!(matches!(once(Wire::Anthropic, Reply::stream(events)).await, ModelError::ServiceError { .. }));
    let events = format!("data: {}\n\n", json!({"error": {"message": "no", "code": "bad"}}));
    assert!(matches!(once(Wire::OpenAi, Reply::stream(events)).await, ModelError::ServiceError { .. }));
}

#[tokio::test]
async fn nonsense_in_the_stream_is_never_an_answer() {
    let delta = json!({"type": "text_delta", "text": "x"});
    let anthropic_nonsense = [
        b"data: {\n\n".to_vec(),
        b"data: \xff\n\n".to_vec(),
        event(&json!({"type": "content_block_delta", "index": 3, "delta": delta})).into_bytes(),
        event(&json!({"type": "content_block_start", "content_block": {"type": "text"}})).into_bytes(),
        event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}}))
            .into_bytes(),
    ];
    for events in anthropic_nonsense {
        let error = once(Wire::Anthropic, Reply::stream(events)).await;
        assert!(matches!(error, ModelError::InvalidAnswer { .. }), "{error}");
    }
    for events in
        [&b"data: nonsense\n\n"[..], b"data: {\"choices\":[{\"delta\":{\"content\":\"\xc3\"}}]}\n\n"]
    {
        let error = once(Wire::OpenAi, Reply::stream(events)).await;
        assert!(matches!(error, ModelError::InvalidAnswer { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_call_with_broken_arguments_names_the_tool() {
    for arguments in [r#"{"command": "#, "[1]", "null", r#""text""#, "{} {}"] {
        let said = [Said::Call("c1", "Bash", arguments)];
        for (wire, events) in
            [(Wire::Anthropic, anthropic(&said, "tool_use")), (Wire::OpenAi, openai(&said, "tool_calls"))]
        {
            let error = once(wire, Reply::stream(events)).await;
            assert!(matches!(&error, ModelError::BadCall { tool, .. } if tool == "Bash"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_call_that_ran_out_of_tokens_says_so() {
    let said = [Said::Call("c1", "Write", r#"{"content": "long"#)];
    let error = once(Wire::OpenAi, Reply::stream(openai(&said, "length"))).await;
    assert_eq!(error, ModelError::TruncatedCall { tool: "Write".into(), max_tokens: 300 });
}
