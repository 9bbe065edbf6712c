//! One word of a command: what is known of it, piece by piece.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A part of a word, without quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Exactly these characters.
    Text(String),
    /// `*` outside quotes: any characters of a file name.
    Many,
    /// `?` or `[…]` outside quotes: one character of a file name.
    One,
    /// Something that is known only when the line runs.
    Unknown(Unknown),
}

/// A value that is known only when the line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Where it comes from.
    pub from: Origin,
    /// Whether it can become several words, or none: it is outside quotes.
    pub splits: bool,
}

/// Where an unknown value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A plain `$NAME`.
    Variable(Box<str>),
    /// `$(…)` or backquotes, with the commands in it.
    Output(Range<usize>),
    /// `<(…)` or `>(…)`, with the commands in it.
    Process(Range<usize>),
    /// One of these values, or another one: the variable of a loop, what a branch assigned. Commands with such a
    /// word are in the script once more for each of the values.
    Choice(Arc<[Word]>),
    /// Arithmetic, `${name#…}`, arrays and the like.
    Other,
}

/// One word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    pub(super) pieces: Vec<Piece>,
    /// How many bytes at its start are text that was written without quotes.
    pub(super) plain: usize,
}

impl Word {
    /// A word of exactly this text, as if it had been quoted.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())], plain: 0 }
    }

    /// A word of these pieces.
    pub(super) fn of_pieces(pieces: Vec<Piece>) -> Self {
        Self { pieces, plain: 0 }
    }

    /// A word of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        let unknown = Unknown { from: Origin::Other, splits: true };
        Self { pieces: vec![Piece::Unknown(unknown)], plain: 0 }
    }

    /// Its parts.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The whole word, when all of it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text that it begins with.
    #[must_use]
    pub fn head(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether it was written without quotes and is known.
    pub(super) fn is_plain(&self) -> bool {
        self.known().is_some_and(|text| text.len() == self.plain)
    }

    /// Whether it begins with an unquoted `~`.
    #[must_use]
    pub fn has_tilde(&self) -> bool {
        self.plain > 0 && self.head().starts_with('~')
    }

    /// Whether it can become several words, or none.
    #[must_use]
    pub fn may_split(&self) -> bool {
        self.unknowns().any(|unknown| unknown.splits)
    }

    /// Whether it has `*`, `?` or `[…]` outside quotes.
    #[must_use]
    pub fn has_wildcard(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Many | Piece::One))
    }

    /// Whether everything in it comes from the line: no variable of the environment, no output of a
    /// program. Wildcards are allowed.
    #[must_use]
    pub fn is_known_pattern(&self) -> bool {
        self.unknowns().next().is_none()
    }

    /// The same word with the value of this index in place of every choice.
    pub(super) fn chosen(&self, number: usize) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            match piece {
                Piece::Unknown(Unknown { from: Origin::Choice(values), .. }) if !values.is_empty() => {
                    pieces.extend(values[number % values.len()].pieces.iter().cloned());
                }
                other => pieces.push(other.clone()),
            }
        }
        Self { pieces: joined(pieces), plain: 0 }
    }

    /// The largest number of values of a choice in it.
    pub(super) fn choices(&self) -> usize {
        let count = |unknown: &Unknown| match &unknown.from {
            Origin::Choice(values) => values.len(),
            _ => 0,
        };
        self.unknowns().map(count).max().unwrap_or(0)
    }

    /// The same word, with this origin for its unknown parts.
    pub(super) fn coming_from(mut self, origin: &Origin) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Unknown(Unknown { from: from @ Origin::Other, .. }) = piece {
                *from = origin.clone();
            }
        }
        self
    }

    /// Its unknown parts.
    pub fn unknowns(&self) -> impl Iterator<Item = &Unknown> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Unknown(unknown) => Some(unknown),
            _ => None,
        })
    }

    /// The word for display and as code: unknown parts as variables, wildcards as they were.
    #[must_use]
    pub fn show(&self) -> Cow<'_, str> {
        if let Some(text) = self.known() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => shown.push_str(text),
                Piece::Many => shown.push('*'),
                Piece::One => shown.push('?'),
                Piece::Unknown(Unknown { from: Origin::Variable(name), .. }) => {
                    shown.push_str("${");
                    shown.push_str(name);
                    shown.push('}');
                }
                Piece::Unknown(_) => shown.push_str("$_"),
            }
        }
        Cow::Owned(shown)
    }

    /// The word after its first `bytes` of text: the value of `name=value`.
    #[must_use]
    pub fn after(&self, bytes: usize) -> Self {
        let mut pieces = self.pieces.clone();
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            *text = text.get(bytes..).unwrap_or_default().to_owned();
            if text.is_empty() {
                pieces.remove(0);
            }
        }
        Self { pieces, plain: self.plain.saturating_sub(bytes) }
    }

    /// The same word with every placeholder `mark` replaced by something unknown, as `find` and `xargs` do.
    pub(super) fn filled(&self, mark: &str) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) if !mark.is_empty() && text.contains(mark) => {
                    for (index, part) in text.split(mark).enumerate() {
                        if index > 0 {
                            pieces.push(Piece::Unknown(Unknown { from: Origin::Other, splits: false }));
                        }
                        if !part.is_empty() {
                            pieces.push(Piece::Text(part.to_owned()));
                        }
                    }
                }
                other => pieces.push(other.clone()),
            }
        }
        Self { pieces, plain: 0 }
    }
}

