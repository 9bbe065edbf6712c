//! The rules of a fire, with callbacks: no process is started here.
//!
//! One subject per file. Clocks are paused wherever a hook waits for time; a test that needs real threads
//! meets them with channels and barriers, not with sleeps.

mod agent_isolation;
mod background;
mod callback;
mod capability;
mod chain;
mod deadline;
mod deny;
mod failure;
mod finishing_order;
mod fnmatch;
mod gate;
mod guard;
mod host_event;
mod kit;
mod layer;
mod lazy_json;
mod limit;
mod message;
mod names;
mod observe;
mod order;
mod panic;
mod parallel;
mod payload;
mod pending;
mod registration;
mod runtime;
mod scope;
mod stress;
mod two_phase;
mod typed_event;
mod warn;
