//! What the installer writes, and that it goes away without a trace.
#![expect(clippy::unwrap_used, reason = "tests")]

mod agents;
mod documents;
mod files;
mod lab;
mod looks;
