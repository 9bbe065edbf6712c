//! Turns the data of the built-ins into tables of Rust: `commands.yaml`, the list of block-commands, `programs.txt`,
//! what programs do to files, and `rules.yaml`, the rules of redact-secrets. A program that is started for every event
//! of an agent has no time to read them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use saphyr_parser::{Event, Parser};

const LIST: &str = "src/block_commands/commands.yaml";
const PROGRAMS: &str = "src/shell/effect/programs.txt";
const RULES: &str = "src/redact_secrets/rules.yaml";
/// Keys whose value is one text; `decision` and `special` are names of variants.
const TEXTS: [&str; 5] = ["id", "reason", "instead", "stops", "passes"];
/// Keys whose value is a list of texts, or one text.
const LISTS: [&str; 9] =
    ["programs", "words", "targets", "operands", "text", "reads", "writes", "from", "except"];
/// Keys whose value is a list of such lists.
const GROUPS: [&str; 2] = ["flags", "unless"];

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    #[expect(clippy::disallowed_methods, reason = "cargo tells a build script its folder by this variable")]
    let folder = std::env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?;
    let commands: fn(&str) -> Fallible<String> = commands;
    for (source, target, made) in
        [(LIST, "commands.rs", commands), (PROGRAMS, "programs.rs", programs), (RULES, "rules.rs", rules)]
    {
        writeln!(std::io::stdout(), "cargo::rerun-if-changed={source}")?;
        let code = made(&std::fs::read_to_string(source)?).map_err(|why| format!("{source}: {why}"))?;
        std::fs::write(Path::new(&folder).join(target), code)?;
    }
    Ok(())
}

/// The rows of programs, and the number of the row of each name.
fn programs(text: &str) -> Fallible<String> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" |").collect();
        let [programs, operands, options] = fields[..] else {
            return Err(format!("three fields are wanted: {line}").into());
        };
        names.extend(programs.split(',').map(|name| (name, rows.len())));
        rows.push((operands.trim(), options.trim()));
    }
    let names: Vec<(&str, usize)> = names.into_iter().collect();
    Ok(format!(
        "static PROGRAMS: &[(&str, usize)] = &{names:?};\nstatic ROWS: &[(&str, &str)] = &{rows:?};\n"
    ))
}

/// The entries of the list, and their index.
fn commands(text: &str) -> Fallible<String> {
    let list = document(text)?;
    let Node::Map(keys) = &list else { return Err("the list is a mapping".into()) };
    let places = keys.iter().find(|(key, _)| key == "places").map(|(_, value)| value);
    let commands = keys.iter().find(|(key, _)| key == "commands").map(|(_, value)| value);
    let (Some(places), Some(Node::List(commands)), 2) = (places, commands, keys.len()) else {
        return Err("the list has the keys `places` and `commands`, and no other".into());
    };
    let mut code = format!("static PLACES: &[&str] = {};\n", places.texts()?);
    write!(code, "static WRITTEN: &[EntrySource<'static>] = &[")?;
    for command in commands {
        code.push_str(&written(command)?);
    }
    code.push_str("];\n");
    code.push_str(&index(commands)?);
    Ok(code)
}

/// The rules for secrets, and the literals of all of them in small letters.
fn rules(text: &str) -> Fallible<String> {
    let document = document(text)?;
    let mut literals: BTreeSet<String> = BTreeSet::new();
    let mut code = String::from("pub(super) static RULES: &[RuleSource<'static>] = &[");
    for rule in document.items() {
        let known = ["id", "pattern", "literals", "not_after", "back", "window", "before", "check"];
        rule.only(&known)?;
        let list = |key: &str| rule.get(key).map_or(Ok("&[]".to_owned()), Node::texts);
        for literal in rule.get("literals").map(Node::items).unwrap_or_default() {
            literals.insert(literal.scalar()?.to_lowercase());
        }
        let [id, pattern] = ["id", "pattern"].map(|key| rule.text(key));
        let [back, window] = ["back", "window"].map(|key| rule.text(key));
        writeln!(
            code,
            "RuleSource {{ id: {:?}, literals: {}, pattern: {:?}, before: Before::{}, not_after: {}, back: {}, \
             check: Check::{}, window: {} }},",
            id?.ok_or("a rule has an `id`")?,
            list("literals")?,
            pattern?.ok_or("a rule has a `pattern`")?,
            variant(rule.text("before")?.unwrap_or("word")),
            list("not_after")?,
            back?.unwrap_or("0"),
            variant(rule.text("check")?.unwrap_or("token")),
            window?.unwrap_or("WINDOW"),
        )?;
    }
    writeln!(code, "];\npub(super) static LITERALS: &[&str] = &{:?};", Vec::from_iter(literals))?;
    Ok(code)
}

