//! The strict decoder for replies. It reads the keys of three hook systems (Claude Code, MassGen, Armament)
//! and rejects whatever is ambiguous.
//!
//! Duplicate keys, deep nesting and numbers out of range are valid JSON, so a separate pass over the text
//! rejects them. A short reply of strings and booleans, each key once, skips that pass. Lone surrogates are
//! accepted: a guard may quote what a model wrote, and its decision must still count. A `null` is the same as
//! an absent key, except in `modify`: typed languages write empty fields that way.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::keys::{UnknownKey, classify_unknown};
use super::{Decision, Effects, Injection, Opinion, Reply, Rewrite, Strategy, Target};
use crate::event::{EventRow, Field, Phase};
use crate::failure::Failure;
use crate::json::{self, Entries, Json, JsonRef, Name};

/// The deepest nesting that a reply may have.
const MAX_DEPTH: usize = 128;
/// The longest deadline that a reply can ask for when it asks to be run again.
pub(super) const MAX_AGAIN: Duration = Duration::from_secs(600);
/// The second run's deadline when the reply names none.
const DEFAULT_AGAIN: Duration = Duration::from_secs(30);

type Decoded<T> = Result<T, Failure>;

pub(super) fn reply(bytes: &[u8], row: &EventRow) -> Decoded<Reply> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| bad(format!("the reply is not UTF-8 (byte {})", error.valid_up_to())))?;
    let text = text.trim_ascii();
    if text.is_empty() || text == "null" {
        return Ok(Reply::none());
    }
    if !text.starts_with('{') {
        return Err(bad(not_an_object(text)));
    }
    let entries = json::readable_entries(text);
    if !entries.as_ref().is_ok_and(is_plain) {
        strict(text)?;
    }
    let entries = entries.map_err(|error| bad(format!("the reply is not JSON: {error}")))?;
    let mut decoder = Decoder {
        row,
        effects: Effects::default(),
        modified_args: None,
        top: OpinionKeys::default(),
        specific: OpinionKeys::default(),
    };
    decoder.top(entries)?;
    let effects = decoder.finish()?;
    Ok(if effects == Effects::default() { Reply::none() } else { Reply(Some(Box::new(effects))) })
}

fn bad(detail: impl Into<String>) -> Failure {
    Failure::bad_output(detail)
}

fn not_an_object(text: &str) -> String {
    if text.starts_with('\u{feff}') {
        return "there is a byte order mark before the reply; write plain UTF-8".to_owned();
    }
    match Json::parse(text) {
        Ok(json) => format!("the reply is {}; write one JSON object, or nothing", json.kind_word()),
        Err(_) => {
            "the reply does not begin with a JSON object; write one object and nothing else to stdout, \
                   or set `output: text`"
                .to_owned()
        }
    }
}

/// Decodes one reply to an event of this row.
struct Decoder<'a> {
    row: &'a EventRow,
    effects: Effects,
    /// `modified_args` wins over `updated_input`, in whichever order they come.
    modified_args: Option<Json>,
    /// `decision`, `allowed` and `abort`, with `reason`.
    top: OpinionKeys,
    /// `permissionDecision`, with its own reason.
    specific: OpinionKeys,
}

/// The decision and reason of one group of keys. They may come in either order.
#[derive(Default)]
struct OpinionKeys {
    decision: Option<Decision>,
    reason: Option<String>,
}

impl OpinionKeys {
    /// The strictest decision wins.
    fn decide(&mut self, decision: Decision) {
        self.decision = self.decision.max(Some(decision));
    }
}

