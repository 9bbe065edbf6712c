//! Parses the text of a configuration file into a tree with positions, and reports problems with positions.
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

pub use node::{MapEntry, Node, Style, Value};
pub use parse::parse_document;
pub(super) use problem::shorten;
pub use problem::{Problem, Problems, Related, Severity};
pub use source::{Position, Source, Span};
