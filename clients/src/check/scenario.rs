//! One run of an agent: its input, what its model says, and the checks at the end.

use std::time::Duration;

use serde_json::Value;

use crate::model::{Script, Turn};
use crate::run::Seen;

/// One expectation; an error says what was observed instead.
pub(crate) type Check = Box<dyn Fn(&Seen) -> Result<(), String>>;

/// One run. In its texts, `/PROJECT`, `/POLICY` and `/STATE` are replaced by the folders of the run, and `/CROSIER` by
/// the program that is tested.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Whether it is one of the few that every change must pass.
    pub(crate) quick: bool,
    pub(crate) prompt: String,
    /// Further prompts of the same session; the agent is started again for each.
    pub(crate) then: Vec<String>,
    pub(crate) script: Script,
    /// Files of the project.
    pub(crate) files: Vec<(String, String)>,
    /// Files of Crosier's configuration.
    pub(crate) policy: Vec<(String, String)>,
    /// Whether the agent's hook names the configuration; otherwise Crosier searches for it.
    pub(crate) named: bool,
    /// Within how many seconds Crosier must answer, if the agent's hook sets this.
    pub(crate) deadline: Option<u32>,
    /// Further arguments for the agent's command line.
    pub(crate) arguments: Vec<String>,
    /// The agent's settings besides hooks.
    pub(crate) settings: Value,
    /// The events that the agent's hooks are for; all when empty.
    pub(crate) events: Vec<&'static str>,
    /// Whether `crosier init` sets up the agent, as a person would do it, and not this program.
    pub(crate) set_up_by_init: bool,
    /// Whether a person trusts the project with `crosier trust --yes` before the agent starts.
    pub(crate) trusted: bool,
    /// Whether the agent has the MCP server of this program.
    pub(crate) mcp: bool,
    pub(crate) limit: Duration,
    pub(crate) most_requests: usize,
    checks: Vec<(String, Check)>,
}

/// The result of one check.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) check: String,
    /// What was observed instead.
    pub(crate) fault: Option<String>,
}

impl Scenario {
    pub(crate) fn new(name: &'static str) -> Scenario {
        Scenario {
            name,
            quick: false,
            prompt: "[[main]] Do the work.".to_owned(),
            then: Vec::new(),
            script: Script::default(),
            files: Vec::new(),
            policy: Vec::new(),
            named: true,
            deadline: None,
            arguments: Vec::new(),
            settings: Value::Null,
            events: Vec::new(),
            set_up_by_init: false,
            trusted: false,
            mcp: false,
            limit: Duration::from_secs(90),
            most_requests: 40,
            checks: Vec::new(),
        }
    }

    pub(crate) fn quick(mut self) -> Scenario {
        self.quick = true;
        self
    }

    pub(crate) fn prompt(mut self, prompt: &str) -> Scenario {
        prompt.clone_into(&mut self.prompt);
        self
    }

    pub(crate) fn then(mut self, prompt: &str) -> Scenario {
        self.then.push(prompt.to_owned());
        self
    }

    pub(crate) fn turns(self, turns: impl IntoIterator<Item = Turn>) -> Scenario {
        self.conversation("main", turns)
    }

    pub(crate) fn conversation(mut self, name: &str, turns: impl IntoIterator<Item = Turn>) -> Scenario {
        self.script.add(name, turns);
        self
    }

    pub(crate) fn file(mut self, name: &str, text: &str) -> Scenario {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The text of `crosier.yaml`.
    pub(crate) fn policy(self, text: &str) -> Scenario {
        self.policy_file("crosier.yaml", text)
    }

    pub(crate) fn policy_file(mut self, name: &str, text: &str) -> Scenario {
        self.policy.retain(|(other, _)| other != name);
        self.policy.push((name.to_owned(), text.to_owned()));
        self
    }

    /// Lets Crosier search for its configuration.
    pub(crate) fn unnamed(mut self) -> Scenario {
        self.named = false;
        self
    }

    pub(crate) fn deadline(mut self, seconds: u32) -> Scenario {
        self.deadline = Some(seconds);
        self
    }

    pub(crate) fn arguments(mut self, words: &[&str]) -> Scenario {
        self.arguments.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    pub(crate) fn settings(mut self, settings: Value) -> Scenario {
        self.settings = settings;
        self
    }

    /// Lets `crosier init` set up the agent.
    pub(crate) fn set_up_by_init(mut self) -> Scenario {
        self.set_up_by_init = true;
        self
    }

    /// Lets a person trust the project before the agent starts.
    pub(crate) fn trusted(mut self) -> Scenario {
        self.trusted = true;
        self
    }

    pub(crate) fn mcp(mut self) -> Scenario {
        self.mcp = true;
        self
    }

    pub(crate) fn most_requests(mut self, most: usize) -> Scenario {
        self.most_requests = most;
        self
    }

    pub(crate) fn limit(mut self, seconds: u64) -> Scenario {
        self.limit = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn check(mut self, name: &str, check: Check) -> Scenario {
        self.checks.push((name.to_owned(), check));
        self
    }

    /// The events that the agent's hooks are for, out of all that it has.
    pub(crate) fn events_or<'a>(&'a self, all: &'a [&'static str]) -> &'a [&'static str] {
        match () {
            () if self.set_up_by_init => &[],
            () if self.events.is_empty() => all,
            () => &self.events,
        }
    }

    /// Applies the checks to what was observed.
    pub(crate) fn judge(&self, seen: &Seen) -> Vec<Verdict> {
        let verdict =
            |(name, check): &(String, Check)| Verdict { check: name.clone(), fault: check(seen).err() };
        self.checks.iter().map(verdict).collect()
    }

    /// All its checks, failed for the same reason.
    pub(crate) fn all_failed(&self, reason: &str) -> Vec<Verdict> {
        let failed =
            |(name, _): &(String, Check)| Verdict { check: name.clone(), fault: Some(reason.to_owned()) };
        self.checks.iter().map(failed).collect()
    }
}
