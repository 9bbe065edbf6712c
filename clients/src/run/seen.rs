//! What was observed in one run: what the agent did, what the model was told, what the person saw.

use std::path::PathBuf;

use crate::model::{Item, Request};

use super::processes::Ended;

/// The observations of one run.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) project: PathBuf,
    /// Crosier's configuration, in whose folder its hooks run.
    pub(crate) policy: PathBuf,
    pub(crate) requests: Vec<Request>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) ended: Ended,
    pub(crate) over_limit: bool,
    pub(crate) seconds: f64,
}

impl Seen {
    /// The requests of a conversation.
    pub(crate) fn of<'a>(&'a self, conversation: &'a str) -> impl Iterator<Item = &'a Request> {
        self.requests.iter().filter(move |request| request.conversation == conversation)
    }

    /// The result of a call that the model got; the last one, if there were several.
    pub(crate) fn result(&self, id: &str) -> Option<&str> {
        let wire = format!("call_{id}");
        let mut found = None;
        for request in &self.requests {
            let results = request.items.iter().filter_map(|item| match item {
                Item::Result { id, text } => Some((id.as_str(), text.as_str())),
                _ => None,
            });
            for (result, text) in results {
                // Some agents append something to an id.
                if result == wire || result.starts_with(&format!("{wire}_")) {
                    found = Some(text);
                }
            }
        }
        found
    }

    /// Whether the model got this text in any conversation.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        let items = self.requests.iter().flat_map(|request| &request.items);
        items.filter_map(Item::told).any(|told| told.contains(text))
    }

    /// How many times the last request of the main conversation contains this text.
    pub(crate) fn times(&self, text: &str) -> usize {
        let last = self.of("main").last();
        let told = last.into_iter().flat_map(|request| &request.items).filter_map(Item::told);
        told.map(|told| told.matches(text).count()).sum()
    }

    /// Whether a file is in the project.
    pub(crate) fn exists(&self, file: &str) -> bool {
        self.project.join(file).symlink_metadata().is_ok()
    }

    /// A file of the project; empty when there is none.
    pub(crate) fn file(&self, file: &str) -> String {
        std::fs::read_to_string(self.project.join(file)).unwrap_or_default()
    }

    /// Whether this was printed.
    pub(crate) fn printed(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }
}