/// One entry as a literal of `EntrySource`.
fn written(command: &Node) -> Fallible<String> {
    command.only(&[&TEXTS[..], &LISTS, &GROUPS, &["decision", "special", "spare"]].concat())?;
    let mut code = String::from("EntrySource {");
    for key in TEXTS {
        write!(code, "{key}: {:?}, ", command.text(key)?.unwrap_or_default())?;
    }
    for key in LISTS {
        let value = command.get(key).map(Node::texts).transpose()?;
        write!(code, "{key}: {}, ", value.as_deref().unwrap_or("&[]"))?;
    }
    for key in GROUPS {
        let groups = command.get(key).map(Node::items).unwrap_or_default();
        let groups: Vec<String> = groups.iter().map(Node::texts).collect::<Fallible<_>>()?;
        write!(code, "{key}: &[{}], ", groups.join(", "))?;
    }
    let decision = variant(command.text("decision")?.unwrap_or("deny"));
    let special = command.text("special")?.map(variant);
    let special = special.map_or("None".to_owned(), |special| format!("Some(Special::{special})"));
    let spare = command.text("spare")?.map(variant);
    let spare = spare.map_or("None".to_owned(), |spare| format!("Some(Spare::{spare})"));
    writeln!(code, "decision: Decision::{decision}, special: {special}, spare: {spare} }},")?;
    Ok(code)
}

/// `made-code` is `MadeCode`.
fn variant(name: &str) -> String {
    let part = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').filter(|part| !part.is_empty()).map(part).collect()
}

/// The numbers of entries by the programs that they name.
fn index(commands: &[Node]) -> Fallible<String> {
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut globs, mut others, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for (number, command) in commands.iter().enumerate() {
        let programs = command.get("programs").map(Node::items).unwrap_or_default();
        for program in programs {
            let program = program.scalar()?.to_lowercase();
            match program.contains(['*', '?']) {
                true => globs.push((program, number)),
                false => names.entry(program).or_default().push(number),
            }
        }
        let is_narrow = command.get("flags").is_some() && command.get("targets").is_some();
        if programs.is_empty() {
            others.push(number);
        }
        if programs.is_empty() || is_narrow {
            unknown.push(number);
        }
    }
    for numbers in names.values_mut() {
        numbers.extend(&others);
        numbers.sort_unstable();
        numbers.dedup();
    }
    let names: Vec<String> =
        names.iter().map(|(name, numbers)| format!("({name:?}, &{numbers:?})")).collect();
    Ok(format!(
        "static NAMES: &[(&str, &[usize])] = &[{}];\n\
         static GLOBS: &[(&str, usize)] = &{globs:?};\n\
         static OTHERS: &[usize] = &{others:?};\n\
         static UNKNOWN: &[usize] = &{unknown:?};\n",
        names.join(", ")
    ))
}

/// As much of a YAML document as a list needs.
enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(keys) => keys.iter().find(|(other, _)| other == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Whether it is a mapping with no other keys.
    fn only(&self, known: &[&str]) -> Fallible<()> {
        let Self::Map(keys) = self else { return Err("a mapping was expected".into()) };
        match keys.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, _)) => Err(format!("there is no key `{key}`").into()),
            None => Ok(()),
        }
    }

    fn text(&self, key: &str) -> Fallible<Option<&str>> {
        self.get(key).map(Self::scalar).transpose()
    }

    fn scalar(&self) -> Fallible<&str> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err("a text was expected".into()),
        }
    }

    fn items(&self) -> &[Node] {
        match self {
            Self::List(items) => items,
            other => std::slice::from_ref(other),
        }
    }

    /// A list of texts as code.
    fn texts(&self) -> Fallible<String> {
        let texts = self.items().iter().map(Self::scalar).collect::<Fallible<Vec<&str>>>()?;
        Ok(format!("&{texts:?}"))
    }
}

fn document(text: &str) -> Fallible<Node> {
    let mut events = Vec::new();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, _) = event?;
        events.push(event);
    }
    let is_before = |event: &Event<'_>| matches!(event, Event::StreamStart | Event::DocumentStart(_));
    let mut events = events.into_iter().skip_while(is_before);
    node(&mut events)?.ok_or_else(|| "the list is empty".into())
}

/// The next node; nothing at the end of a list or a mapping.
fn node<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Fallible<Option<Node>> {
    Ok(Some(match events.next() {
        Some(Event::Scalar(text, ..)) => Node::Text(text.into_owned()),
        Some(Event::SequenceStart(..)) => {
            let mut items = Vec::new();
            while let Some(item) = node(events)? {
                items.push(item);
            }
            Node::List(items)
        }
        Some(Event::MappingStart(..)) => {
            let mut keys = Vec::new();
            while let Some(key) = node(events)? {
                let value = node(events)?.ok_or("a key has no value")?;
                keys.push((key.scalar()?.to_owned(), value));
            }
            Node::Map(keys)
        }
        Some(Event::SequenceEnd | Event::MappingEnd) => return Ok(None),
        other => return Err(format!("{other:?} is not expected in the list").into()),
    }))
}
