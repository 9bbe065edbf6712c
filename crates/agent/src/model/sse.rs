//! Decodes server-sent events from bytes that may be split anywhere.
//!
//! As in the standard: lines end with `\n`, `\r` or `\r\n`; an empty line ends an event; lines of `data` are
//! joined; comments and unknown fields are skipped; an incomplete event at the end is dropped. Where the
//! bytes were split never matters. Unlike in a browser, bytes that are not UTF-8 are an error, and so is an event that
//! never ends: an answer must be complete.

/// The largest event.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its kind; empty when it has none.
    pub(super) name: String,
    /// Its lines of data.
    pub(super) data: String,
}

/// Why there are no more events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SseError {
    #[error("it contains bytes that are not UTF-8")]
    NotUtf8,
    #[error("one event is larger than {EVENT_LIMIT} bytes")]
    TooLarge,
}

/// Decodes events; keeps the bytes of an incomplete one.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// Whether the last byte was `\r`: then a following `\n` belongs to it.
    after_return: bool,
    /// Whether the first line was read, which may begin with a byte order mark.
    past_first_line: bool,
}

impl Decoder {
    /// Decodes bytes and adds the events that are now complete, including those before an error.
    pub(super) fn feed(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), SseError> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, ended) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + part.len() + self.data.as_ref().map_or(0, String::len) > EVENT_LIMIT {
                return Err(SseError::TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some((end, rest)) = ended.split_first() else { return Ok(()) };
            self.after_return = *end == b'\r';
            bytes = rest;
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, events)?;
            // Reuse the allocation.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<Event>) -> Result<(), SseError> {
        let is_first = !std::mem::replace(&mut self.past_first_line, true);
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            events.extend(self.data.take().map(|data| Event { name, data }));
            return Ok(());
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).map_err(|_| SseError::NotUtf8);
        match field {
            b"event" => text()?.clone_into(&mut self.name),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(text()?);
                }
                None => self.data = Some(text()?.to_owned()),
            },
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes bytes that arrive in these pieces.
    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Result<(), SseError>) {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        let result = pieces.into_iter().try_for_each(|piece| decoder.feed(piece, &mut events));
        (events, result)
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.into(), data: data.into() }
    }

    #[test]
    fn the_standard_is_kept() {
        let text = "\u{feff}: hello\nevent: a\ndata: 1\ndata:2\n\n\
            data\n\nevent: lost\n\nid: 7\nretry: x\nunknown: y\ndata:  two spaces\r\r\n\
            data: {}\r\ndata: cut";
        let (events, result) = decode([text.as_bytes()]);
        let expected = [event("a", "1\n2"), event("", ""), event("", " two spaces")];
        assert_eq!((events.as_slice(), result), (&expected[..], Ok(())));
    }

    #[test]
    fn what_is_not_text_is_an_error_after_what_came_before() {
        let (events, result) = decode([&b"data: 1\n\ndata: \xff\n\ndata: 2\n\n"[..]]);
        assert_eq!((events, result), (vec![event("", "1")], Err(SseError::NotUtf8)));
        // In a comment it does not matter.
        assert_eq!(decode([&b": \xff\ndata: 1\n\n"[..]]), (vec![event("", "1")], Ok(())));
    }

    #[test]
    fn an_event_that_never_ends_is_an_error() {
        let line = [b'x'; 64 * 1024];
        let endless = std::iter::repeat_n(&line[..], EVENT_LIMIT / line.len() + 1);
        assert_eq!(decode(endless).1, Err(SseError::TooLarge));
        let lines = [&b"data: "[..], &line[..], &b"\n"[..]].into_iter().cycle().take(EVENT_LIMIT / 1024);
        assert_eq!(decode(lines).1, Err(SseError::TooLarge));
    }

    /// Mostly bytes with a meaning, so that random inputs reach the edge cases.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(&b"data: "[..]),
            Just(&b"data:x"[..]),
            Just(&b"event: e"[..]),
            Just(&b": c"[..]),
            Just(&b"\n"[..]),
            Just(&b"\r"[..]),
            Just(&b"\r\n"[..]),
            Just("\u{e4}\u{1f600}".as_bytes()),
            Just("\u{feff}".as_bytes()),
            Just(&b"\xff"[..]),
        ];
        let noise = prop::collection::vec(any::<u8>(), 0..64);
        prop_oneof![4 => prop::collection::vec(piece, 0..40).prop_map(|all| all.concat()), 1 => noise]
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_does_not_matter(
            bytes in bytes(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let ends = cuts.iter().copied().chain([bytes.len()]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let pieces = starts.zip(ends).map(|(start, end)| &bytes[start..end]);
            let whole = decode([bytes.as_slice()]);
            prop_assert_eq!(decode(pieces), whole.clone());
            prop_assert_eq!(decode(bytes.chunks(1)), whole);
        }
    }
}
