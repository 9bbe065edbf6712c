//! The reference agent of Crosier: a compact agent loop that fires every event.
//!
//! It uses only the public API of the engine, which shows that the API is sufficient.
#![forbid(unsafe_code)]

pub mod agent;
pub mod conversation;
pub mod history;
mod http;
pub mod mcp;
pub mod model;
pub mod permission;
pub mod session;
pub mod tool;
pub mod view;
