//! Decodes obfuscated texts: base64, hex, swapped letters.

/// Longer texts are not decoded.
const LONGEST: usize = 16 << 10;

/// The text that base64 encodes; none when it is not UTF-8 text.
pub(in crate::shell) fn base64(text: &str) -> Option<String> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    bits(text, 6, digit)
}

/// The text that base32 encodes.
pub(in crate::shell) fn base32(text: &str) -> Option<String> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    };
    bits(text, 5, digit)
}

/// The text that hexadecimal digits encode.
pub(in crate::shell) fn hex(text: &str) -> Option<String> {
    bits(text, 4, |byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
}

fn bits(text: &str, width: u32, digit: impl Fn(u8) -> Option<u8>) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let (mut bytes, mut buffer, mut filled) = (Vec::with_capacity(text.len()), 0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            break;
        }
        buffer = (buffer << width) | u32::from(digit(byte)?);
        filled += width;
        if filled >= 8 {
            filled -= 8;
            bytes.push(u8::try_from((buffer >> filled) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The characters of a set of `tr`: `a-z`, `xyz`; none for anything more complicated.
pub(in crate::shell) fn set(text: &str) -> Option<Vec<char>> {
    if text.contains(['[', '\\']) {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&to)) if c <= to && u32::from(to) - u32::from(c) < 256 => {
                all.extend(c..=to);
                at += 3;
            }
            _ => {
                all.push(c);
                at += 1;
            }
        }
    }
    Some(all)
}

/// What `s/a/b/` of `sed` makes of a text, when both are plain.
pub(in crate::shell) fn substituted(script: &str, text: &str) -> Option<String> {
    let mut chars = script.strip_prefix('s')?.chars();
    let mark = chars.next().filter(|c| !c.is_alphanumeric() && *c != '\\')?;
    let parts: Vec<&str> = chars.as_str().split(mark).collect();
    let [from, to, flags] = parts.as_slice() else { return None };
    let is_plain =
        !from.is_empty() && !from.contains(['\\', '.', '*', '[', '^', '$']) && !to.contains(['\\', '&']);
    match (is_plain, *flags) {
        (true, "") => Some(text.replacen(from, to, 1)),
        (true, "g") => Some(text.replace(from, to)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_texts_are_read() {
        assert_eq!(base64("cm0gLXJmIC8=\n").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("/w=="), None);
        assert_eq!(base32("OJWSALLSMYQC6===").as_deref(), Some("rm -rf /"));
        assert_eq!(hex("726d202d7266202f").as_deref(), Some("rm -rf /"));
        assert_eq!(set("a-cx"), Some(vec!['a', 'b', 'c', 'x']));
        assert_eq!(substituted("s/X/m/g", "rX").as_deref(), Some("rm"));
        assert_eq!(substituted("s/./m/g", "rX"), None);
    }
}
