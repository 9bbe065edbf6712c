//! A service on this machine that speaks as the real ones do, and misbehaves when it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One request that came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// `POST /v1/messages HTTP/1.1` and the headers, in lower case but for the first line.
    pub(crate) head: Vec<String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.head[0].split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What is done with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// An answer, in pieces of so many bytes.
    Stream { events: Vec<u8>, piece: usize, end: Ending },
    /// Something else.
    Status { status: u16, headers: &'static str, body: String },
    /// Nothing, ever.
    Silence,
    /// The connection is closed without a word.
    Close,
}

/// How a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In good order.
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing more comes.
    Hang,
}

impl Reply {
    pub(crate) fn stream(events: impl Into<Vec<u8>>) -> Self {
        Self::Stream { events: events.into(), piece: usize::MAX, end: Ending::Whole }
    }

    pub(crate) fn ending(events: impl Into<Vec<u8>>, end: Ending) -> Self {
        Self::Stream { events: events.into(), piece: usize::MAX, end }
    }

    pub(crate) fn status(status: u16, body: impl Into<String>) -> Self {
        Self::Status { status, headers: "", body: body.into() }
    }
}

/// The service. It ends with the test.
#[derive(Debug)]
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Does this with the n-th request, counted from 0.
    pub(crate) fn start(reply: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, reply) = (Arc::clone(&requests), Arc::new(reply));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (kept, reply) = (Arc::clone(&kept), Arc::clone(&reply));
                std::thread::spawn(move || {
                    let Some(request) = read(&connection) else { return };
                    let number = {
                        let mut kept = kept.lock().unwrap();
                        kept.push(request.clone());
                        kept.len() - 1
                    };
                    // A client that went away has seen enough.
                    let _ = answer(connection, reply(number, &request));
                });
            }
        });
        Self { port, requests }
    }

    /// These replies, one after the other.
    pub(crate) fn replies(replies: Vec<Reply>) -> Self {
        let none = || Reply::status(400, "no more replies");
        Self::start(move |number, _| replies.get(number).cloned().unwrap_or_else(none))
    }

    /// Its address, by number.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Everything that was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(connection: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(connection);
    let (mut head, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        let line = match line.split_once(": ") {
            Some((name, value)) if !head.is_empty() => format!("{}: {value}", name.to_lowercase()),
            _ => line,
        };
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        head.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    (!head.is_empty()).then(|| Request { head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn answer(mut connection: TcpStream, reply: Reply) -> std::io::Result<()> {
    // Every piece is a packet of its own.
    connection.set_nodelay(true)?;
    match reply {
        Reply::Status { status, headers, body } => write!(
            connection,
            "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ),
        Reply::Stream { events, piece, end } => {
            connection.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                  transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            )?;
            for piece in events.chunks(piece) {
                write!(connection, "{:x}\r\n", piece.len())?;
                connection.write_all(piece)?;
                connection.write_all(b"\r\n")?;
            }
            match end {
                Ending::Whole => connection.write_all(b"0\r\n\r\n"),
                Ending::Cut => Ok(()),
                Ending::Hang => wait_for_the_client(connection),
            }
        }
        Reply::Silence => wait_for_the_client(connection),
        Reply::Close => Ok(()),
    }
}

/// Until it gives up.
fn wait_for_the_client(mut connection: TcpStream) -> std::io::Result<()> {
    connection.read_to_end(&mut Vec::new()).map(drop)
}

/// Part of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Said<'a> {
    Text(&'a str),
    /// A call: its id, its tool, its arguments as JSON.
    Call(&'a str, &'a str, &'a str),
}

/// An event of Anthropic's kind.
pub(crate) fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or("unknown"))
}

/// A whole answer in Anthropic's language; texts and arguments come in two parts.
pub(crate) fn anthropic(parts: &[Said<'_>], stop: &str) -> String {
    let usage = json!({"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1});
    let mut out = event(&json!({"type": "message_start", "message": {"role": "assistant", "usage": usage}}));
    out += &event(&json!({"type": "ping"}));
    for (index, part) in parts.iter().enumerate() {
        let (block, deltas) = match *part {
            Said::Text(text) => {
                let delta = |text: &str| json!({"type": "text_delta", "text": text});
                (json!({"type": "text", "text": ""}), halves(text).map(delta))
            }
            Said::Call(id, name, arguments) => {
                let delta = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                (block, halves(arguments).map(delta))
            }
        };
        out += &event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            out += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        out += &event(&json!({"type": "content_block_stop", "index": index}));
    }
    out += &event(
        &json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 12}}),
    );
    out + &event(&json!({"type": "message_stop"}))
}

/// A chunk of OpenAI's kind.
pub(crate) fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [choice], "usage": null}))
}

/// A whole answer in OpenAI's language; texts and arguments come in two parts.
pub(crate) fn openai(parts: &[Said<'_>], finish: &str) -> String {
    let mut out = chunk(&json!({"role": "assistant", "content": ""}), None);
    let mut calls = 0;
    for part in parts {
        match *part {
            Said::Text(text) => halves(text).map(|text| out += &chunk(&json!({"content": text}), None)),
            Said::Call(id, name, arguments) => {
                let begin = json!({"index": calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}});
                out += &chunk(&json!({"tool_calls": [begin]}), None);
                let index = calls;
                calls += 1;
                halves(arguments).map(|json| {
                    let more = json!({"index": index, "function": {"arguments": json}});
                    out += &chunk(&json!({"tool_calls": [more]}), None);
                })
            }
        };
    }
    out += &chunk(&json!({}), Some(finish));
    let usage = json!({"prompt_tokens": 25, "completion_tokens": 12, "total_tokens": 37});
    out += &format!("data: {}\n\n", json!({"choices": [], "usage": usage}));
    out + "data: [DONE]\n\n"
}

fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().map(|(at, _)| at).nth(text.chars().count() / 2).unwrap_or(0);
    let (first, second) = text.split_at(middle);
    [first, second]
}
