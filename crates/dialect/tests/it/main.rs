//! What the real agents sent, and what they take back.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

mod capture;
mod claude;
mod codex;
mod gemini;
mod lab;
mod others;
mod total;
