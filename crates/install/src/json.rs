//! Adds and removes Crosier's entries in a JSON file with comments, without changing anything else.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use crate::file::split_byte_order_mark;
use crate::line;

/// A member of an object, in the order in which it is written.
pub type Member = (&'static str, Value);

/// How hooks are nested in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// `{"hooks": {EVENT: [{"hooks": [HANDLER]}]}}`
    Groups,
    /// `{"hooks": {EVENT: [HANDLER]}}`
    Flat,
}

/// One entry that a file should have.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedEntry {
    /// The event, as the agent calls it.
    pub event: String,
    /// The handler.
    pub handler: Vec<Member>,
}

/// One entry of Crosier that a file has.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEntry {
    /// The event.
    pub event: String,
    /// Which element of the event's list.
    pub group: usize,
    /// Which handler of the group.
    pub handler: usize,
    /// The handler.
    pub value: Value,
    /// The matcher beside it, as it is written.
    pub matcher: Option<String>,
}

impl FoundEntry {
    /// Whether its matcher restricts it to some events of its kind.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.matcher.as_deref().is_some_and(narrows)
    }
}

/// A file of an agent, for reading and editing its entries.
#[derive(Debug)]
pub struct Document<'a> {
    root: CstRootNode,
    mark: &'static str,
    nesting: Nesting,
    agent: &'a str,
}

/// Accepts comments and trailing commas, and otherwise only valid JSON.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// A whole file as a value.
///
/// # Errors
/// Why it is not valid.
pub fn value(text: &str) -> Result<Value, String> {
    let root =
        CstRootNode::parse(split_byte_order_mark(text).1, &options()).map_err(|error| error.to_string())?;
    Ok(root.to_serde_value().unwrap_or(Value::Null))
}

