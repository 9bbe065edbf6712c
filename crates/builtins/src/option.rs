//! Readers of options that several hooks share.

use crosier::config::BuiltinRequest;
use crosier::protocol::nearest::nearest;

/// One of these words; the error suggests the nearest.
pub(crate) fn word<T: Copy>(
    request: &mut BuiltinRequest<'_>,
    key: &str,
    words: &[(&'static str, T)],
) -> Result<Option<T>, ()> {
    if request.node(key).is_none() {
        return Ok(None);
    }
    let Some(text) = request.text(key) else { return Err(()) };
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(Some(*value));
    }
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let help = match nearest(&text, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", all.join(", ")),
    };
    request.error(key, format!("`{key}` has no value `{text}`"), help);
    Err(())
}

/// A number of bytes or characters, more than 0: `4096`, `"64KB"`, `"10MB"`.
pub(crate) fn size(request: &mut BuiltinRequest<'_>, key: &str) -> Result<Option<u64>, ()> {
    let Some(node) = request.node(key).cloned() else { return Ok(None) };
    let parsed = match (node.as_number(), node.as_text()) {
        (Some(digits), _) => digits.parse::<u64>().ok(),
        (None, Some(text)) => with_unit(text),
        _ => None,
    };
    match parsed.filter(|size| *size > 0) {
        Some(size) => Ok(Some(size)),
        None => {
            request.error(key, format!("`{key}` is not a size"), "write it like 4096, \"64KB\" or \"10MB\"");
            Err(())
        }
    }
}

fn with_unit(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A number with separators: `1234567` becomes `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("12", Some(12)),
            ("64KB", Some(65_536)),
            ("10 MiB", Some(10_485_760)),
            ("x", None),
            ("-1", None),
            ("1TB", None),
        ] {
            assert_eq!(with_unit(text), size, "{text}");
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
    }
}
