//! The rules of a fire, with callbacks.
