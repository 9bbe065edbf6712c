//! Copies the value that an alias refers to.
//!
//! A few lines of aliases to aliases can expand to more values than fit into memory. So every copied node and
//! byte counts against one budget, and copying fails when the budget is used up.

use super::node::{MapEntry, Node, Value};

/// The maximum number of nodes that the aliases of one text may create.
const MAX_NODES: usize = 10_000;
/// The maximum bytes of text in those nodes: one long text can be repeated too.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How much aliases may still add.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
}

/// Why a value cannot be copied.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CopyError {
    /// The budget is used up.
    Budget,
    /// It would be nested too deeply.
    Depth,
}

impl Budget {
    /// The budget for one text.
    pub(super) fn new() -> Self {
        Self { nodes: MAX_NODES, bytes: MAX_BYTES }
    }

    /// Copies a value, which may have at most `levels` nested lists and mappings.
    pub(super) fn copy(&mut self, node: &Node, levels: usize) -> Result<Node, CopyError> {
        self.nodes = self.nodes.checked_sub(1).ok_or(CopyError::Budget)?;
        let value = match &node.value {
            Value::Null => Value::Null,
            Value::Bool(truth) => Value::Bool(*truth),
            Value::Number(digits) => Value::Number(self.charge(digits)?.into()),
            Value::Text(text) => Value::Text(self.charge(text)?.to_owned()),
            Value::List(items) => {
                let levels = levels.checked_sub(1).ok_or(CopyError::Depth)?;
                let copies = items.iter().map(|item| self.copy(item, levels));
                Value::List(copies.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let levels = levels.checked_sub(1).ok_or(CopyError::Depth)?;
                let copies = entries.iter().map(|entry| self.copy_entry(entry, levels));
                Value::Map(copies.collect::<Result<_, _>>()?)
            }
        };
        Ok(Node { value, span: node.span, style: node.style })
    }

    fn copy_entry(&mut self, entry: &MapEntry, levels: usize) -> Result<MapEntry, CopyError> {
        let key = self.charge(&entry.key)?.to_owned();
        let value = self.copy(&entry.value, levels)?;
        Ok(MapEntry { key, key_span: entry.key_span, value })
    }

    fn charge<'t>(&mut self, text: &'t str) -> Result<&'t str, CopyError> {
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(CopyError::Budget)?;
        Ok(text)
    }
}
