//! The values that the line itself gives to its variables.
//!
//! Only values that the line assigns are known; every other variable comes from the environment and stays
//! unknown. Values are tracked in order: a subshell restores what was known before it, and
//! what only one branch assigns is a choice afterwards. Everything is bounded; a value beyond a limit is unknown.

use std::sync::Arc;

use super::parser::Parser;
use super::word::{Draft, Origin, Piece, Unknown, Word, joined};

/// More variables than this are not followed.
const MAX_NAMES: usize = 64;
/// Longer values are not followed.
const LONGEST: usize = 4 << 10;
const MAX_PIECES: usize = 32;
const MAX_WORDS: usize = 64;
/// Longer chains of names for names are not followed.
const MAX_REFERENCES: usize = 4;
/// More values of one variable than this are not told apart.
const MAX_CHOICES: usize = 32;

/// The name under which the arguments of the script or function are stored.
pub(super) const ARGUMENTS: &str = "@";

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    One(Word),
    List(Vec<Word>),
    /// The elements of an array by their keys: `declare -A`, or `[3]=x`.
    Map(Vec<(String, Word)>),
    /// Another name of this variable: `declare -n`.
    Reference(String),
}

/// The variables whose values are known. Cheap to copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables(Option<Arc<Vec<Binding>>>);

type Binding = (Arc<str>, Arc<Value>);

