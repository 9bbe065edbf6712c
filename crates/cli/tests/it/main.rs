//! The program as a user runs it: the built binary, files, pipes, terminals, signals.

mod background;
mod case;
mod check;
mod corpus;
mod exit_status;
mod explain;
mod fire;
mod forgotten;
mod help;
mod lab;
mod machine;
mod record;
mod schema;
mod signal;
mod switch;
mod terminal;
