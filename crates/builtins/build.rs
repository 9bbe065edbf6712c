//! Turns `commands.yaml`, the list of block-commands, into tables of Rust: a program that is started for every event
//! of an agent has no time to read YAML.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use saphyr_parser::{Event, Parser};

const LIST: &str = "src/block_commands/commands.yaml";
/// Keys whose value is one text; `decision` and `special` are names of variants.
const TEXTS: [&str; 5] = ["id", "reason", "instead", "stops", "passes"];
/// Keys whose value is a list of texts, or one text.
const LISTS: [&str; 9] =
    ["programs", "words", "targets", "operands", "text", "reads", "writes", "from", "except"];
/// Keys whose value is a list of such lists.
const GROUPS: [&str; 2] = ["flags", "unless"];

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    writeln!(std::io::stdout(), "cargo::rerun-if-changed={LIST}")?;
    let text = std::fs::read_to_string(LIST)?;
    let list = document(&text)?;
    let Node::Map(keys) = &list else { return Err("the list is a mapping".into()) };
    let places = keys.iter().find(|(key, _)| key == "places").map(|(_, value)| value);
    let commands = keys.iter().find(|(key, _)| key == "commands").map(|(_, value)| value);
    let (Some(places), Some(Node::List(commands)), 2) = (places, commands, keys.len()) else {
        return Err("the list has the keys `places` and `commands`, and no other".into());
    };
    let mut code = format!("pub(super) static PLACES: &[&str] = {};\n", places.texts()?);
    write!(code, "pub(super) static WRITTEN: &[Written<'static>] = &[")?;
    for command in commands {
        code.push_str(&written(command)?);
    }
    code.push_str("];\n");
    code.push_str(&index(commands)?);
    #[expect(clippy::disallowed_methods, reason = "cargo tells a build script its folder by this variable")]
    let folder = std::env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("commands.rs"), code)?;
    Ok(())
}

/// One entry as a literal of `Written`.
fn written(command: &Node) -> Fallible<String> {
    let Node::Map(keys) = command else { return Err("a command is a mapping".into()) };
    let known = |key: &str| {
        TEXTS.contains(&key) || LISTS.contains(&key) || GROUPS.contains(&key) || key == "decision" || key == "special"
    };
    if let Some((key, _)) = keys.iter().find(|(key, _)| !known(key)) {
        return Err(format!("a command has no key `{key}`").into());
    }
    let mut code = String::from("Written {");
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
    writeln!(code, "decision: Decision::{decision}, special: {special} }},")?;
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
    let names: Vec<String> = names.iter().map(|(name, numbers)| format!("({name:?}, &{numbers:?})")).collect();
    Ok(format!(
        "pub(super) static NAMES: &[(&str, &[usize])] = &[{}];\n\
         pub(super) static GLOBS: &[(&str, usize)] = &{globs:?};\n\
         pub(super) static OTHERS: &[usize] = &{others:?};\n\
         pub(super) static UNKNOWN: &[usize] = &{unknown:?};\n",
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
    let mut events = events.into_iter().skip_while(|event| !matches!(event, Event::MappingStart(..)));
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
