//! A handler kind of a host's own: hooks that ask a policy server.
//!
//! `cargo run -p crosier --example handler_kind` starts a small server on loopback, registers two hooks that ask it, and
//! fires two tool calls. The engine does the rest: it keeps the deadline (also when the server is silent), catches
//! panics, reports, and denies where a guard could not be asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{
    Answer, BoxFuture, Engine, Event, Failure, FailureKind, Hook, OnError, Outcome, Reply, Service,
    ServiceCall,
};
use tokio::net::TcpStream;

/// One hook that asks a server; its settings are its fields.
struct PolicyServer {
    address: SocketAddr,
}

impl Service for PolicyServer {
    fn kind(&self) -> &'static str {
        "policy-server"
    }

    fn call(&self, call: ServiceCall<'_>) -> BoxFuture {
        let (address, event) = (self.address, call.call.event.clone());
        Box::pin(async move {
            match ask(address, &event).await {
                Ok(line) => line.strip_prefix("deny ").map_or_else(Reply::none, Reply::deny).into(),
                // A failure that always denies: the policy never saw the event.
                Err(error) => {
                    Answer::from(Failure::new(FailureKind::Delivery, format!("no answer: {error}")))
                }
            }
        })
    }
}

/// Sends the event's JSON as one line, and reads one line.
async fn ask(address: SocketAddr, event: &Event) -> std::io::Result<String> {
    let json = event.wire().map_err(|failure| std::io::Error::other(failure.to_string()))?;
    let stream = TcpStream::connect(address).await?;
    write_all(&stream, format!("{json}\n").as_bytes()).await?;
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        stream.readable().await?;
        let mut bytes = [0; 256];
        match stream.try_read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A server that denies every event which names `rm`.
fn serve(listener: TcpListener) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            if BufReader::new(&stream).read_line(&mut line).is_ok() {
                let answer =
                    if line.contains("rm ") { "deny the policy server forbids rm\n" } else { "pass\n" };
                let _ = stream.write_all(answer.as_bytes());
            }
        }
    });
}

fn call(command: &str) -> PreToolUse {
    PreToolUse::new("Bash", serde_json::json!({ "command": command }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    serve(listener);
    let hook = Hook::on(PreToolUse)
        .named("policy")
        .matching("Bash")
        .timeout(Duration::from_secs(5))
        .on_error(OnError::Abort)
        .service(PolicyServer { address });
    let engine = Engine::builder().hook(hook).build()?;
    for command in ["ls", "rm -rf build"] {
        // No runtime is needed: the engine has one for its async hooks.
        let outcome: Outcome = engine.fire_blocking(call(command));
        let mut stdout = std::io::stdout();
        match &outcome.reason {
            Some(reason) if outcome.is_denied() => writeln!(stdout, "{command}: denied: {reason}")?,
            _ => writeln!(stdout, "{command}: goes on")?,
        }
    }
    Ok(())
}
