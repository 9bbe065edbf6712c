//! Answers of a worker: three numbers (the id of the request, the length, the status), then that many bytes.

use crosier_protocol::FailureKind;
use serde::Deserialize;

use super::MAX_REPLY;

/// The maximum size of an answer: a reply, or a failure with its traceback.
const MAX_BYTES: usize = MAX_REPLY + 256 * 1024;
/// An id further than this from the id of the request is not an id, but text that was printed to the channel.
const MAX_ID_DISTANCE: u64 = 1 << 32;
/// The size of the three numbers, in bytes.
const HEADER_BYTES: usize = 24;

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
    /// The reason of a denial that could not be serialized as a reply. The denial still counts.
    pub(super) deny: Option<String>,
}

/// What an answer says about the worker, in bits of its status that `worker.py` adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// It has imported a module of a hook's folder.
    pub(super) has_imported: bool,
    /// It must not be used again.
    pub(super) is_spoiled: bool,
}

impl Notes {
    const IMPORTED: u64 = 8;
    const SPOILED: u64 = 16;
}

/// Splits the bytes from a worker into responses.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    bytes: Vec<u8>,
    notes: Notes,
}

impl ResponseReader {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether no bytes are left over.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What the last response said about the worker.
    pub(super) fn take_notes(&mut self) -> Notes {
        std::mem::take(&mut self.notes)
    }

    /// The response to this request, once it is complete; an error if the worker breaks the protocol.
    pub(super) fn response(&mut self, id: u64) -> Result<Option<Response>, String> {
        let Some((header, rest)) = self.bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let [answered, length, status] = numbers(header);
        if answered.abs_diff(id) > MAX_ID_DISTANCE {
            return Err("its worker wrote something other than an answer".to_owned());
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_BYTES {
            return Err(format!("its worker announced an answer of {length} bytes"));
        }
        if answered != id {
            return Err(format!("its worker answered request {answered} instead of {id}"));
        }
        let Some(bytes) = rest.get(..length) else { return Ok(None) };
        // The status numbers that `worker.py` uses.
        let response = match status & !(Notes::IMPORTED | Notes::SPOILED) {
            3 => Response::Reply(bytes.to_vec()),
            4 => Response::Nothing,
            5 => Response::Failed(
                serde_json::from_slice(bytes)
                    .map_err(|error| format!("its worker failed and did not say why: {error}"))?,
            ),
            _ => return Err(format!("its worker answered with the status {status}, which is not known")),
        };
        self.notes =
            Notes { has_imported: status & Notes::IMPORTED != 0, is_spoiled: status & Notes::SPOILED != 0 };
        self.bytes.drain(..HEADER_BYTES + length);
        Ok(Some(response))
    }
}

fn numbers(header: &[u8; HEADER_BYTES]) -> [u64; 3] {
    let (words, _) = header.as_chunks::<8>();
    std::array::from_fn(|place| words.get(place).map_or(0, |word| u64::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(id: u64, length: u64, status: u64, bytes: &[u8]) -> Vec<u8> {
        [&id.to_le_bytes(), &length.to_le_bytes(), &status.to_le_bytes(), bytes].concat()
    }

    #[test]
    fn a_response_is_read_when_it_is_complete() {
        let whole = answer(7, 3, 3, b"{\n}");
        for cut in 0..whole.len() {
            let mut reader = ResponseReader::default();
            reader.push(&whole[..cut]);
            assert!(reader.response(7).unwrap().is_none(), "at {cut}");
            reader.push(&whole[cut..]);
            assert!(matches!(reader.response(7).unwrap(), Some(Response::Reply(bytes)) if bytes == b"{\n}"));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn responses_at_once_are_read_one_by_one() {
        let mut reader = ResponseReader::default();
        reader.push(&[answer(1, 0, 4, b""), answer(2, 2, 3, b"{}"), answer(3, 1, 3, b"")].concat());
        assert!(matches!(reader.response(1).unwrap(), Some(Response::Nothing)));
        assert!(matches!(reader.response(2).unwrap(), Some(Response::Reply(bytes)) if bytes == b"{}"));
        assert!(reader.response(3).unwrap().is_none() && !reader.is_empty());
    }

    #[test]
    fn a_response_says_what_became_of_its_worker() {
        let mut reader = ResponseReader::default();
        reader.push(&[answer(1, 0, 4 | 8 | 16, b""), answer(2, 2, 3, b"{}")].concat());
        assert!(matches!(reader.response(1).unwrap(), Some(Response::Nothing)));
        assert_eq!(reader.take_notes(), Notes { has_imported: true, is_spoiled: true });
        assert!(matches!(reader.response(2).unwrap(), Some(Response::Reply(_))));
        assert_eq!(reader.take_notes(), Notes::default());
    }

    #[test]
    fn a_foreign_id_noise_and_a_huge_length_break_the_protocol() {
        for (bytes, part) in [
            (answer(8, 0, 3, b""), "answered request 8 instead of 7"),
            (b"hello, I am a print(), and I have more to say than that".to_vec(), "other than an answer"),
            (b"[]\n                     ".to_vec(), "other than an answer"),
            (answer(8, u64::MAX, 0, b""), "announced"),
            (answer(7, 9_999_999_999, 0, b""), "announced"),
            (answer(7, u64::MAX, 0, b""), "announced"),
            (answer(7, 0, 0, b""), "the status 0"),
            (answer(7, 0, u64::MAX, b""), "which is not known"),
            (answer(7, 4, 5, b"null"), "did not say why"),
        ] {
            let mut reader = ResponseReader::default();
            reader.push(&bytes);
            assert!(reader.response(7).unwrap_err().contains(part), "{}", bytes.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut reader = ResponseReader::default();
            reader.push(&bytes);
            let _ = reader.response(1);
        }

        #[test]
        fn any_answer_is_read_or_refused(
            id in 0..3_u64, length in 0..30_u64, status in 0..7_u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..30),
        ) {
            let mut reader = ResponseReader::default();
            reader.push(&answer(id, length, status, &bytes));
            let _ = reader.response(1);
        }
    }
}
