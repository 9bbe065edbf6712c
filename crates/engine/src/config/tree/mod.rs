//! Text of a configuration file to a tree with positions, and problems that point into that text.
mod alias;
mod node;
mod parse;
mod problem;
mod quick;
mod scalar;
mod scan;
mod snippet;
mod source;
mod stack;
mod syntax;

pub use node::{Entry, Node, Value, Written};
pub use parse::parse;
pub use problem::{Problem, Problems, Related, Severity, shorten};
pub use source::{Position, Source, Span};
