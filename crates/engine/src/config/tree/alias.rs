//! Repeating a value that an alias refers to.
//!
//! Copies the value that an anchor names. A few lines of aliases to aliases can ask
//! for more values than any memory holds, so each copy is paid for from one budget, node by node and
//! byte by byte, and copying ends in the middle when the budget does.

use super::node::{MapEntry, Node, Value};

/// Most nodes that the aliases of one text may make.
const MAX_NODES: usize = 10_000;
/// Most bytes of text that those nodes may hold: one long text can be repeated too.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What aliases may still add.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
}

/// Why a value cannot be repeated.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The budget is used up.
    Budget,
    /// It would nest too deep.
    Depth,
}

impl Budget {
    /// The budget for one text.
    pub(super) fn new() -> Self {
        Self { nodes: MAX_NODES, bytes: MAX_BYTES }
    }

    /// Copies a value into a place from which it may nest `room` levels of lists and mappings.
    pub(super) fn copy(&mut self, node: &Node, room: usize) -> Result<Node, Over> {
        self.nodes = self.nodes.checked_sub(1).ok_or(Over::Budget)?;
        let value = match &node.value {
            Value::Null => Value::Null,
            Value::Bool(truth) => Value::Bool(*truth),
            Value::Number(digits) => Value::Number(self.pay(digits)?.into()),
            Value::Text(text) => Value::Text(self.pay(text)?.to_owned()),
            Value::List(items) => {
                let room = room.checked_sub(1).ok_or(Over::Depth)?;
                let copies = items.iter().map(|item| self.copy(item, room));
                Value::List(copies.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let room = room.checked_sub(1).ok_or(Over::Depth)?;
                let copies = entries.iter().map(|entry| self.copy_entry(entry, room));
                Value::Map(copies.collect::<Result<_, _>>()?)
            }
        };
        Ok(Node { value, span: node.span, style: node.style })
    }

    fn copy_entry(&mut self, entry: &MapEntry, room: usize) -> Result<MapEntry, Over> {
        let key = self.pay(&entry.key)?.to_owned();
        let value = self.copy(&entry.value, room)?;
        Ok(MapEntry { key, key_span: entry.key_span, value })
    }

    fn pay<'t>(&mut self, text: &'t str) -> Result<&'t str, Over> {
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(Over::Budget)?;
        Ok(text)
    }
}