impl Variables {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let mut value = self.own(name)?;
        for _ in 0..MAX_REFERENCES {
            let Value::Reference(target) = value else { return Some(value) };
            value = self.own(target)?;
        }
        None
    }

    fn own(&self, name: &str) -> Option<&Value> {
        let known = self.0.as_ref()?;
        known.iter().find(|(other, _)| **other == *name).map(|(_, value)| &**value)
    }

    /// The variable that a name refers to, if it is a reference.
    fn target(&self, name: &str) -> Option<String> {
        let mut target = None;
        for _ in 0..MAX_REFERENCES {
            match self.own(target.as_deref().unwrap_or(name)) {
                Some(Value::Reference(next)) => target = Some(next.clone()),
                _ => break,
            }
        }
        target
    }

    /// Makes `name` another name of `target`.
    pub(super) fn refer(&mut self, name: &str, target: &str) {
        self.put(name, Value::Reference(target.to_owned()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|known| known.is_empty())
    }

    /// Stores a value; one that is too large is unknown from now on.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        match self.target(name) {
            Some(target) => self.put(&target, value),
            None => self.put(name, value),
        }
    }

    fn put(&mut self, name: &str, value: Value) {
        if !value.is_small() {
            return self.forget(name);
        }
        let known = Arc::make_mut(self.0.get_or_insert_default());
        let place = known.iter().position(|(other, _)| **other == *name);
        match place {
            Some(place) => known[place].1 = Arc::new(value),
            None if known.len() < MAX_NAMES => known.push((name.into(), Arc::new(value))),
            None => {}
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        let target = self.target(name);
        let name = target.as_deref().unwrap_or(name);
        if self.own(name).is_some()
            && let Some(known) = &mut self.0
        {
            Arc::make_mut(known).retain(|(other, _)| **other != *name);
        }
    }

    /// Forgets every variable whose name occurs in this text, which may change them.
    pub(super) fn forget_named(&mut self, text: &str) {
        if let Some(known) = &mut self.0
            && known.iter().any(|(name, _)| text.contains(&**name))
        {
            Arc::make_mut(known).retain(|(name, _)| !text.contains(&**name));
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
            _ => false,
        }
    }

    /// Whether a value that was known before has changed. Changes from one number to another are ignored.
    pub(super) fn changes(&self, before: &Self) -> bool {
        if self.is_same(before) {
            return false;
        }
        let known = before.0.as_deref().map(Vec::as_slice).unwrap_or_default();
        known
            .iter()
            .any(|(name, value)| self.get(name).is_some_and(|now| now != &**value && !value.is_number()))
    }

    /// What is known when either set of values may apply.
    pub(super) fn merged(&self, other: &Self) -> Self {
        if self.is_same(other) {
            return self.clone();
        }
        let none = Vec::new();
        let (mine, theirs) = (self.0.as_deref().unwrap_or(&none), other.0.as_deref().unwrap_or(&none));
        let mut all = Vec::with_capacity(mine.len().max(theirs.len()));
        for (name, value) in mine {
            match theirs.iter().find(|(other, _)| other == name) {
                Some((_, same)) if Arc::ptr_eq(value, same) || value == same => {
                    all.push((name.clone(), value.clone()));
                }
                Some((_, second)) => {
                    all.extend(value.or(second).map(|value| (name.clone(), Arc::new(value))))
                }
                None => all.extend(value.or_unknown().map(|value| (name.clone(), Arc::new(value)))),
            }
        }
        for (name, value) in theirs.iter().filter(|(name, _)| !mine.iter().any(|(other, _)| other == name)) {
            if all.len() < MAX_NAMES {
                all.extend(value.or_unknown().map(|value| (name.clone(), Arc::new(value))));
            }
        }
        Self(Some(Arc::new(all)))
    }
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::One(Word::literal(text))
    }

    /// One of these values, or another.
    pub(super) fn choice(values: Vec<Word>) -> Self {
        let from = Origin::Choice(values.into());
        Self::One(Word { pieces: vec![Piece::Unknown(Unknown { from, splits: false })], plain: 0 })
    }

    fn is_small(&self) -> bool {
        let size = |word: &Word| {
            let bytes = |piece: &Piece| if let Piece::Text(text) = piece { text.len() } else { 1 };
            word.pieces.iter().map(bytes).sum::<usize>()
        };
        match self {
            Self::One(word) => word.pieces.len() <= MAX_PIECES && size(word) <= LONGEST,
            Self::List(words) => {
                words.len() <= MAX_WORDS
                    && words.iter().all(|word| word.pieces.len() <= MAX_PIECES)
                    && words.iter().map(size).sum::<usize>() <= LONGEST
            }
            Self::Map(elements) => {
                let bytes = elements.iter().map(|(key, word)| key.len() + size(word)).sum::<usize>();
                elements.len() <= MAX_WORDS
                    && elements.iter().all(|(_, word)| word.pieces.len() <= MAX_PIECES)
                    && bytes <= LONGEST
            }
            Self::Reference(name) => name.len() <= LONGEST,
        }
    }

    /// An array of these words, some of which may be written `[key]=value`.
    pub(super) fn array(words: Vec<Word>) -> Option<Self> {
        let key_length = |word: &Word| {
            let head = word.head();
            (word.plain > 0 && head.starts_with('[')).then(|| head.find("]=")).flatten()
        };
        if !words.iter().any(|word| key_length(word).is_some()) {
            return Some(Self::List(words));
        }
        let mut elements: Vec<(String, Word)> = Vec::with_capacity(words.len());
        for word in words {
            let length = key_length(&word)?;
            let key = word.head()[1..length].to_owned();
            let value = word.after(length + 2);
            elements.retain(|(other, _)| *other != key);
            elements.push((key, Word { pieces: value.pieces, plain: 0 }));
        }
        Some(Self::Map(elements))
    }

    /// The element of an array under this key; the empty text when there is none.
    pub(super) fn element(&self, key: &str) -> Option<Word> {
        if let Self::Map(elements) = self {
            let found = elements.iter().find(|(other, _)| other == key);
            return Some(found.map(|(_, word)| word.clone()).unwrap_or_default());
        }
        let words = self.all();
        let number: i64 = key.parse().ok()?;
        let count = i64::try_from(words.len()).ok()?;
        let place = if number < 0 { number + count } else { number };
        Some(words.get(usize::try_from(place).ok()?).cloned().unwrap_or_default())
    }

    fn is_number(&self) -> bool {
        let is = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        matches!(self, Self::One(word) if word.known().is_some_and(is))
    }

    /// Its values, when it is one word.
    fn values(&self) -> Option<Vec<Word>> {
        let Self::One(word) = self else { return None };
        match word.pieces.as_slice() {
            [Piece::Unknown(Unknown { from: Origin::Choice(values), .. })] => Some(values.to_vec()),
            _ if word.choices() > 0 => None,
            _ => Some(vec![word.clone()]),
        }
    }

    fn or(&self, other: &Self) -> Option<Self> {
        let mut all = self.values()?;
        for value in other.values()? {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        (all.len() <= MAX_CHOICES).then(|| Self::choice(all))
    }

    fn or_unknown(&self) -> Option<Self> {
        self.values().map(Self::choice)
    }

    /// What `$name` is: the first of a list.
    pub(super) fn first(&self) -> Word {
        match self {
            Self::One(word) => word.clone(),
            Self::List(words) => words.first().cloned().unwrap_or_default(),
            Self::Map(_) => self.element("0").unwrap_or_default(),
            Self::Reference(_) => Word::unknown(),
        }
    }

    /// What `${name[@]}` is.
    pub(super) fn all(&self) -> Vec<Word> {
        match self {
            Self::One(word) => vec![word.clone()],
            Self::List(words) => words.clone(),
            Self::Map(elements) => elements.iter().map(|(_, word)| word.clone()).collect(),
            Self::Reference(_) => vec![Word::unknown()],
        }
    }
}

