//! Configuration: turns text into checked hooks with positions.
//!
//! Input: YAML or JSON files, and the `.arma` scripts that they name. Output: a [`Config`] with the hooks and
//! scopes for a builder, or *all* problems at once, each with its position and a remedy. If one file has an
//! error, nothing is loaded. Inside `hooks` sections every unknown key is an error; outside them keys may
//! belong to other programs. Nothing here runs a hook: script lines and built-in hooks become callbacks,
//! commands stay data.

mod agents;
mod builtin;
mod command;
mod file;
mod hook;
mod hook_type;
mod keys;
mod lint;
mod loader;
mod misplaced;
mod names;
mod pack;
mod python;
mod python_files;
mod referenced;
mod request;
mod script;
mod section;
mod settings;
mod tree;
mod value;

pub use builtin::{Builtin, BuiltinOption};
pub use hook_type::HookType;
pub use keys::{Key, KeyTables, ValueKind};
pub use loader::{AgentConfig, Config, Loader};
pub use names::DeclaredHook;
pub use pack::Pack;
pub use python_files::{PythonFiles, python_files};
pub use request::HookRequest;
pub use script::{Argument, ArgumentProblem, LayeredPermissions, SlashCommand, expect_arguments};
pub use settings::HostSettings;
pub use tree::{
    MapEntry, Node, Position, Problem, Problems, Related, Severity, Source, Span, Style, Value,
    parse_document,
};

/// The request that a built-in hook is made from.
pub type BuiltinRequest<'a> = HookRequest<'a>;
