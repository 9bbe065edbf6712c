//! Paths: where they really lead, and patterns for them.

mod glob;
mod resolve;

pub(crate) use glob::{Case, Names, PathGlob};
pub(crate) use resolve::{Places, Resolved, Resolver, UNKNOWN_HOME, expand_glob, in_home, lexical};
