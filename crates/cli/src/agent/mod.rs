//! What `demo` and `run` share around the agent: what a person sees of a session, and how it is stopped.
//!
//! - [`effect`]: what the hooks of one fire did, as text.
//! - [`tally`]: all fires of a session, counted by event.
//! - [`timeline`]: fires and the screen as lines, for a terminal or a pipe.
//! - [`tui`]: the same session on the full screen.
//! - [`scopes`]: the hooks that a configuration has for kinds of agents.
//! - [`stop`]: a signal becomes an interrupt of the session.

pub(crate) mod effect;
pub(crate) mod scopes;
pub(crate) mod stop;
pub(crate) mod tally;
pub(crate) mod timeline;
pub(crate) mod tui;
