//! Frames: a byte count in decimal, a newline, so many bytes. JSON may hold newlines, so nothing ends a frame
//! but its length.

use crosier_protocol::FailureKind;
use serde::Deserialize;

use super::MAX_REPLY;

/// No frame of a worker is larger: a reply, or a failure with its traceback.
const MAX_FRAME: usize = MAX_REPLY + 256 * 1024;

/// Appends a frame.
pub(super) fn push(out: &mut Vec<u8>, payload: &[u8]) {
    push_length(out, payload.len());
    out.extend_from_slice(payload);
}

/// Appends the beginning of a frame whose payload follows.
pub(super) fn push_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(length.to_string().as_bytes());
    out.push(b'\n');
}

/// What a worker answered.
#[derive(Debug)]
pub(super) enum Response {
    Reply(Vec<u8>),
    /// No opinion.
    Nothing,
    Failed {
        kind: FailureKind,
        detail: String,
        traceback: String,
        /// The reason of a denial that could not be written as a reply: it is not lost with it.
        deny: Option<String>,
    },
}

#[derive(Deserialize)]
struct Header {
    id: u64,
    status: Status,
    kind: Option<FailureKind>,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    traceback: String,
    deny: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    None,
    Failed,
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
        let Some((header_bytes, after)) = frame(&self.bytes, 0)? else { return Ok(None) };
        let header: Header = serde_json::from_slice(header_bytes)
            .map_err(|error| format!("its worker answered something else than a header: {error}"))?;
        if header.id != id {
            return Err(format!("its worker answered request {} instead of {id}", header.id));
        }
        let (response, after) = match header.status {
            Status::None => (Response::Nothing, after),
            Status::Failed => {
                let kind = header.kind.unwrap_or(FailureKind::Error);
                let Header { detail, traceback, deny, .. } = header;
                (Response::Failed { kind, detail, traceback, deny }, after)
            }
            Status::Ok => match frame(&self.bytes, after)? {
                None => return Ok(None),
                Some((reply, after)) => (Response::Reply(reply.to_vec()), after),
            },
        };
        self.bytes.drain(..after);
        Ok(Some(response))
    }
}

/// The payload of the frame that begins here, and where the next one does.
fn frame(bytes: &[u8], start: usize) -> Result<Option<(&[u8], usize)>, String> {
    let rest = bytes.get(start..).unwrap_or_default();
    // Ten digits are more than any frame has.
    let Some(digits) = rest.iter().take(11).position(|&byte| byte == b'\n') else {
        return if rest.len() > 10 {
            Err("its worker wrote something else than a frame".to_owned())
        } else {
            Ok(None)
        };
    };
    let length =
        rest.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<usize>().ok());
    let length = length.ok_or("its worker wrote something else than the length of a frame")?;
    if length > MAX_FRAME {
        return Err(format!("its worker announced a frame of {length} bytes"));
    }
    let begin = digits + 1;
    Ok(rest.get(begin..begin + length).map(|payload| (payload, start + begin + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_response_is_read_when_it_is_complete() {
        let mut whole = Vec::new();
        push(&mut whole, br#"{"id":7,"status":"ok"}"#);
        push(&mut whole, b"{\n}");
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
    fn a_foreign_id_noise_and_a_huge_length_break_the_protocol() {
        for (bytes, part) in [
            (&b"22\n{\"id\":8,\"status\":\"ok\"}"[..], "instead of 7"),
            (b"hello, I am a print()", "else than a frame"),
            (b"x1\n{", "length of a frame"),
            (b"9999999999\n", "announced"),
            (b"4\nnull", "else than a header"),
        ] {
            let mut reader = Reader::default();
            reader.push(bytes);
            assert!(reader.response(7).unwrap_err().contains(part));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut reader = Reader::default();
            reader.push(&bytes);
            let _ = reader.response(1);
        }
    }
}
