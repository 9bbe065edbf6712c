//! Answers of a worker: a line with the number of the request, a word and a byte count, then so many bytes. A
//! reply may hold newlines, so nothing ends it but its length.

use crosier_protocol::FailureKind;
use serde::Deserialize;

use super::MAX_REPLY;

/// No answer of a worker is larger: a reply, or a failure with its traceback.
const MAX_BYTES: usize = MAX_REPLY + 256 * 1024;
/// No first line is longer: two numbers and a word.
const MAX_LINE: usize = 48;

/// What a worker answered.
#[derive(Debug)]
pub(super) enum Response {
    Reply(Vec<u8>),
    /// No opinion.
    Nothing,
    Failed(Failed),
}

/// Why there is no reply.
#[derive(Debug, Deserialize)]
pub(super) struct Failed {
    pub(super) kind: FailureKind,
    #[serde(default)]
    pub(super) detail: String,
    #[serde(default)]
    pub(super) traceback: String,
    /// The reason of a denial that could not be written as a reply: it is not lost with it.
    pub(super) deny: Option<String>,
}

/// The bytes of a worker, cut into responses.
#[derive(Debug, Default)]
pub(super) struct Reader {
    bytes: Vec<u8>,
}

impl Reader {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether nothing is left over.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The response to this request, when it is complete; an error when the worker breaks the protocol.
    pub(super) fn response(&mut self, id: u64) -> Result<Option<Response>, String> {
        let Some(end) = self.bytes.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
            return if self.bytes.len() < MAX_LINE {
                Ok(None)
            } else {
                Err("its worker wrote something else than an answer".to_owned())
            };
        };
        let (line, rest) = self.bytes.split_at(end);
        let (answered, word, length) = words(line).ok_or("its worker wrote something else than an answer")?;
        if length > MAX_BYTES {
            return Err(format!("its worker announced an answer of {length} bytes"));
        }
        if answered != id {
            return Err(format!("its worker answered request {answered} instead of {id}"));
        }
        let Some(bytes) = rest.get(1..=length) else { return Ok(None) };
        let response = match word {
            "ok" => Response::Reply(bytes.to_vec()),
            "none" => Response::Nothing,
            "failed" => Response::Failed(
                serde_json::from_slice(bytes)
                    .map_err(|error| format!("its worker failed and did not say why: {error}"))?,
            ),
            _ => return Err("its worker answered with a word that nobody knows".to_owned()),
        };
        self.bytes.drain(..=end + length);
        Ok(Some(response))
    }
}

/// The number of the request, the word for how it went, and how many bytes follow.
fn words(line: &[u8]) -> Option<(u64, &str, usize)> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let all = (words.next()?.parse().ok()?, words.next()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_response_is_read_when_it_is_complete() {
        let whole = b"7 ok 3\n{\n}";
        for cut in 0..whole.len() {
            let mut reader = Reader::default();
            reader.push(&whole[..cut]);
            assert!(reader.response(7).unwrap().is_none(), "at {cut}");
            reader.push(&whole[cut..]);
            assert!(matches!(reader.response(7).unwrap(), Some(Response::Reply(bytes)) if bytes == b"{\n}"));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn responses_at_once_are_read_one_by_one() {
        let mut reader = Reader::default();
        reader.push(b"1 none 0\n2 ok 2\n{}3 no");
        assert!(matches!(reader.response(1).unwrap(), Some(Response::Nothing)));
        assert!(matches!(reader.response(2).unwrap(), Some(Response::Reply(bytes)) if bytes == b"{}"));
        assert!(reader.response(3).unwrap().is_none() && !reader.is_empty());
    }

    #[test]
    fn a_foreign_id_noise_and_a_huge_length_break_the_protocol() {
        for (bytes, part) in [
            (&b"8 ok 0\n"[..], "instead of 7"),
            (b"hello, I am a print(), and I have more to say than that", "else than an answer"),
            (b"hello\n", "else than an answer"),
            (b"7 ok\n", "else than an answer"),
            (b"7 ok 1 2\n{", "else than an answer"),
            (b"7 ok -1\n{", "else than an answer"),
            (b"\xff ok 1\n{", "else than an answer"),
            (b"7 ok 9999999999\n", "announced"),
            (b"7 ok 18446744073709551615\n", "announced"),
            (b"7 maybe 0\n", "nobody knows"),
            (b"7 failed 4\nnull", "did not say why"),
        ] {
            let mut reader = Reader::default();
            reader.push(bytes);
            assert!(reader.response(7).unwrap_err().contains(part), "{}", bytes.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut reader = Reader::default();
            reader.push(&bytes);
            let _ = reader.response(1);
        }

        #[test]
        fn any_line_is_read_or_refused(line in "[0-9 a-z]{0,12}[ ](ok|none|failed)[ ][0-9]{1,20}\n.{0,20}") {
            let mut reader = Reader::default();
            reader.push(line.as_bytes());
            let _ = reader.response(1);
        }
    }
}