impl Decoder<'_> {
    fn top(&mut self, entries: Entries<'_>) -> Decoded<()> {
        let mut system_message = None;
        let mut additional = Vec::new();
        let (mut asynchronous, mut async_timeout) = (None, None);
        for (key, value) in entries {
            if value.is_null() {
                continue;
            }
            match &*key {
                "continue" => self.effects.proceed = Some(boolean(&key, value)?),
                "suppressOutput" => self.effects.suppress = boolean(&key, value)?,
                "stopReason" => self.effects.stop_reason = Some(text(&key, value)?),
                "reason" => self.top.reason = Some(text(&key, value)?),
                "decision" if value.is_object() => self.permission(value)?,
                "decision" => self.top.decide(word(&key, value)?),
                "systemMessage" => system_message = Some(text(&key, value)?),
                "async" => asynchronous = Some(boolean(&key, value)?),
                "asyncTimeout" => async_timeout = Some(seconds(&key, value)?),
                "allowed" if !boolean(&key, value)? => self.top.decide(Decision::Deny),
                "abort" if boolean(&key, value)? => self.top.decide(Decision::Deny),
                "allowed" | "abort" => {}
                "updated_input" => self.rewrite_input(&key, value)?,
                "modified_args" => self.modified_args = Some(modified_args(value)?),
                "inject" => self.inject(value)?,
                "modify" => self.modify(value)?,
                "hookSpecificOutput" => {
                    for (key, value) in object(&key, value)? {
                        if !value.is_null() && !self.specific(&key, value, &mut additional)? {
                            self.unknown(&format!("hookSpecificOutput.{key}"), &key)?;
                        }
                    }
                }
                _ if self.specific(&key, value, &mut additional)? => {}
                _ => self.unknown(&key, &key)?,
            }
        }
        self.effects
            .context
            .extend(system_message.into_iter().chain(additional).filter(|text| !text.is_empty()));
        self.effects.again = match (asynchronous, async_timeout) {
            (Some(true), timeout) => Some(timeout.unwrap_or(DEFAULT_AGAIN)),
            _ => None,
        };
        Ok(())
    }

    /// Reads a key of `hookSpecificOutput`, there or at the top level. False when it is not one of those keys.
    fn specific(&mut self, key: &str, value: JsonRef<'_>, additional: &mut Vec<String>) -> Decoded<bool> {
        match key {
            "hookEventName" => {
                let named = text(key, value)?;
                if named != self.row.name && self.row.alias != Some(named.as_str()) {
                    let event = self.row.name;
                    return Err(bad(format!("`hookEventName` is `{named}`, but this is {event}")));
                }
            }
            "permissionDecision" => self.specific.decide(word(key, value)?),
            "permissionDecisionReason" => self.specific.reason = Some(text(key, value)?),
            "updatedInput" => self.rewrite_input(key, value)?,
            "additionalContext" => additional.push(text(key, value)?),
            "updatedMCPToolOutput" | "updatedToolOutput" => self.rewrite_output(key, value)?,
            "decision" if value.is_object() => self.permission(value)?,
            "decision" => self.top.decide(word(key, value)?),
            "custom_instructions" => self.rewrite_field(key, "custom_instructions", value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `decision: {behavior, …}`, the answer to a permission request.
    fn permission(&mut self, value: JsonRef<'_>) -> Decoded<()> {
        let mut message = None;
        let mut behavior = None;
        for (key, value) in object("decision", value)? {
            let path = format!("decision.{key}");
            match &*key {
                _ if value.is_null() => {}
                "behavior" => behavior = Some(word(&path, value)?),
                "message" => message = Some(text(&path, value)?),
                "updatedInput" => self.rewrite_input(&path, value)?,
                "updatedPermissions" => self.effects.permissions = Some(value.to_json()),
                "interrupt" => self.effects.interrupt = boolean(&path, value)?,
                _ => self.unknown(&path, &key)?,
            }
        }
        let behavior = behavior.ok_or_else(|| bad("`decision` is an object without `behavior`"))?;
        self.decide(behavior, message);
        Ok(())
    }

    /// The strictest decision wins; of several reasons for it, the first is kept.
    fn decide(&mut self, decision: Decision, reason: Option<String>) {
        let opinion = self.effects.opinion.get_or_insert(Opinion { decision, reason: None });
        if decision > opinion.decision {
            *opinion = Opinion { decision, reason };
        } else if decision == opinion.decision && opinion.reason.is_none() {
            opinion.reason = reason;
        }
    }

    fn rewrite_input(&mut self, key: &str, value: JsonRef<'_>) -> Decoded<()> {
        fit(key, self.row.rewritable(Phase::Pre), value)?;
        self.effects.rewrites.push(Rewrite { target: Target::Input, value: value.to_json() });
        Ok(())
    }

    fn rewrite_output(&mut self, key: &str, value: JsonRef<'_>) -> Decoded<()> {
        fit(key, self.row.rewritable(Phase::Post), value)?;
        self.effects.rewrites.push(Rewrite { target: Target::Output, value: value.to_json() });
        Ok(())
    }

    fn rewrite_field(&mut self, key: &str, field: &str, value: JsonRef<'_>) -> Decoded<()> {
        fit(key, self.row.field(field), value)?;
        self.effects
            .rewrites
            .push(Rewrite { target: Target::Field(field.to_owned()), value: value.to_json() });
        Ok(())
    }

    fn modify(&mut self, value: JsonRef<'_>) -> Decoded<()> {
        for (key, value) in object("modify", value)? {
            let field = match &*key {
                "args" => "tool_input",
                "tool" => "tool_name",
                "result" if self.row.field("result").is_none() => "tool_response",
                other => other,
            };
            self.rewrite_field(&format!("modify.{key}"), field, value)?;
        }
        Ok(())
    }

    fn inject(&mut self, value: JsonRef<'_>) -> Decoded<()> {
        let one = |entry: JsonRef<'_>| -> Decoded<Injection> {
            let mut content = None;
            let mut strategy = Strategy::ToolResult;
            for (key, value) in object("inject", entry)? {
                match &*key {
                    "content" => content = Some(text("inject.content", value)?),
                    "strategy" if value.is_null() => {}
                    "strategy" => {
                        strategy = match text("inject.strategy", value)?.as_str() {
                            "tool_result" => Strategy::ToolResult,
                            "user_message" => Strategy::UserMessage,
                            other => {
                                return Err(bad(format!(
                                    "unknown inject strategy `{other}`; use `tool_result` or `user_message`"
                                )));
                            }
                        }
                    }
                    other => {
                        return Err(bad(format!(
                            "unknown key `inject.{other}`; `inject` has `content` and `strategy`"
                        )));
                    }
                }
            }
            let content = content.ok_or_else(|| bad("`inject` has no `content`"))?;
            Ok(Injection { strategy, content })
        };
        for entry in value.elements().unwrap_or_else(|| vec![value]) {
            self.effects.inject.push(one(entry)?);
        }
        Ok(())
    }

    fn unknown(&mut self, path: &str, key: &str) -> Decoded<()> {
        match classify_unknown(key) {
            UnknownKey::NearMiss(near) => Err(bad(format!("unknown key `{path}`, did you mean `{near}`?"))),
            UnknownKey::Foreign => {
                self.effects.unknown.push(path.to_owned());
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Decoded<Effects> {
        if let Some(args) = self.modified_args.take() {
            self.effects.rewrites.retain(|rewrite| rewrite.target != Target::Input);
            self.rewrite_input("modified_args", args.as_json_ref())?;
        }
        let (top, specific) = (std::mem::take(&mut self.top), std::mem::take(&mut self.specific));
        if let Some(decision) = top.decision {
            self.decide(decision, top.reason.clone().or_else(|| specific.reason.clone()));
        }
        if let Some(decision) = specific.decision {
            self.decide(decision, specific.reason.or_else(|| top.reason.clone()));
        }
        let effects = &mut self.effects;
        // Without a `stopReason`, the reply's `reason` also explains `continue`.
        if effects.proceed.is_some() && effects.stop_reason.is_none() {
            effects.stop_reason = top.reason;
        }
        // A second run could not undo a denial, so it is not requested.
        if effects.opinion.as_ref().is_some_and(|opinion| opinion.decision == Decision::Deny) {
            effects.again = None;
        }
        Ok(self.effects)
    }
}

/// Rejects a value that the field cannot hold.
fn fit(key: &str, field: Option<&Field>, value: JsonRef<'_>) -> Decoded<()> {
    match field {
        // The input of a tool is always an object.
        Some(field) if field.name == "tool_input" && !value.is_object() => {
            Err(wrong(key, "an object", value))
        }
        Some(field) if !field.kind.fits(value.text()) => Err(wrong(key, field.kind.wanted(), value)),
        _ => Ok(()),
    }
}

fn wrong(key: &str, wanted: &str, value: JsonRef<'_>) -> Failure {
    bad(format!("`{key}` must be {wanted}, but it is {}", value.kind_word()))
}

fn text(key: &str, value: JsonRef<'_>) -> Decoded<String> {
    borrowed(key, value).map(Cow::into_owned)
}

fn borrowed<'a>(key: &str, value: JsonRef<'a>) -> Decoded<Cow<'a, str>> {
    value.as_str().ok_or_else(|| wrong(key, "text", value))
}

fn boolean(key: &str, value: JsonRef<'_>) -> Decoded<bool> {
    match value.text() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(key, "true or false", value)),
    }
}

