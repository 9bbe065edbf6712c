//! `crosier schema`: the JSON Schemas, which are also in `schema/`.

use clap::{Args, ValueEnum};

use super::Run;
use crate::exit::{Exit, Result};
use crate::{print, schema};

#[derive(Debug, Args)]
#[command(after_help = "An editor checks a file that begins with this line:
  # yaml-language-server: $schema=crosier.schema.json

Example:
  crosier schema config > crosier.schema.json")]
pub(crate) struct SchemaArgs {
    /// What the schema describes
    of: SchemaKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaKind {
    /// A configuration file
    Config,
    /// The JSON object that a hook gets
    Event,
    /// The JSON object that a hook answers
    Reply,
    /// The JSON object that `fire` prints
    Outcome,
    /// The messages of `crosier serve`
    Rpc,
}

impl Run for SchemaArgs {
    fn run(&self) -> Result {
        let schema = match self.of {
            SchemaKind::Config => schema::config(),
            SchemaKind::Event => schema::event(),
            SchemaKind::Reply => schema::reply(),
            SchemaKind::Outcome => schema::outcome(),
            SchemaKind::Rpc => schema::rpc(),
        };
        print::data(&format!("{schema:#}"))?;
        Ok(Exit::Done)
    }
}
