//! One JSON object or one text, written piece by piece.

use crosier_protocol::Json;

use crate::json::write_text;

/// What goes to stdout.
#[derive(Debug, Default)]
pub(super) struct Writer {
    members: Vec<(&'static str, Node)>,
    text: Option<String>,
}

#[derive(Debug)]
enum Node {
    Leaf(Json),
    Branch(Vec<(&'static str, Node)>),
}

impl Writer {
    /// Sets a member; the first value wins.
    pub(super) fn set(&mut self, path: &'static str, value: Json) {
        let mut members = &mut self.members;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let place = match members.iter().position(|(other, _)| *other == name) {
                Some(place) => place,
                None => {
                    let is_last = names.peek().is_none();
                    members.push((
                        name,
                        if is_last { Node::Leaf(value.clone()) } else { Node::Branch(Vec::new()) },
                    ));
                    members.len() - 1
                }
            };
            match &mut members[place].1 {
                Node::Leaf(_) => return,
                Node::Branch(inner) => members = inner,
            }
        }
    }

    /// Adds plain text.
    pub(super) fn text(&mut self, text: &str) {
        let all = self.text.get_or_insert_default();
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(text);
    }

    /// The whole text, if there is any.
    pub(super) fn end(self) -> Option<String> {
        if self.text.is_some() {
            return self.text;
        }
        if self.members.is_empty() {
            return None;
        }
        let mut out = String::new();
        write(&self.members, &mut out);
        Some(out)
    }
}

fn write(members: &[(&'static str, Node)], out: &mut String) {
    out.push('{');
    for (at, (name, node)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        match node {
            Node::Leaf(value) => out.push_str(value.text()),
            Node::Branch(inner) => write(inner, out),
        }
    }
    out.push('}');
}
