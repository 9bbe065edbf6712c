//! The escapes of `$'…'`.

/// Reads one escape after its backslash: what it means, and how many bytes it takes. `\c` and unknown letters
/// keep their backslash, as in bash.
pub(super) fn ansi_c(rest: &str) -> (String, usize) {
    let bytes = rest.as_bytes();
    let Some(&first) = bytes.first() else { return ("\\".to_owned(), 0) };
    let simple = match first {
        b'a' => Some('\u{7}'),
        b'b' => Some('\u{8}'),
        b'e' | b'E' => Some('\u{1b}'),
        b'f' => Some('\u{c}'),
        b'n' => Some('\n'),
        b'r' => Some('\r'),
        b't' => Some('\t'),
        b'v' => Some('\u{b}'),
        b'\\' | b'\'' | b'"' | b'?' => Some(char::from(first)),
        _ => None,
    };
    if let Some(c) = simple {
        return (c.to_string(), 1);
    }
    let number = |start: usize, most: usize, radix: u32| {
        let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
        let digits = bytes.get(start..).unwrap_or_default().iter().take(most).take_while(is_digit).count();
        let value = rest.get(start..start + digits).and_then(|text| u32::from_str_radix(text, radix).ok());
        value.map(|value| (value, start + digits))
    };
    // Above 7 bits these are bytes, not characters; together they do not spell the name of a program.
    let of_byte = |value: u32| char::from_u32(value & 0xff).unwrap_or('\u{fffd}').to_string();
    let found = match first {
        b'0'..=b'7' => number(0, 3, 8).map(|(value, taken)| (of_byte(value), taken)),
        b'x' => number(1, 2, 16).map(|(value, taken)| (of_byte(value), taken)),
        b'u' | b'U' => {
            let most = if first == b'u' { 4 } else { 8 };
            number(1, most, 16)
                .map(|(value, taken)| (char::from_u32(value).unwrap_or('\u{fffd}').to_string(), taken))
        }
        b'c' => {
            bytes.get(1).filter(|byte| byte.is_ascii()).map(|byte| (char::from(byte & 0x1f).to_string(), 2))
        }
        _ => None,
    };
    found.unwrap_or_else(|| {
        let c = rest.chars().next().unwrap_or('\\');
        (format!("\\{c}"), c.len_utf8())
    })
}

#[cfg(test)]
mod tests {
    use super::ansi_c;

    #[test]
    fn escapes_spell_what_bash_makes_of_them() {
        for (escape, text, taken) in [
            ("n", "\n", 1),
            ("x72m", "r", 3),
            ("162", "r", 3),
            ("u0072", "r", 5),
            ("U0000006d", "m", 9),
            ("cA", "\u{1}", 2),
            ("'", "'", 1),
            ("z", "\\z", 1),
            ("é", "\\é", 2),
            ("xzz", "\\x", 1),
            ("", "\\", 0),
        ] {
            assert_eq!(ansi_c(escape), (text.to_owned(), taken), "{escape}");
        }
    }
}
