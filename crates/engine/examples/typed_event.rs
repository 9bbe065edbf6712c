//! A host with an event of its own: one row, one struct, one guard.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use crosier::{Base, Capability, Engine, EventOf, EventRow, Field, FieldKind, Hook, Payload, Reply};
use serde::{Deserialize, Serialize};

static ROW: EventRow = EventRow::new("PreDeploy", "a release is about to be deployed")
    .fields(&[Field::required("target", FieldKind::Text, "where to")])
    .matches_on("target")
    .allows(&[Capability::Deny]);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct PreDeploy {
    #[serde(skip)]
    base: Base,
    target: String,
}

impl Payload for PreDeploy {
    fn row() -> &'static EventRow {
        &ROW
    }
    fn base(&self) -> &Base {
        &self.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        Some(&self.target)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guard = Hook::on(EventOf::<PreDeploy>::new())
        .named("not-on-friday")
        .matching("prod*")
        .callback(|deploy: &PreDeploy| Reply::deny(format!("no release to {} today", deploy.target)));
    let mut builder = Engine::builder();
    builder.event(ROW)?;
    let engine = builder.hook(guard).build()?;
    for target in ["staging", "production"] {
        let outcome = engine.fire_blocking(PreDeploy { target: target.to_owned(), ..PreDeploy::default() });
        match outcome.reason {
            Some(reason) if outcome.decision.is_some() => println!("{target}: {reason}"),
            _ => println!("{target}: deployed"),
        }
    }
    Ok(())
}
