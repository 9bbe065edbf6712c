//! The call of a tool: its name and input in the vocabulary of Crosier, its parts, and the conversion back.

use crosier_protocol::{EventKind, Json};

use super::super::patch::{self, Action, Change};
use crate::json::{self, Fields};
use crate::table::{Agent, Mcp, Parts, Tool};

/// Fields that tools need. Some agents merge the new input into the old one, so a field that is missing from it would
/// keep its old value.
const NEEDED: [&str; 7] = ["command", "file_path", "content", "old_string", "new_string", "pattern", "url"];

/// The call of a tool.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) own_name: String,
    pub(crate) own_input: Json,
    pub(crate) parts: Vec<CallPart>,
    tool: Option<&'static Tool>,
    changes: Vec<Change>,
}

/// One part of a call, as hooks see it.
#[derive(Debug, Clone)]
pub(crate) struct CallPart {
    pub(crate) name: String,
    pub(crate) input: Json,
    /// Further names that matchers may use for it.
    pub(crate) also: Vec<String>,
    /// The index of the change in the patch.
    change: usize,
}

impl ToolCall {
    /// Removes the tool from an event's fields, if the event is about one.
    pub(super) fn take(agent: &Agent, kind: &EventKind, fields: &mut Fields) -> Result<Option<Self>, String> {
        if kind.field("tool_name").is_none() || kind.field("tool_input").is_none() {
            return Ok(None);
        }
        let mut take = |name: &str| {
            let at = fields.iter().position(|(field, _)| field == name);
            at.map(|at| fields.remove(at).1).ok_or_else(|| format!("it has no field `{name}`"))
        };
        let own_name = take("tool_name")?;
        let own_input = take("tool_input")?;
        let own_name = own_name.as_str().ok_or("the tool's name is not a text")?.into_owned();
        // Some agents send the input as a string with JSON in it.
        let own_input = match own_input.as_str() {
            Some(text) if text.starts_with('{') => Json::parse(&text).unwrap_or(own_input.clone()),
            _ => own_input.clone(),
        };
        let has = |field: &str| own_input.get(field).is_some();
        let tool = agent.tools.iter().find(|tool| tool.agent_name == own_name && tool.when.is_none_or(has));
        let mcp = mcp_name(agent, &own_name, fields);
        let name = tool.map(|tool| tool.name.to_owned()).or(mcp).unwrap_or_else(|| own_name.clone());
        let mut call = Self { own_name, own_input, parts: Vec::new(), tool, changes: Vec::new() };
        let is_before = kind.field("tool_response").is_none();
        call.take_apart(name, is_before)?;
        if call.tool.is_none() {
            let others = other_mcp_names(agent, &call.own_name);
            call.parts.iter_mut().for_each(|part| part.also.extend(others.iter().cloned()));
        }
        Ok(Some(call))
    }

    fn take_apart(&mut self, name: String, is_before: bool) -> Result<(), String> {
        let also = self.tool.map_or(&[][..], |tool| tool.also).iter().map(|also| (*also).to_owned());
        let mut also: Vec<String> = also.collect();
        if name != self.own_name {
            also.push(self.own_name.clone());
        }
        let whole = self.renamed(&self.own_input);
        let one = |input| CallPart { name: name.clone(), input, also: also.clone(), change: 0 };
        self.parts = match self.tool.map_or(Parts::One, |tool| tool.parts) {
            // The output of a command is one, whatever it wrote.
            Parts::Shell(field) if is_before => {
                let command = self.own_input.get(field);
                let command = command.as_ref().and_then(|command| command.as_str()).unwrap_or_default();
                let changes = patch::in_command(&command);
                let files = changes.iter().enumerate();
                let files = files.flat_map(|(at, change)| file_parts(at, change, &self.own_name));
                std::iter::once(one(whole)).chain(files).collect()
            }
            Parts::One | Parts::Shell(_) => vec![one(whole)],
            Parts::Each { list, inside, field } => match self.elements(list) {
                elements if elements.is_empty() => vec![one(whole)],
                elements => {
                    let mut rest = whole.entries().unwrap_or_default();
                    rest.retain(|(name, _)| name != list);
                    let part = |element: &Json| {
                        let mut members = rest.clone();
                        members.push((field.to_owned(), element_text(element, inside)));
                        one(json::object(&members))
                    };
                    elements.iter().map(part).collect()
                }
            },
            Parts::Patch(field) => {
                let text = self.own_input.get(field);
                // The patch may also be the whole input.
                let text = text.as_ref().unwrap_or(&self.own_input);
                let text = text.as_str().ok_or("the call has no patch")?;
                self.changes = patch::parse(&text)?;
                let parts = self.changes.iter().enumerate();
                parts.flat_map(|(at, change)| file_parts(at, change, &self.own_name)).collect()
            }
        };
        Ok(())
    }