impl Parser {
    /// Puts the value of a variable into the word that is read, split into words where a shell would.
    pub(super) fn insert(&mut self, draft: &mut Draft, value: &Word, bare: bool) {
        if !self.afford(value) {
            return draft.unknown(Origin::Other, bare);
        }
        draft.quoted("");
        if !bare {
            for piece in &value.pieces {
                match piece {
                    Piece::Text(text) => draft.quoted(text),
                    // In quotes, a wildcard in a value is the character itself.
                    Piece::Many => draft.quoted("*"),
                    Piece::One => draft.quoted("?"),
                    Piece::Unknown(unknown) => draft.unknown(unknown.from.clone(), false),
                }
            }
            return;
        }
        let separators = match self.variables.get("IFS") {
            None => Some(" \t\n".to_owned()),
            Some(value) => value.first().known().map(str::to_owned),
        };
        let Some(separators) = separators else { return draft.unknown(Origin::Other, true) };
        if value.pieces.is_empty() {
            draft.split("");
        }
        for piece in &value.pieces {
            match piece {
                Piece::Text(text) => fields(draft, text, &separators),
                Piece::Unknown(unknown) => draft.unknown(unknown.from.clone(), true),
                other => draft.piece(other.clone()),
            }
        }
    }

    /// Puts several words into the one that is read: `"$@"`, `"${list[@]}"`.
    pub(super) fn insert_all(&mut self, draft: &mut Draft, words: &[Word], bare: bool) {
        if words.is_empty() {
            draft.split("");
        }
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                draft.split(" ");
            }
            self.insert(draft, word, bare);
        }
    }

    fn afford(&mut self, value: &Word) -> bool {
        let bytes = |piece: &Piece| if let Piece::Text(text) = piece { text.len() + 96 } else { 96 };
        self.has_budget(value.pieces.iter().map(bytes).sum())
    }
}

/// Splits the text of a value; its wildcards are active.
pub(super) fn fields(draft: &mut Draft, text: &str, separators: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| separators.contains(c) || matches!(c, '*' | '?')) {
        if at > 0 {
            draft.quoted(&rest[..at]);
        }
        let c = rest[at..].chars().next().unwrap_or(' ');
        match c {
            '*' if !separators.contains('*') => draft.piece(Piece::Many),
            '?' if !separators.contains('?') => draft.piece(Piece::One),
            c => draft.split(c.encode_utf8(&mut [0; 4])),
        }
        rest = &rest[at + c.len_utf8()..];
    }
    if !rest.is_empty() {
        draft.quoted(rest);
    }
}

/// The words of parts that were split.
pub(super) fn as_value(word: Word) -> Value {
    Value::One(Word { pieces: joined(word.pieces), plain: word.plain })
}