impl<'a> Document<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be edited.
    pub fn parse(text: &str, nesting: Nesting, agent: &'a str) -> Result<Self, String> {
        let (mark, text) = split_byte_order_mark(text);
        let root =
            CstRootNode::parse(text, &options()).map_err(|error| format!("it is not JSON: {error}"))?;
        let document = Self { root, mark, nesting, agent };
        if document.root.value().is_some() && document.root.object_value().is_none() {
            return Err("it is not a JSON object".to_owned());
        }
        let hooks = document.once(document.root.object_value().as_ref(), "hooks")?;
        if let Some(hooks) = hooks {
            let hooks = hooks.as_object().ok_or("`hooks` in it is not an object")?;
            for event in hooks.properties() {
                if let Some(name) = event.decoded_name() {
                    document.once(Some(&hooks), &name)?;
                }
            }
        }
        Ok(document)
    }

    /// A member that must not occur twice: programs differ in which of two they use.
    fn once(&self, object: Option<&CstObject>, name: &str) -> Result<Option<CstNode>, String> {
        let properties = object.map(CstObject::properties).unwrap_or_default();
        let mut same = properties.iter().filter(|one| one.decoded_name().as_deref() == Some(name));
        let first = same.next();
        match same.next() {
            Some(_) => Err(format!("`{name}` appears twice in it")),
            None => Ok(first.and_then(|one| one.value())),
        }
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    fn hooks(&self) -> Option<CstObject> {
        self.root.object_value()?.object_value("hooks")
    }

    /// Crosier's entries.
    #[must_use]
    pub fn found(&self) -> Vec<FoundEntry> {
        let events = self.hooks().map(|hooks| hooks.properties()).unwrap_or_default();
        let mut found = Vec::new();
        for event in events {
            let (Some(name), Some(list)) = (event.decoded_name(), event.array_value()) else { continue };
            for (group, element) in list.elements().iter().enumerate() {
                let matcher = element.as_object().and_then(|object| matcher(&object));
                for (handler, node) in self.handlers(element).iter().enumerate() {
                    if let Some(value) = self.ours(node) {
                        let (event, matcher) = (name.clone(), matcher.clone());
                        found.push(FoundEntry { event, group, handler, value, matcher });
                    }
                }
            }
        }
        found
    }

    /// Adds wanted entries that are missing, replaces those that differ, and removes those that are not wanted. A new
    /// file begins with `first`.
    ///
    /// # Errors
    /// When something else is in the place of the entries.
    pub fn set_entries(&self, wanted: &[WantedEntry], first: &[Member]) -> Result<(), String> {
        for event in self.found().iter().map(|found| found.event.clone()) {
            let keep = wanted.iter().find(|one| one.event == event);
            self.keep_one(&event, keep);
            if keep.is_none() {
                self.drop_if_empty(&event);
            }
        }
        let is_new = self.root.value().is_none();
        let top = self.root.object_value_or_create().ok_or("it is not a JSON object")?;
        if is_new {
            for (name, value) in first {
                top.append(name, input(value));
            }
        }
        let there: Vec<String> = self.found().into_iter().map(|found| found.event).collect();
        for one in wanted.iter().filter(|one| !there.contains(&one.event)) {
            let hooks = top.object_value_or_create("hooks").ok_or("`hooks` in it is not an object")?;
            let list = hooks.array_value_or_create(&one.event);
            let list = list.ok_or_else(|| format!("`hooks.{}` in it is not a list", one.event))?;
            let handler = object(&one.handler);
            list.append(match self.nesting {
                Nesting::Flat => handler,
                Nesting::Groups => {
                    CstInputValue::Object(vec![("hooks".to_owned(), CstInputValue::Array(vec![handler]))])
                }
            });
        }
        Ok(())
    }

    /// Keeps at most one entry of an event, as wanted.
    fn keep_one(&self, event: &str, wanted: Option<&WantedEntry>) {
        let Some(list) = self.hooks().and_then(|hooks| hooks.array_value(event)) else { return };
        let mut keep = wanted;
        for element in list.elements() {
            let matcher = element.as_object().and_then(|object| matcher(&object));
            let narrow = matcher.as_deref().is_some_and(narrows);
            for node in self.handlers(&element) {
                let Some(value) = self.ours(&node) else { continue };
                match keep.filter(|_| !narrow) {
                    Some(one) => {
                        keep = None;
                        if value != as_value(&one.handler)
                            && let Some(old) = node.as_object()
                        {
                            old.replace_with(object(&one.handler));
                        }
                    }
                    None => self.take_node(&element, node),
                }
            }
        }
    }

    /// Removes every entry of Crosier, and containers that are empty without it, unless they were empty in `original`.
    pub fn remove_entries(&self, original: Option<&Document<'_>>) {
        let had = |event: Option<&str>| {
            let hooks = original.and_then(Document::hooks);
            hooks.is_some_and(|hooks| event.is_none_or(|event| hooks.get(event).is_some()))
        };
        let events: Vec<String> = self.found().into_iter().map(|found| found.event).collect();
        for event in &events {
            self.keep_one(event, None);
            if !had(Some(event)) {
                self.drop_if_empty(event);
            }
        }
        let is_empty = self.hooks().is_some_and(|hooks| hooks.properties().is_empty());
        if !events.is_empty()
            && is_empty
            && !had(None)
            && let Some(member) = self.root.object_value().and_then(|top| top.get("hooks"))
        {
            member.remove();
        }
    }

    fn drop_if_empty(&self, event: &str) {
        let Some(hooks) = self.hooks() else { return };
        let is_empty = hooks.array_value(event).is_some_and(|list| list.elements().is_empty());
        if let Some(member) = hooks.get(event).filter(|_| is_empty) {
            member.remove();
        }
    }

    /// Whether nothing is left except what a new file begins with.
    #[must_use]
    pub fn is_bare(&self, first: &[Member]) -> bool {
        let top = self.root.to_serde_value();
        top.is_none_or(|top| top == Value::Object(Map::new()) || top == as_value(first))
            && !self.root.children().iter().any(CstNode::is_comment)
    }

    fn take_node(&self, element: &CstNode, handler: CstNode) {
        match self.nesting {
            Nesting::Groups if self.handlers(element).len() > 1 => handler.remove(),
            _ => element.clone().remove(),
        }
    }

    /// The handlers of an element of an event's list.
    fn handlers(&self, element: &CstNode) -> Vec<CstNode> {
        match self.nesting {
            Nesting::Flat => vec![element.clone()],
            Nesting::Groups => {
                let list = element.as_object().and_then(|group| group.array_value("hooks"));
                list.map(|list| list.elements()).unwrap_or_default()
            }
        }
    }

    /// The handler's value, if it is Crosier's.
    fn ours(&self, node: &CstNode) -> Option<Value> {
        let value = node.as_object()?.to_serde_value()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is_ours = match (text("command").or_else(|| text("bash")), value.get("args")) {
            (Some(program), Some(Value::Array(args))) => {
                let args = args.iter().filter_map(|word| word.as_str().map(str::to_owned));
                let words: Vec<String> = std::iter::once(program.to_owned()).chain(args).collect();
                line::is_ours(&words, self.agent)
            }
            (Some(command), _) => line::is_our_line(command, self.agent),
            (None, _) => false,
        };
        is_ours.then_some(value)
    }
}

fn matcher(object: &CstObject) -> Option<String> {
    object.get("matcher")?.value()?.as_string_lit()?.decoded_value().ok()
}

/// Whether a matcher does not match everything.
fn narrows(matcher: &str) -> bool {
    !matches!(matcher, "" | "*")
}

fn object(members: &[Member]) -> CstInputValue {
    CstInputValue::Object(members.iter().map(|(name, value)| ((*name).to_owned(), input(value))).collect())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

fn as_value(members: &[Member]) -> Value {
    Value::Object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}
