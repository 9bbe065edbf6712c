//! Settings of a file that are for the host: what is trusted, logged, and kept running.

use super::tree::{Node, Value};
use super::value::Reader;
use crate::registry::Layer;

/// What files say to the host beside their hooks. The library does nothing with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSettings {
    /// `trust:`: globs of more files that belong to what a person trusts.
    pub trust: Vec<String>,
    /// `log:`: whether decisions are logged; none when no file says it.
    pub log: Option<bool>,
    /// `daemon:`: whether a daemon may be started; none when no file says it.
    pub daemon: Option<bool>,
}

impl HostSettings {
    /// Reads the settings of one file. An earlier file has the last word about `log` and `daemon`. Returns whether
    /// there are any.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, file: &Node, layer: Layer) -> bool {
        let present = |key: &str| file.get(key).filter(|node| !node.is_null());
        if let Some(node) = present("trust") {
            self.trust.extend(reader.texts("trust", node));
        }
        if matches!(layer, Layer::Project(_) | Layer::Local) {
            for entry in ["log", "daemon"].iter().filter_map(|key| file.entry(key)) {
                let message =
                    format!("`{}` counts in the user's and the managed configuration only", entry.key);
                reader.error_with_help(entry.key_span, message, "leave it out here");
            }
            return present("trust").is_some();
        }
        if let Some(node) = present("log") {
            self.log = self.log.or(switch(reader, "log", node, &[("on", true), ("off", false)]));
        }
        if let Some(node) = present("daemon") {
            self.daemon = self.daemon.or(switch(reader, "daemon", node, &[("auto", true), ("off", false)]));
        }
        ["trust", "log", "daemon"].iter().any(|key| present(key).is_some())
    }
}

/// A word, or the truth value that some people write for it.
fn switch(reader: &mut Reader<'_>, key: &str, node: &Node, words: &[(&'static str, bool)]) -> Option<bool> {
    match node.value {
        Value::Bool(value) => Some(value),
        _ => reader.word(key, node, words),
    }
}
