//! Answers of services that behave: words, calls, usage, in both languages, however the bytes are cut.

use std::sync::Mutex;
use std::time::Duration;

use crosier::Json;
use crosier_agent::conversation::{Block, Message, Role};
use crosier_agent::model::{
    Key, Model, ModelError, ModelRequest, Retry, Service, ServiceConfig, StopReason, Turn, Wire,
};
use crosier_agent::tool::ToolSpec;
use serde_json::{Value, json};

use crate::model_server::{Reply, Said, Server, anthropic, chunk, event, openai};

/// A service that is asked again at once.
pub(crate) fn config(wire: Wire, url: &str) -> ServiceConfig {
    let mut config = ServiceConfig::new(wire, "model-1");
    config.base_url = Some(url.to_owned());
    config.key = Key::new("sk-secret");
    config.idle_timeout = Duration::from_secs(60);
    let (first_wait, longest_wait) = (Duration::from_millis(1), Duration::from_millis(2));
    config.retry = Retry { tries: 4, first_wait, longest_wait, patience: Duration::from_secs(30) };
    config
}

/// Asks a model something; gives back the answer and the words as they came.
pub(crate) async fn ask(config: ServiceConfig) -> (Result<Turn, ModelError>, Vec<String>) {
    converse(config, &[Message::user("Hello")], &[]).await
}

async fn converse(
    config: ServiceConfig,
    messages: &[Message],
    tools: &[ToolSpec],
) -> (Result<Turn, ModelError>, Vec<String>) {
    let heard = Mutex::new(Vec::new());
    let service = match Service::new(config) {
        Ok(service) => service,
        Err(error) => return (Err(error), Vec::new()),
    };
    let request = ModelRequest { system: "Be brief.", messages, tools, max_tokens: 300 };
    let mut on_text = |text: &str| heard.lock().unwrap().push(text.to_owned());
    let turn = service.turn(request, &mut on_text).await;
    (turn, heard.into_inner().unwrap())
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse { id: id.into(), name: name.into(), input: input.into() }
}

const PARTS: [Said<'_>; 3] = [
    Said::Text("I will look \u{1f600}."),
    Said::Call("c1", "Bash", r#"{"command":"ls \"ä\"","n":12345678901234567890123}"#),
    Said::Call("c2", "Read", ""),
];

#[tokio::test]
async fn words_and_parallel_calls_come_whole_however_the_bytes_are_cut() {
    let both =
        [(Wire::Anthropic, anthropic(&PARTS, "tool_use")), (Wire::OpenAi, openai(&PARTS, "tool_calls"))];
    for (wire, events) in both {
        for piece in [1, 2, 3, 7, 64, usize::MAX] {
            let reply = Reply::Stream {
                events: events.clone().into_bytes(),
                piece,
                end: crate::model_server::Ending::Whole,
            };
            let server = Server::replies(vec![reply]);
            let (turn, heard) = ask(config(wire, &server.url())).await;
            let turn = turn.unwrap();
            assert_eq!(heard.concat(), "I will look \u{1f600}.", "{wire:?} {piece}");
            assert_eq!(turn.stop, StopReason::ToolUse);
            assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (25, 12), "{wire:?}");
            let [text, Block::ToolUse { input, .. }, second] = &turn.content[..] else { panic!("{turn:?}") };
            assert_eq!(*text, Block::text("I will look \u{1f600}."));
            // Digits are those of the model.
            assert_eq!(input.text(), r#"{"command":"ls \"ä\"","n":12345678901234567890123}"#);
            assert_eq!(*second, call("c2", "Read", json!({})));
        }
    }
}

#[tokio::test]
async fn a_request_is_what_anthropic_reads() {
    let server = Server::replies(vec![Reply::stream(anthropic(&[Said::Text("ok")], "end_turn"))]);
    let (turn, _) = converse(config(Wire::Anthropic, &server.url()), &conversation(), &tools()).await;
    assert_eq!(turn.unwrap().stop, StopReason::EndTurn);
    let request = &server.requests()[0];
    assert_eq!(request.path(), "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("sk-secret"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let expected = json!({
        "model": "model-1", "max_tokens": 300, "stream": true, "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "List"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "Read", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a.rs", "is_error": false},
                {"type": "tool_result", "tool_use_id": "c2", "content": "Error: no", "is_error": true},
                {"type": "text", "text": "And hurry."},
            ]},
        ],
        "tools": [{"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}}],
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn a_request_is_what_openai_reads() {
    let server = Server::replies(vec![Reply::stream(openai(&[Said::Text("ok")], "stop"))]);
    let (turn, _) =
        converse(config(Wire::OpenAi, &format!("{}/v1/", server.url())), &conversation(), &tools()).await;
    assert_eq!(turn.unwrap().stop, StopReason::EndTurn);
    let request = &server.requests()[0];
    assert_eq!(request.path(), "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret"));
    let calls = json!([
        {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}},
        {"id": "c2", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
    ]);
    let function = json!({"name": "Bash", "description": "Runs.", "parameters": {"type": "object"}});
    let expected = json!({
        "model": "model-1", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 300,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "List"},
            {"role": "assistant", "content": "Looking.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "a.rs"},
            {"role": "tool", "tool_call_id": "c2", "content": "Error: no"},
            {"role": "user", "content": "And hurry."},
        ],
        "tools": [{"type": "function", "function": function}],
    });
    assert_eq!(request.body, expected);
}