fn object<'a>(key: &str, value: JsonRef<'a>) -> Decoded<Entries<'a>> {
    value.entries().ok_or_else(|| wrong(key, "an object", value))
}

fn word(key: &str, value: JsonRef<'_>) -> Decoded<Decision> {
    let word = borrowed(key, value)?;
    match &*word {
        "allow" | "approve" => Ok(Decision::Allow),
        "ask" => Ok(Decision::Ask),
        "deny" | "block" => Ok(Decision::Deny),
        _ => Err(bad(format!(
            "unknown decision `{}` in `{key}`; use allow, approve, ask, deny or block",
            word.escape_debug().take(40).collect::<String>()
        ))),
    }
}

/// MassGen's `modified_args`: an object, written as JSON text.
fn modified_args(value: JsonRef<'_>) -> Decoded<Json> {
    let text = text("modified_args", value)?;
    strict(&text).map_err(|failure| bad(format!("`modified_args` is not JSON text: {}", failure.detail)))?;
    Json::parse(&text).map_err(|error| bad(format!("`modified_args` is not JSON text: {error}")))
}

fn seconds(key: &str, value: JsonRef<'_>) -> Decoded<Duration> {
    let number: f64 =
        serde_json::from_str(value.text()).map_err(|_| wrong(key, "a number of seconds", value))?;
    if number <= 0.0 || number > MAX_AGAIN.as_secs_f64() {
        let most = MAX_AGAIN.as_secs();
        return Err(bad(format!(
            "`{key}` is {number}, but must be a number of seconds, more than 0 and at most {most}"
        )));
    }
    Ok(Duration::from_secs_f64(number))
}