/// A word that is being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) parts: Vec<Fragment>,
    pub(super) plain: usize,
    /// Whether nothing but unquoted text was read so far.
    all_plain: bool,
    /// How many `{` are open, for the commas.
    pub(super) open: usize,
    pub(super) marks: usize,
    /// Whether a value in it is several words.
    pub(super) breaks: bool,
    /// The words of `name=(…)`, when they are all known.
    pub(super) array: Option<Vec<Word>>,
}

/// A piece, or something between pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fragment {
    Piece(Piece),
    /// A mark of brace expansion: `{`, `,` or `}` outside quotes.
    Mark(char),
    /// Where the value of a variable is split into words; with the blanks at that point.
    Break(String),
}

impl Draft {
    pub(super) fn new() -> Self {
        Self { all_plain: true, ..Self::default() }
    }

    /// Whether nothing was read yet, not even quotes.
    pub(super) fn is_untouched(&self) -> bool {
        self.parts.is_empty() && self.all_plain
    }

    pub(super) fn plain(&mut self, text: &str) {
        if self.all_plain {
            self.plain += text.len();
        }
        self.text(text);
    }

    pub(super) fn quoted(&mut self, text: &str) {
        self.all_plain = false;
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Fragment::Piece(Piece::Text(before))) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => {
                // Most words have one part.
                if self.parts.is_empty() {
                    self.parts.reserve_exact(1);
                }
                self.parts.push(Fragment::Piece(Piece::Text(text.to_owned())));
            }
        }
    }

    pub(super) fn mark(&mut self, mark: char) {
        if self.all_plain {
            self.plain += 1;
        }
        match mark {
            '{' => self.open += 1,
            '}' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.marks += 1;
        self.parts.push(Fragment::Mark(mark));
    }

    pub(super) fn split(&mut self, blanks: &str) {
        self.all_plain = false;
        self.breaks = true;
        self.parts.push(Fragment::Break(blanks.to_owned()));
    }

    pub(super) fn piece(&mut self, piece: Piece) {
        self.all_plain = false;
        self.parts.push(Fragment::Piece(piece));
    }

    pub(super) fn unknown(&mut self, from: Origin, splits: bool) {
        self.piece(Piece::Unknown(Unknown { from, splits }));
    }

    /// The text so far, when it is nothing but unquoted text.
    pub(super) fn plain_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] if self.all_plain => Some(""),
            [Fragment::Piece(Piece::Text(text))] if self.all_plain => Some(text),
            _ => None,
        }
    }

    /// The word without brace expansion.
    pub(super) fn finish(self) -> Word {
        Word { pieces: merged(self.parts), plain: self.plain }
    }
}

/// Turns marks without a meaning into text.
pub(super) fn merged(parts: Vec<Fragment>) -> Vec<Piece> {
    // Most words are one text; what there is can be used as it is.
    if let [Fragment::Piece(_)] = parts.as_slice() {
        let piece = |part| if let Fragment::Piece(piece) = part { Some(piece) } else { None };
        return parts.into_iter().filter_map(piece).collect();
    }
    let mut pieces: Vec<Piece> = Vec::with_capacity(parts.len());
    for part in parts {
        let text = match part {
            Fragment::Piece(Piece::Text(text)) => text,
            Fragment::Mark(mark) => mark.to_string(),
            Fragment::Break(blanks) if blanks.is_empty() => continue,
            Fragment::Break(blanks) => blanks,
            Fragment::Piece(other) => {
                pieces.push(other);
                continue;
            }
        };
        match pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(&text),
            _ => pieces.push(Piece::Text(text)),
        }
    }
    pieces
}

/// Joins adjacent texts.
pub(super) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.len() < 2 {
        return pieces;
    }
    merged(pieces.into_iter().map(Fragment::Piece).collect())
}

/// The length of `NAME=` or `NAME+=` (or `NAME[…]=`) at the start of a text.
pub(super) fn assignment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if name == 0 || bytes[0].is_ascii_digit() {
        return None;
    }
    let mut at = name;
    if bytes.get(at) == Some(&b'[') {
        at += bytes[at..].iter().position(|byte| *byte == b']')? + 1;
    }
    if bytes.get(at) == Some(&b'+') {
        at += 1;
    }
    (bytes.get(at) == Some(&b'=')).then_some(at + 1)
}