fn conversation() -> [Message; 5] {
    let result = |id: &str, content: &str, is_error| Block::ToolResult {
        tool_use_id: id.into(),
        content: content.into(),
        is_error,
    };
    let calls = vec![
        Block::text("Looking."),
        call("c1", "Bash", json!({"command": "ls"})),
        call("c2", "Read", json!({})),
    ];
    [
        Message::user("List"),
        Message { role: Role::Assistant, content: calls },
        Message {
            role: Role::User,
            content: vec![result("c1", "a.rs", false), result("c2", "Error: no", true)],
        },
        Message::user("And hurry."),
        Message::user(""),
    ]
}

fn tools() -> [ToolSpec; 1] {
    let input_schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    [ToolSpec { name: "Bash".into(), description: "Runs.".into(), input_schema }]
}

#[tokio::test]
async fn every_reason_to_stop_is_told_apart() {
    let cases = [
        (Wire::Anthropic, "end_turn", StopReason::EndTurn),
        (Wire::Anthropic, "stop_sequence", StopReason::EndTurn),
        (Wire::Anthropic, "a_new_one", StopReason::EndTurn),
        (Wire::Anthropic, "max_tokens", StopReason::MaxTokens),
        (Wire::Anthropic, "refusal", StopReason::Refused),
        (Wire::OpenAi, "stop", StopReason::EndTurn),
        (Wire::OpenAi, "length", StopReason::MaxTokens),
        (Wire::OpenAi, "content_filter", StopReason::Refused),
    ];
    for (wire, word, stop) in cases {
        let said = [Said::Text("x")];
        let events = if wire == Wire::Anthropic { anthropic(&said, word) } else { openai(&said, word) };
        let server = Server::replies(vec![Reply::stream(events)]);
        assert_eq!(ask(config(wire, &server.url())).await.0.unwrap().stop, stop, "{word}");
    }
}

#[tokio::test]
async fn what_is_new_to_us_is_skipped() {
    let events = [
        event(&json!({"type": "message_start", "message": {}})),
        event(&json!({"type": "brand_new", "what": [1]})),
        event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}})),
        event(
            &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        ),
        event(
            &json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "So"}}),
        ),
        event(&json!({"type": "content_block_delta", "index": 1, "delta": {"type": "brand_new_delta"}})),
        "unknown: field\n: comment\n\n".to_owned(),
        event(&json!({"type": "message_stop"})),
    ];
    let server = Server::replies(vec![Reply::stream(events.concat())]);
    let (turn, heard) = ask(config(Wire::Anthropic, &server.url())).await;
    assert_eq!((turn.unwrap().content, heard), (vec![Block::text("So")], vec!["So".to_owned()]));
}

#[tokio::test]
async fn services_that_are_nearly_openai_are_understood() {
    // No index, no `[DONE]`, no usage, `stop` although a tool is called, an id only once.
    let call = |piece: Value| chunk(&json!({"tool_calls": [piece]}), None);
    let events = [
        call(json!({"id": "a", "function": {"name": "Bash", "arguments": "{\"x\""}})),
        call(json!({"function": {"arguments": ":1}"}})),
        call(json!({"id": "b", "function": {"name": "Read", "arguments": "{}"}})),
        chunk(&json!({}), Some("stop")),
    ];
    let server = Server::replies(vec![Reply::stream(events.concat())]);
    let turn = ask(config(Wire::OpenAi, &server.url())).await.0.unwrap();
    let expected = [self::call("a", "Bash", json!({"x": 1})), self::call("b", "Read", json!({}))];
    assert_eq!((turn.content.as_slice(), turn.stop), (&expected[..], StopReason::ToolUse));
}

#[tokio::test]
async fn the_machine_can_be_called_by_its_name() {
    let server = Server::replies(vec![Reply::stream(openai(&[Said::Text("ok")], "stop"))]);
    let url = format!("http://localhost:{}", server.port());
    assert_eq!(ask(config(Wire::OpenAi, &url)).await.0.unwrap().content, [Block::text("ok")]);
}