    /// The values of a list; a single value counts as a list of one.
    fn elements(&self, list: &str) -> Vec<Json> {
        match self.own_input.get(list) {
            Some(value) if value.as_str().is_some() || value.is_object() => vec![value],
            Some(value) => json::elements(&value).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// An input of the agent, with Crosier's names.
    fn renamed(&self, input: &Json) -> Json {
        let names = self.tool.map_or(&[][..], |tool| tool.fields);
        let Some(mut members) = input.entries().filter(|_| !names.is_empty()) else { return input.clone() };
        for (own, here) in names {
            let is_free = json::find(&members, here).is_none();
            if let Some((name, _)) = members.iter_mut().find(|(name, _)| name == own && is_free) {
                *name = (*here).to_owned();
            }
        }
        json::object(&members)
    }

    /// The response of one part, when the response is a list of the same length.
    pub(super) fn response_of(&self, at: usize, fields: &[(String, Json)]) -> Option<Json> {
        let is_list = matches!(self.tool?.parts, Parts::Each { .. });
        let responses = json::elements(json::find(fields, "tool_response").filter(|_| is_list)?)?;
        if responses.len() == self.parts.len() { responses.into_iter().nth(at) } else { None }
    }

    /// The whole input for the agent, after hooks changed these parts.
    ///
    /// # Errors
    /// Why the changes cannot be expressed as an input of the agent.
    pub(crate) fn restore(&self, rewritten: &[Option<Json>]) -> Result<Json, String> {
        match self.tool.map_or(Parts::One, |tool| tool.parts) {
            Parts::One => self.restore_one(rewritten),
            Parts::Shell(_) if rewritten.iter().skip(1).any(Option::is_some) => {
                Err("a file of a patch inside a command cannot be changed".to_owned())
            }
            Parts::Shell(_) => self.restore_one(rewritten),
            Parts::Each { list, .. } if self.elements(list).is_empty() => self.restore_one(rewritten),
            Parts::Each { list, inside, field } => self.restore_list(rewritten, list, inside, field),
            Parts::Patch(field) => self.restore_patch(rewritten, field),
        }
    }

    fn restore_one(&self, rewritten: &[Option<Json>]) -> Result<Json, String> {
        let Some(Some(input)) = rewritten.first() else { return Ok(self.own_input.clone()) };
        let before = self.renamed(&self.own_input);
        let lost = NEEDED.iter().find(|field| before.get(field).is_some() && input.get(field).is_none());
        match lost {
            Some(field) => Err(format!("the new input has no `{field}`")),
            None => self.to_agent_input(input),
        }
    }

    /// An input in Crosier's vocabulary, with the agent's names.
    fn to_agent_input(&self, input: &Json) -> Result<Json, String> {
        let mut members = input.entries().ok_or("the new input is not an object")?;
        for (own, here) in self.tool.map_or(&[][..], |tool| tool.fields) {
            let has_both = json::find(&members, own).is_some() && json::find(&members, here).is_some();
            if has_both {
                return Err(format!("the new input has both `{own}` and `{here}`"));
            }
            if let Some((name, _)) = members.iter_mut().find(|(name, _)| name == here) {
                *name = (*own).to_owned();
            }
        }
        Ok(json::object(&members))
    }

    fn restore_list(
        &self,
        rewritten: &[Option<Json>],
        list: &str,
        inside: &str,
        field: &str,
    ) -> Result<Json, String> {
        let mut elements = self.elements(list);
        for ((element, part), new) in elements.iter_mut().zip(&self.parts).zip(rewritten) {
            let Some(new) = new else { continue };
            let value = new.get(field).ok_or_else(|| format!("the new input has no `{field}`"))?;
            if members_but(new, field) != members_but(&part.input, field) {
                return Err(format!("a part of a call can only have another `{field}`"));
            }
            *element = match element.entries() {
                None => value,
                Some(members) if json::find(&members, "args").is_some() => {
                    return Err("the new input cannot be split into a program and its arguments".to_owned());
                }
                Some(mut members) => {
                    if let Some((_, old)) = members.iter_mut().find(|(name, _)| name == inside) {
                        *old = value;
                    }
                    json::object(&members)
                }
            };
        }
        let mut members = self.own_input.entries().unwrap_or_default();
        if let Some((_, old)) = members.iter_mut().find(|(name, _)| name == list) {
            *old = json::list(&elements);
        }
        Ok(json::object(&members))
    }

    fn restore_patch(&self, rewritten: &[Option<Json>], field: &str) -> Result<Json, String> {
        let mut changes = self.changes.clone();
        for (part, new) in self.parts.iter().zip(rewritten) {
            let (Some(new), Some(change)) = (new, changes.get_mut(part.change)) else { continue };
            change_file(change, &part.input, new)?;
        }
        let text = Json::from(patch::render(&changes));
        let Some(mut members) = self.own_input.entries() else { return Ok(text) };
        if let Some((_, old)) = members.iter_mut().find(|(name, _)| name == field) {
            *old = text;
        }
        Ok(json::object(&members))
    }
}

fn members_but(input: &Json, field: &str) -> Json {
    let mut members = input.entries().unwrap_or_default();
    members.retain(|(name, _)| name != field);
    json::object(&members)
}

/// The text of a list's value: the string itself, or the field `inside` of an object, followed by its arguments.
fn element_text(element: &Json, inside: &str) -> Json {
    let Some(value) = element.get(inside) else { return element.clone() };
    let words = element.get("args").and_then(|args| json::elements(&args)).unwrap_or_default();
    if words.is_empty() {
        return value;
    }
    let all = std::iter::once(&value).chain(&words).map(Json::plain);
    Json::from(all.collect::<Vec<_>>().join(" "))
}

/// The parts that show what a patch does to a file: one, and another one for the path that it is moved to.
fn file_parts(at: usize, change: &Change, own_name: &str) -> Vec<CallPart> {
    let part = |name: &str, other: &str, members: &[(&str, Json)]| CallPart {
        name: name.to_owned(),
        input: json::object(members),
        also: [other, own_name]
            .iter()
            .filter(|also| !also.is_empty())
            .map(|also| (*also).to_owned())
            .collect(),
        change: at,
    };
    let path = ("file_path", Json::from(change.path.as_str()));
    match &change.action {
        Action::Add(content) => {
            vec![part("Write", "", &[path, ("content", Json::from(content.as_str()))])]
        }
        Action::Delete => vec![part("Edit", "Write", &[path, ("operation", Json::from("delete"))])],
        Action::Update { move_to, hunks } => {
            let texts = |side: fn(&patch::Hunk) -> String| {
                Json::from(hunks.iter().map(side).collect::<Vec<_>>().join("\n"))
            };
            let mut members = vec![
                path,
                ("old_string", texts(patch::Hunk::before)),
                ("new_string", texts(patch::Hunk::after)),
            ];
            if hunks.len() > 1 {
                let hunk = |hunk: &patch::Hunk| {
                    let (old, new) = (Json::from(hunk.before()), Json::from(hunk.after()));
                    json::object(&[("old_string", old), ("new_string", new)])
                };
                members.push(("hunks", json::list(&hunks.iter().map(hunk).collect::<Vec<_>>())));
            }
            members.extend(move_to.as_ref().map(|to| ("move_to", Json::from(to.as_str()))));
            let mut parts = vec![part("Edit", if move_to.is_some() { "Write" } else { "" }, &members)];
            parts.extend(move_to.as_ref().map(|to| {
                let content = ("content", texts(patch::Hunk::after));
                part("Write", "Edit", &[("file_path", Json::from(to.as_str())), content])
            }));
            parts
        }
    }
}

/// Changes one file of a patch as a hook wants it.
fn change_file(change: &mut Change, old: &Json, new: &Json) -> Result<(), String> {
    let cannot = || format!("the new input for {} cannot be expressed as a patch", change.path);
    let text = |input: &Json, name: &str| input.get(name)?.as_str().map(|text| text.into_owned());
    if !new.is_object() {
        return Err(cannot());
    }
    let is_move_target = matches!(change.action, Action::Update { .. }) && old.get("content").is_some();
    let known = ["file_path", "content", "old_string", "new_string", "move_to", "hunks"];
    let others = |input: &Json| {
        let mut members = input.entries().unwrap_or_default();
        members.retain(|(name, _)| !known.contains(&name.as_str()));
        json::object(&members)
    };
    if is_move_target || others(old) != others(new) {
        return Err(cannot());
    }
    let path = text(new, "file_path").ok_or_else(cannot)?;
    let (olds, news) = (text(new, "old_string"), text(new, "new_string"));
    let same_texts = olds == text(old, "old_string") && news == text(old, "new_string");
    match &mut change.action {
        Action::Add(content) => *content = text(new, "content").ok_or_else(cannot)?,
        Action::Delete => {}
        Action::Update { move_to, hunks } => {
            if old.get("hunks") != new.get("hunks") || (!same_texts && hunks.len() != 1) {
                return Err(cannot());
            }
            if let (false, Some(old), Some(new), [hunk]) = (same_texts, olds, news, &mut hunks[..]) {
                *hunk = hunk.changed(&old, &new);
            }
            *move_to = text(new, "move_to");
        }
    }
    change.path = path;
    Ok(())
}

/// Further names of a tool of an MCP server, when the separator occurs in the name of the server or of the tool too: a
/// matcher must find it wherever the server's name ends.
fn other_mcp_names(agent: &Agent, own: &str) -> Vec<String> {
    let Mcp::Marked(mark, between) = agent.mcp else { return Vec::new() };
    let Some(rest) = own.strip_prefix(mark).filter(|_| !own.starts_with("mcp__")) else { return Vec::new() };
    let splits = rest.match_indices(between).skip(1);
    let named = splits.filter_map(|(at, _)| Some((rest.get(..at)?, rest.get(at + between.len()..)?)));
    named.map(|(server, tool)| format!("mcp__{server}__{tool}")).collect()
}

/// The name of a tool of an MCP server, as Crosier has it.
fn mcp_name(agent: &Agent, own: &str, fields: &[(String, Json)]) -> Option<String> {
    let (server, tool) = match agent.mcp {
        Mcp::Same => return None,
        Mcp::Fields(server, tool) => (json::text(fields, server)?, json::text(fields, tool)?),
        Mcp::Marked(mark, between) => {
            // Some agents also send the usual name.
            let (server, tool) = match own.starts_with("mcp__") {
                true => return None,
                false => own.strip_prefix(mark)?.split_once(between)?,
            };
            (server.to_owned(), tool.to_owned())
        }
    };
    Some(format!("mcp__{server}__{tool}"))
}
