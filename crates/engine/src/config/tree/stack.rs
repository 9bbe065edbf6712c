//! The unfinished tree: lists and mappings whose end has not been read yet.
//!
//! Each value or key is added to the innermost open list or mapping. Aliases find finished lists and mappings
//! by number: keeping a copy for each anchor would need unbounded memory if anchors are nested.

use super::node::{MapEntry, Node, Value};
use super::source::Span;

/// The open lists and mappings, the outermost first.
#[derive(Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    /// The parent of every list and mapping that was ever opened, by number.
    links: Vec<ParentLink>,
}

/// One open list or mapping.
pub(super) struct Frame {
    pub(super) body: Body,
    /// Where it starts, including its anchor and tag.
    pub(super) start: usize,
    /// Where its first character is.
    pub(super) content: usize,
    /// Where its last value or key ends.
    pub(super) end: usize,
    /// The parser's number for its anchor, 0 for none.
    pub(super) anchor: usize,
    /// Whether it is inside `[ ]` or `{ }`, where indentation has no meaning.
    pub(super) flow: bool,
    /// Its number, for [`Stack::find`]; assigned when it is opened.
    pub(super) number: usize,
}

/// What an open list or mapping holds so far.
pub(super) enum Body {
    List(Vec<Node>),
    Map(Vec<MapEntry>, KeyState),
}

/// The state of a mapping's next entry.
pub(super) enum KeyState {
    /// The next value is its key.
    Awaited,
    /// The next value belongs to this key.
    Read(String, Span),
    /// Its key was a list or mapping; the next value is dropped.
    Refused,
}

/// A value that was put where a key must be.
pub(super) struct NotAKey(pub(super) Node);

/// The number of the list or mapping that contains one, and its index there.
struct ParentLink {
    parent: usize,
    index: usize,
}

impl Body {
    /// An empty mapping.
    pub(super) fn map() -> Self {
        Self::Map(Vec::new(), KeyState::Awaited)
    }

    fn len(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Map(entries, _) => entries.len(),
        }
    }

    fn child(&self, index: usize) -> Option<&Node> {
        match self {
            Self::List(items) => items.get(index),
            Self::Map(entries, _) => entries.get(index).map(|entry| &entry.value),
        }
    }
}

impl Stack {
    /// How deep the innermost list or mapping is.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The open lists and mappings, the outermost first.
    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Whether what comes next is inside `[ ]` or `{ }`.
    pub(super) fn in_flow(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.flow)
    }

    /// Whether what comes next is a key.
    pub(super) fn awaits_key(&self) -> bool {
        let innermost = self.frames.last().map(|frame| &frame.body);
        matches!(innermost, Some(Body::Map(_, KeyState::Awaited)))
    }

    /// Starts a list or mapping inside the innermost one.
    pub(super) fn open(&mut self, frame: Frame) {
        let parent = self.frames.last();
        let link = ParentLink {
            parent: parent.map_or(0, |parent| parent.number),
            index: parent.map_or(0, |parent| parent.body.len()),
        };
        let number = self.links.len();
        self.links.push(link);
        self.frames.push(Frame { number, ..frame });
    }

    /// Ends the innermost list or mapping and returns it.
    pub(super) fn close(&mut self) -> Option<Frame> {
        self.frames.pop()
    }

    /// Adds a key to the innermost mapping.
    pub(super) fn add_key(&mut self, text: String, span: Span) {
        if let Some(frame) = self.frames.last_mut()
            && let Body::Map(_, key) = &mut frame.body
        {
            frame.end = frame.end.max(span.end);
            *key = KeyState::Read(text, span);
        }
    }

    /// Adds a finished value to the innermost list or mapping; without one it is the whole tree.
    pub(super) fn add(&mut self, node: Node, root: &mut Option<Node>) -> Result<(), NotAKey> {
        let Some(frame) = self.frames.last_mut() else {
            *root = Some(node);
            return Ok(());
        };
        frame.end = frame.end.max(node.span.end);
        let (entries, key) = match &mut frame.body {
            Body::List(items) => {
                items.push(node);
                return Ok(());
            }
            Body::Map(entries, key) => (entries, key),
        };
        match std::mem::replace(key, KeyState::Awaited) {
            KeyState::Read(key, key_span) => entries.push(MapEntry { key, key_span, value: node }),
            KeyState::Refused => {}
            KeyState::Awaited => {
                *key = KeyState::Refused;
                return Err(NotAKey(node));
            }
        }
        Ok(())
    }

    /// Finds a finished list or mapping by its number.
    pub(super) fn find(&self, number: usize) -> Option<&Node> {
        let mut path = Vec::new();
        let mut number = number;
        while number > 0 {
            let link = self.links.get(number)?;
            path.push(link.index);
            number = link.parent;
        }
        // First down the open frames, then down the children of a finished node.
        let mut open = self.frames.iter();
        let mut frame = open.next()?;
        let mut found = None;
        for &index in path.iter().rev() {
            found = match found {
                Some(node) => Some(child(node, index)?),
                None => frame.body.child(index),
            };
            if found.is_none() {
                frame = open.next()?;
            }
        }
        found
    }
}

fn child(node: &Node, index: usize) -> Option<&Node> {
    match &node.value {
        Value::List(items) => items.get(index),
        Value::Map(entries) => entries.get(index).map(|entry| &entry.value),
        _ => None,
    }
}
