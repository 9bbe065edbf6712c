//! Words: quotes, escapes, wildcards. Substitutions in them are read on the way.

use super::escape::ansi_c;
use super::model::DoubtKind;
use super::parser::Parser;
use super::word::{Draft, Origin, Piece, Word, assignment};

/// Bytes that mean something inside a word, or end it.
const fn is_special(byte: u8) -> bool {
    byte < b'!'
        || byte == 0x7f
        || matches!(
            byte,
            b'|' | b'&'
                | b';'
                | b'('
                | b')'
                | b'<'
                | b'>'
                | b'\\'
                | b'\''
                | b'"'
                | b'`'
                | b'$'
                | b'*'
                | b'?'
                | b'['
                | b'{'
                | b'}'
                | b','
        )
}

impl Parser {
    /// Reads a word. The draft is untouched when there is no word here.
    pub(super) fn draft(&mut self) -> Draft {
        let mut draft = Draft::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b')' | b'\r' | 0x0b | 0x0c | 0 => break,
                b'<' | b'>' => {
                    if self.ahead(1) != Some(b'(') {
                        break;
                    }
                    self.at += 2;
                    let commands = self.until_paren();
                    draft.unknown(Origin::Process(commands), false);
                }
                b'(' => {
                    // `name=(…)` is an array; anywhere else a word ends here.
                    let array = draft.plain_text().is_some_and(|text| assignment(text) == Some(text.len()));
                    if !array {
                        if self.extended_glob(&mut draft) {
                            continue;
                        }
                        break;
                    }
                    self.at += 1;
                    let mut words = Vec::new();
                    self.deeper(|parser| parser.array(&mut words));
                    draft.array = Some(words);
                    draft.unknown(Origin::Other, true);
                }
                b'\\' => self.backslash(&mut draft),
                b'\'' => {
                    self.at += 1;
                    self.single(&mut draft);
                }
                b'"' => {
                    self.at += 1;
                    draft.quoted("");
                    self.double(&mut draft);
                }
                b'`' => self.backquote(&mut draft, true),
                b'$' => self.dollar(&mut draft, true),
                b'*' => self.one(&mut draft, Piece::Many),
                b'?' => self.one(&mut draft, Piece::One),
                b'[' => self.bracket(&mut draft),
                b'{' => self.mark(&mut draft, '{'),
                b'}' => self.mark(&mut draft, '}'),
                b',' if draft.open > 0 => self.mark(&mut draft, ','),
                byte if byte < b' ' || byte == 0x7f => {
                    self.doubt("it contains a control character");
                    self.take(&mut draft, 1);
                }
                _ => self.run(&mut draft),
            }
        }
        draft
    }

    /// `!(a|b)`, `@(…)`, `?(…)`, `*(…)`, `+(…)`: a pattern of bash. Substitutions in it are read.
    fn extended_glob(&mut self, draft: &mut Draft) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)).copied();
        if draft.is_untouched() || !matches!(before, Some(b'!' | b'@' | b'?' | b'*' | b'+')) {
            return false;
        }
        let rest = &self.text.as_bytes()[self.at..];
        let end = rest
            .iter()
            .take(256)
            .position(|byte| matches!(byte, b')' | b'$' | b'`' | b';' | b'&' | b' ' | b'\n'));
        let Some(end) = end.filter(|end| rest[*end] == b')') else { return false };
        // The `!`, `@`, … before it is not part of the name.
        if let Some(super::word::Fragment::Piece(Piece::Text(text))) = draft.parts.last_mut() {
            text.pop();
        }
        draft.piece(Piece::Many);
        self.at += end + 1;
        true
    }

    fn one(&mut self, draft: &mut Draft, piece: Piece) {
        self.at += 1;
        draft.piece(piece);
    }

    fn mark(&mut self, draft: &mut Draft, mark: char) {
        self.at += 1;
        draft.mark(mark);
    }

    fn take(&mut self, draft: &mut Draft, bytes: usize) {
        draft.plain(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
    }

    /// Ordinary characters up to the next special one.
    fn run(&mut self, draft: &mut Draft) {
        let rest = &self.text[self.at..];
        let length = rest.bytes().skip(1).position(is_special).map_or(rest.len(), |length| length + 1);
        let run = &rest[..length];
        let hidden = !run.is_ascii() && run.chars().any(|c| c.is_whitespace() || is_invisible(c));
        if hidden {
            self.script.doubt(DoubtKind::Form, "it contains an invisible character or an unusual space");
        }
        draft.plain(run);
        self.at += length;
    }

    fn backslash(&mut self, draft: &mut Draft) {
        self.at += 1;
        match self.next_char() {
            None => {
                // Half of a line that goes on: what is there is read, and what would follow changes nothing.
                self.script.doubt(DoubtKind::Value, "it ends with a backslash");
                draft.quoted("\\");
            }
            Some('\n') => self.at += 1,
            Some(c) => {
                draft.quoted(c.encode_utf8(&mut [0; 4]));
                self.at += c.len_utf8();
            }
        }
    }

    /// Reads what follows a `'`.
    fn single(&mut self, draft: &mut Draft) {
        let rest = &self.text[self.at..];
        let end = rest.find('\'');
        let inside = &rest[..end.unwrap_or(rest.len())];
        let length = inside.len();
        let turned = !inside.is_ascii() && inside.chars().any(turns_text);
        draft.quoted(inside);
        self.at += length + usize::from(end.is_some());
        if end.is_none() {
            self.doubt("a ' is never closed");
        }
        if turned {
            self.doubt(TURNED);
        }
    }

    /// Reads what follows a `"`, up to the one that closes it.
    pub(super) fn double(&mut self, draft: &mut Draft) {
        self.within(draft, Some(b'"'));
        if !self.eat("\"") {
            self.doubt("a \" is never closed");
        }
    }

    /// Reads text in which only `$`, backquotes and backslashes mean something, up to `end`.
    fn within(&mut self, draft: &mut Draft, end: Option<u8>) {
        while let Some(byte) = self.peek() {
            match byte {
                byte if Some(byte) == end => break,
                b'\\' => {
                    let next = self.ahead(1);
                    match next {
                        Some(b'\n') => {}
                        Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => {
                            draft.quoted(char::from(byte).encode_utf8(&mut [0; 4]));
                        }
                        _ => draft.quoted("\\"),
                    }
                    let both = matches!(next, Some(b'\n' | b'$' | b'`' | b'"' | b'\\'));
                    self.at += 1 + usize::from(both);
                }
                b'`' => self.backquote(draft, false),
                b'$' => self.dollar(draft, false),
                _ => {
                    let rest = &self.text[self.at..];
                    let stops = |byte: u8| matches!(byte, b'\\' | b'`' | b'$') || Some(byte) == end;
                    let length = rest.bytes().position(stops).unwrap_or(rest.len());
                    let run = &rest[..length];
                    let turned = !run.is_ascii() && run.chars().any(turns_text);
                    draft.quoted(run);
                    self.at += length;
                    if turned {
                        self.doubt(TURNED);
                    }
                }
            }
        }
    }

    /// Reads the substitutions in the text of a here-document.
    pub(super) fn expansions(&mut self, draft: &mut Draft) {
        self.within(draft, None);
    }

    /// Reads what follows a `$'`.
    pub(super) fn ansi_c(&mut self, draft: &mut Draft) {
        draft.quoted("");
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = rest.bytes().position(|byte| byte == b'\'' || byte == b'\\') else {
                draft.quoted(rest);
                self.at = self.text.len();
                return self.doubt("a $' is never closed");
            };
            draft.quoted(&rest[..length]);
            let closes = rest.as_bytes()[length] == b'\'';
            self.at += length + 1;
            if closes {
                return;
            }
            let (text, taken) = ansi_c(self.rest());
            self.at += taken;
            // In bash, a NUL ends the text and drops the rest of it.
            if text == "\0" && self.peek() == Some(b'\'') {
                continue;
            }
            if text.contains(['\0', '\u{fffd}']) {
                self.doubt("an escape in $'…' is not valid");
            }
            draft.quoted(&text);
        }
    }

    /// `[…]` is a class of characters when it is closed within the word; else the character itself. In
    /// `name[…]=` it is neither.
    fn bracket(&mut self, draft: &mut Draft) {
        let rest = &self.text.as_bytes()[self.at..];
        let stops = |byte: &u8| *byte == b']' || (is_special(*byte) && *byte != b'[');
        let first = rest.get(1).is_some_and(|byte| !is_special(*byte) || *byte == b'[');
        let end = rest.iter().take(64).skip(2).position(stops).map(|at| at + 2);
        let end = end.filter(|at| first && rest.get(*at) == Some(&b']'));
        match end {
            Some(end) if !matches!(rest.get(end + 1), Some(b'=' | b'+')) => {
                draft.piece(Piece::One);
                self.at += end + 1;
            }
            Some(end) => self.take(draft, end + 1),
            None => self.take(draft, 1),
        }
    }

    /// Reads an array after its `(`.
    fn array(&mut self, words: &mut Vec<Word>) {
        loop {
            self.breaks();
            match self.peek() {
                None => return self.doubt("a ( is never closed"),
                Some(b')') => {
                    self.at += 1;
                    return;
                }
                Some(_) => {
                    let draft = self.draft();
                    if draft.is_untouched() {
                        self.doubt("an array has a syntax error");
                        self.at += 1;
                    } else {
                        self.words_of(draft, words);
                    }
                }
            }
        }
    }
}

const TURNED: &str = "it contains a character that changes the direction of text";

/// Characters that change the order in which the others are shown.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Invisible characters.
fn is_invisible(c: char) -> bool {
    turns_text(c)
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
