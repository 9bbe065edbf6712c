//! Which model, from the command line and the environment.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use crosier::protocol::nearest::nearest;
use crosier_agent::model::{Key, Model, ModelError, Scripted, Service, ServiceConfig, Wire};

use crate::exit::{Exit, Failed};
use crate::{environment, print};

/// The kinds of models, which are written before the colon.
const KINDS: [&str; 3] = ["anthropic", "openai", "scripted"];
/// The default models.
const DEFAULTS: [(Wire, &str); 2] = [(Wire::Anthropic, "claude-sonnet-4-5"), (Wire::OpenAi, "gpt-5")];

// The model, from the command line. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// anthropic:NAME, openai:NAME or scripted:FILE (default: depends on which API key is set)
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The address of the model's service; any that is compatible with Anthropic or OpenAI
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Maximum number of tokens of one answer
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) max_tokens: u32,
    /// Give up when the service is silent for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    model_timeout: u64,
}

impl ModelArgs {
    pub(crate) fn choose(&self) -> Result<Arc<dyn Model>, Failed> {
        let Some(model) = &self.model else {
            let keyed = |(wire, _): &&(Wire, &str)| key(*wire).is_some();
            let (wire, name) = DEFAULTS.iter().find(keyed).ok_or_else(no_model)?;
            return self.service(*wire, name);
        };
        match model.split_once(':') {
            Some(("anthropic", name)) if !name.is_empty() => self.service(Wire::Anthropic, name),
            Some(("openai", name)) if !name.is_empty() => self.service(Wire::OpenAi, name),
            Some(("scripted", file)) if !file.is_empty() => scripted(Path::new(file)),
            other => {
                let near = other.and_then(|(kind, _)| nearest(kind, KINDS)).filter(|near| {
                    // A known kind without a name is a different mistake.
                    other.is_some_and(|(kind, _)| kind != *near)
                });
                let near = near.map(|near| format!(", did you mean `{near}:`?")).unwrap_or_default();
                let message = format!(
                    "--model {}: a model is anthropic:NAME, openai:NAME or scripted:FILE{near}",
                    print::one_line(model)
                );
                Err(Failed::new(Exit::Usage, message))
            }
        }
    }

    fn service(&self, wire: Wire, name: &str) -> Result<Arc<dyn Model>, Failed> {
        let mut config = ServiceConfig::new(wire, name);
        let variable = match wire {
            Wire::Anthropic => "ANTHROPIC_BASE_URL",
            Wire::OpenAi => "OPENAI_BASE_URL",
        };
        config.base_url = self.base_url.clone().or_else(|| environment::text(variable));
        config.key = key(wire);
        config.idle_timeout = Duration::from_secs(self.model_timeout);
        config.on_retry = Some(Arc::new(|text: &str| print::note(&print::plain(text))));
        let service = Service::new(config).map_err(|error| match error {
            ModelError::NoKey { .. } => Failed::new(
                Exit::BadConfig,
                format!("{error}, or name a service of your own with --base-url URL"),
            ),
            other => Failed::new(Exit::BadConfig, other.to_string()),
        })?;
        Ok(Arc::new(service))
    }
}

fn key(wire: Wire) -> Option<Key> {
    Key::new(&environment::text(wire.key_variable())?)
}

fn no_model() -> Failed {
    let message = "no model: there is no key in the environment. Set one of
  ANTHROPIC_API_KEY   for the models of Anthropic
  OPENAI_API_KEY      for those of OpenAI
or name a model:
  --model openai:NAME --base-url http://localhost:11434/v1    a server of your own
  --model scripted:turns.yaml                                 answers from a file, for trying hooks";
    Failed::new(Exit::BadConfig, message)
}

fn scripted(file: &Path) -> Result<Arc<dyn Model>, Failed> {
    let bad = |why: String| Failed::new(Exit::BadInput, why);
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| bad(format!("the script {}: {error}", file.display())))?;
    let script = Scripted::parse(&file.display().to_string(), &text);
    let script = script.map_err(|problems| bad(format!("bad script of turns\n\n{problems}")))?;
    Ok(Arc::new(script))
}
