//! The agent's bytes → a [`Call`]: events in the vocabulary of Crosier.

mod fields;
mod tool;

use crosier_protocol::{Catalog, Event, EventKind, Json};

use crate::json::{self, Fields};
use crate::table::{Agent, AgentEvent, FolderSource};

pub(crate) use tool::ToolCall;

/// What an agent's bytes are.
#[derive(Debug)]
pub enum Read {
    /// An event that hooks can be asked about.
    Call(Box<Call>),
    /// An event with an unknown name: it gets no decision.
    Unknown(String),
    /// An event that was already sent: it gets no decision.
    Repeated,
}

/// Why an agent's bytes are not an event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unreadable {
    /// The event that was meant, if it is known.
    pub event: Option<&'static AgentEvent>,
    /// What is wrong.
    pub why: String,
}

/// One event of an agent: what was sent, and the events to fire for it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call {
    /// Who sent it.
    pub agent: &'static Agent,
    /// Which of its events it is.
    pub entry: &'static AgentEvent,
    /// The events to fire: usually one; one per part when a call has several.
    pub events: Vec<Event>,
    /// What was sent.
    pub(crate) sent: Fields,
    /// The tool that is called, when the event is about one.
    pub(crate) tool: Option<ToolCall>,
}

/// Reads what an agent sent. `word` is the event's name when the command line has it; a name in the payload takes
/// precedence.
///
/// # Errors
/// When it is not an event, and what is wrong with it.
pub fn read(
    agent: &'static Agent,
    word: Option<&str>,
    bytes: &[u8],
    catalog: &Catalog,
) -> Result<Read, Unreadable> {
    let sent = object(bytes).map_err(|why| Unreadable { event: guess(agent, word, bytes), why })?;
    let said = agent.event_paths.iter().find_map(|path| json::text(&sent, path));
    let found = said.as_deref().and_then(|said| agent.event(said, &sent));
    let entry = match found.or_else(|| agent.event(word?, &sent)) {
        Some(entry) => entry,
        None => match said.or_else(|| word.map(str::to_owned)) {
            Some(name) => return Ok(Read::Unknown(name)),
            None => {
                let why = "the event is not named; name it on the command line, after the agent".to_owned();
                return Err(Unreadable { event: None, why });
            }
        },
    };
    if entry.repeat_if_empty.is_some_and(|path| json::text(&sent, path).is_some_and(|text| text.is_empty())) {
        return Ok(Read::Repeated);
    }
    let unreadable = |why| Unreadable { event: Some(entry), why };
    let Some(kind) = catalog.find(entry.event) else { return Ok(Read::Unknown(entry.event.to_owned())) };
    Call::new(agent, entry, &kind, sent).map(|call| Read::Call(Box::new(call))).map_err(unreadable)
}

/// The members of the JSON object in these bytes. A byte order mark in front of it is skipped.
fn object(bytes: &[u8]) -> Result<Fields, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8: byte {} begins no character", error.valid_up_to()))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("nothing was sent".to_owned());
    }
    let members = json::members(text).map_err(|error| match Json::parse(text) {
        Ok(json) => format!("it is {} and not an object", json.kind_word()),
        Err(_) => format!("it is not JSON: {error}"),
    })?;
    for (at, (name, _)) in members.iter().enumerate() {
        if members.iter().take(at).any(|(other, _)| other == name) {
            return Err(format!("it has the field `{name}` twice"));
        }
    }
    Ok(members)
}