/// Whether there are only a few members, all strings, booleans or null, and no key twice. Most replies are
/// like that and need no strict pass.
fn is_plain(entries: &Entries<'_>) -> bool {
    const FEW: usize = 8;
    let is_simple =
        |value: JsonRef<'_>| matches!(value.text().as_bytes().first(), Some(b'"' | b't' | b'f' | b'n'));
    entries.len() <= FEW
        && entries.iter().enumerate().all(|(place, (name, value))| {
            is_simple(*value) && entries[..place].iter().all(|(other, _)| other != name)
        })
}

/// Reads the whole text and rejects duplicate keys, nesting deeper than [`MAX_DEPTH`], numbers out of range, and
/// anything after the value.
fn strict(text: &str) -> Decoded<()> {
    let text = json::without_lone_surrogates(text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    reader.disable_recursion_limit();
    StrictWalk { depth: 0 }
        .deserialize(&mut reader)
        .map_err(|error| bad(format!("the reply is not a JSON object: {error}")))?;
    reader
        .end()
        .map_err(|_| bad("there is text after the reply; write one JSON object and nothing else to stdout"))
}

#[derive(Clone, Copy)]
struct StrictWalk {
    depth: usize,
}

impl StrictWalk {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format!("it is nested more than {MAX_DEPTH} deep")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for StrictWalk {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictWalk {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while list.next_element_seed(inner)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<Name<'_>>()? {
            if let Some(twice) = seen.replace(key) {
                let key: String = twice.0.escape_debug().take(40).collect();
                return Err(A::Error::custom(format!("the key `{key}` is in it twice")));
            }
            map.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
