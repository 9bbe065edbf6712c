//! Settings for the host: trust, logging, the daemon and the self-guard.

use super::tree::{Node, Value};
use super::value::Reader;
use crate::registry::Layer;

/// Settings for the host, besides hooks. The library itself does not use them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSettings {
    /// `trust:`: globs of additional files that a person trusts together with the configuration.
    pub trust: Vec<String>,
    /// `log:`: whether decisions are logged; `None` if no file sets it.
    pub log: Option<bool>,
    /// `daemon:`: whether a daemon may be started; `None` if no file sets it.
    pub daemon: Option<bool>,
    /// `self_guard:`: whether agents are prevented from changing Crosier itself; `None` if no file sets it.
    pub self_guard: Option<bool>,
}

impl HostSettings {
    /// Reads the settings of one file. An earlier file takes precedence, except for `trust`, which is
    /// collected. Returns whether there are any.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, file: &Node, layer: Layer) -> bool {
        let present = |key: &str| file.get(key).filter(|node| !node.is_null());
        if let Some(node) = present("trust") {
            self.trust.extend(reader.texts("trust", node));
        }
        if matches!(layer, Layer::Project(_) | Layer::Local) {
            for entry in ["log", "daemon", "self_guard", "otlp"].iter().filter_map(|key| file.entry(key)) {
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
        if let Some(node) = present("self_guard") {
            self.self_guard =
                self.self_guard.or(switch(reader, "self_guard", node, &[("on", true), ("off", false)]));
        }
        if let Some(entry) = file.entry("otlp").filter(|entry| !entry.value.is_null()) {
            let message = "`otlp` has no effect: this version sends no traces";
            reader.warn(entry.key_span, message, "leave it out; `crosier log` has what was decided");
        }
        ["trust", "log", "daemon", "self_guard", "otlp"].iter().any(|key| present(key).is_some())
    }
}

/// A word such as `on`, or a boolean.
fn switch(reader: &mut Reader<'_>, key: &str, node: &Node, words: &[(&'static str, bool)]) -> Option<bool> {
    match node.value {
        Value::Bool(value) => Some(value),
        _ => reader.word(key, node, words),
    }
}