/// The event that was meant, when the payload cannot be read: from the command line, or a known name in the text.
fn guess(agent: &'static Agent, word: Option<&str>, bytes: &[u8]) -> Option<&'static AgentEvent> {
    let text = String::from_utf8_lossy(bytes);
    let told = word.and_then(|word| agent.event(word, &[]));
    told.or_else(|| {
        agent.event_paths.iter().find_map(|path| {
            let (_, rest) = text.split_once(&format!("\"{}\"", path.rsplit('.').next()?))?;
            let name = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            agent.event(name.split('"').next()?, &[])
        })
    })
}

impl Agent {
    /// The event of this name, for a payload with these members.
    fn event(&'static self, word: &str, sent: &[(String, Json)]) -> Option<&'static AgentEvent> {
        let is_there = |path| json::at(sent, path).is_some_and(|value| !value.is_null());
        self.events.iter().find(|entry| entry.agent_names.contains(&word) && entry.when.is_none_or(is_there))
    }

    /// The event that has this name in the agent or in Crosier.
    #[must_use]
    pub fn named(&'static self, word: &str) -> Option<&'static AgentEvent> {
        let own = self.event(word, &[]);
        own.or_else(|| self.events.iter().find(|entry| entry.event == word && entry.when.is_none()))
    }
}

impl Call {
    fn new(
        agent: &'static Agent,
        entry: &'static AgentEvent,
        kind: &EventKind,
        sent: Fields,
    ) -> Result<Self, String> {
        let mut common = fields::translated(agent, entry, &sent);
        let tool = ToolCall::take(agent, kind, &mut common)?;
        fields::complete(kind, &mut common);
        let mut call = Self { agent, entry, events: Vec::new(), sent, tool };
        call.events = call.make_events(kind, common)?;
        Ok(call)
    }

    fn make_events(&self, kind: &EventKind, mut common: Fields) -> Result<Vec<Event>, String> {
        let parts = self.tool.as_ref().map_or(&[][..], |tool| &tool.parts);
        let make = |mut all: Fields, more: Fields, also: &[String]| {
            all.retain(|(name, _)| json::find(&more, name).is_none());
            all.extend(more);
            Event::from_fields(kind.clone(), all)
                .map(|event| if also.is_empty() { event } else { event.also_matching(also.to_vec()) })
                .map_err(|error| error.to_string())
        };
        if parts.is_empty() {
            return Ok(vec![make(common, vec![("host".to_owned(), self.host(None))], &[])?]);
        }
        let number = parts.len();
        let mut events = Vec::with_capacity(number);
        for (part, at) in parts.iter().zip(1..) {
            let mut more = vec![
                ("tool_name".to_owned(), Json::from(part.name.as_str())),
                ("tool_input".to_owned(), part.input.clone()),
                ("host".to_owned(), self.host((number > 1).then_some((at, number)))),
            ];
            if let Some(response) = self.tool.as_ref().and_then(|tool| tool.response_of(at - 1, &common)) {
                more.push(("tool_response".to_owned(), response));
            }
            // The last part takes the original, the others a copy.
            let fields = if at == number { std::mem::take(&mut common) } else { common.clone() };
            events.push(make(fields, more, &part.also)?);
        }
        Ok(events)
    }

    /// The payload in the agent's own terms, for the field `host`.
    fn host(&self, part: Option<(usize, usize)>) -> Json {
        let mut host = vec![("agent", Json::from(self.agent.name)), ("event", Json::from(self.entry.name()))];
        host.extend(json::at(&self.sent, self.agent.version_path).map(|version| ("version", version)));
        if let Some(tool) = &self.tool {
            host.push(("tool_name", Json::from(tool.own_name.as_str())));
            host.push(("tool_input", tool.own_input.clone()));
        }
        if let Some((at, of)) = part {
            host.push(("part", json::whole(&format!("{{\"index\":{at},\"of\":{of}}}"))));
        }
        json::object(&host)
    }

    /// The session, as the agent names it.
    #[must_use]
    pub fn session(&self) -> &str {
        self.events.first().map_or("", Event::session_id)
    }

    /// The text of a field of the event.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.events.first()?.get(name)?.as_str().map(|text| text.into_owned())
    }

    /// Whether the event takes text for the model.
    #[must_use]
    pub fn takes_context(&self) -> bool {
        matches!(self.entry.effects.context, crate::table::Delivery::Send(_))
    }

    /// What was sent, at this path.
    #[must_use]
    pub fn sent(&self, path: &str) -> Option<Json> {
        json::at(&self.sent, path)
    }

    /// The project's folder, as the agent names it; `variable` returns environment variables. For an agent that does
    /// not name it, the folder of the event, which follows every `cd`.
    #[must_use]
    pub fn project(&self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        self.named_project(variable).or_else(|| self.folder())
    }

    /// The folder of the event.
    #[must_use]
    pub fn folder(&self) -> Option<String> {
        json::text(&self.sent, "cwd").filter(|folder| !folder.is_empty())
    }

    /// The folder that the agent names as its project.
    #[must_use]
    pub fn named_project(&self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let found = self.agent.project.iter().find_map(|place| match place {
            FolderSource::Variable(name) => variable(name),
            FolderSource::Field(path) => {
                let value = json::at(&self.sent, path)?;
                let first = json::elements(&value).and_then(|list| list.into_iter().next());
                first.unwrap_or(value).as_str().map(|text| text.into_owned())
            }
        });
        found.filter(|folder| !folder.is_empty())
    }
}
