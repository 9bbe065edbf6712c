//! Code in other languages that harms the machine: it changes rights, writes to disks, or uses everything up.

/// Words that change the rights or the owner of a file.
const RIGHTS: [&str; 4] = ["chmod", "chown", "setfacl", "chflags"];

/// Bits and names that let a program run as its owner.
const OWNER_BITS: [&str; 9] =
    ["0o4", "04755", "04777", "04711", "06755", "02755", "s_isuid", "s_isgid", "u+s"];

/// Names of disks and of memory, as they begin.
const DEVICES: [&str; 16] = [
    "/dev/sd",
    "/dev/hd",
    "/dev/vd",
    "/dev/xvd",
    "/dev/nvme",
    "/dev/mmcblk",
    "/dev/disk",
    "/dev/rdisk",
    "/dev/dm-",
    "/dev/mapper/",
    "/dev/md",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "physicaldrive",
    "/dev/nbd",
];

/// Words by which a file is opened for writing.
const OPENS: [&str; 17] = [
    "'w",
    "\"w",
    "'r+",
    "\"r+",
    "'rb+",
    "\"rb+",
    "'a",
    "\"a",
    "\">",
    "'>",
    "\"+<",
    "'+<",
    "o_wronly",
    "o_rdwr",
    "write",
    "put_contents",
    "truncate(",
];

/// Loops without an end, in code without whitespace.
const LOOPS: [&str; 22] = [
    "while(true)",
    "while(1)",
    "whiletrue",
    "while1:",
    "while1{",
    "while1;",
    "for(;;)",
    "for{",
    "loop{",
    "loopdo",
    "iter(int,1)",
    "itertools.count(",
    "itertools.repeat(",
    "setinterval(",
    "untilfalse",
    "while!0",
    "while(!0)",
    "repeatuntilfalse",
    "loop(fn",
    "forever(",
    "dowhile(true)",
    "1while",
];

/// What ends such a loop, or makes it wait.
const ENDS: [&str; 14] = [
    "break",
    "return",
    "sleep",
    "yield",
    "await",
    "exit",
    "wait",
    "last",
    "stopiteration",
    "throw",
    "raise",
    "readline",
    "recv",
    "accept",
];

/// Words that start another program or thread, in code without whitespace.
const STARTS: [&str; 14] = [
    "fork",
    "spawn(",
    "popen(",
    "exec(",
    "execfile(",
    "thread.new",
    "thread(",
    "process(",
    "worker(",
    "system(",
    "os.execute(",
    "start_new_thread(",
    "gofunc",
    "proc_open(",
];

/// Words that make something longer each time, in code without whitespace.
const GROWS: [&str; 13] = [
    ".append(",
    ".push(",
    "push@",
    "+=",
    ".=",
    "<<",
    ".concat(",
    "alloc(",
    "bytearray(",
    ".write(",
    ".extend(",
    "appendfilesync(",
    "writefilesync(",
];

/// Calls that make as much of something as a number says, in code without whitespace.
const SIZED: [&str; 12] = [
    "*",
    "bytearray(",
    "alloc(",
    "allocunsafe(",
    "repeat(",
    "newarray(",
    "arraybuffer(",
    "zeros(",
    "ones(",
    "malloc(",
    "x",
    "urandom(",
];

/// Whether code changes rights; `is_kept` says whether a path is one of the system's.
pub(super) fn changes_rights(lower: &str, texts: &[String], is_kept: impl Fn(&str) -> bool) -> bool {
    if !RIGHTS.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let is_path = |text: &&str| text.starts_with(['/', '~']);
    OWNER_BITS.iter().any(|bits| lower.contains(bits))
        || texts.iter().flat_map(|text| text.split_whitespace()).filter(is_path).any(is_kept)
}

/// Whether code opens a disk for writing.
pub(super) fn writes_device(lower: &str) -> bool {
    DEVICES.iter().any(|device| lower.contains(device)) && OPENS.iter().any(|word| lower.contains(word))
}

/// Whether code starts programs, or takes memory or disk, without end. `lower` is in lowercase, and `dense` has no
/// whitespace and quotes either.
pub(super) fn uses_up(lower: &str, dense: &str) -> bool {
    // A server that answers.
    let dense = &dense.replace("serve_forever(", "").replace("run_forever(", "");
    let has = |words: &[&str]| words.iter().any(|word| dense.contains(word));
    let goes_on = has(&LOOPS) || dense.contains("forkwhile") || dense.contains("forkuntil");
    let quoted = || lower.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    (goes_on && !has(&ENDS) && (has(&STARTS) || has(&GROWS))) || takes_much(&quoted())
}

/// `'a' * 10**12`, `Buffer.alloc(1e12)`, `bytearray(100*1024**3)`
fn takes_much(dense: &str) -> bool {
    /// An allocation of this many bytes is too much: 16 GiB.
    const MUCH: f64 = (16_u64 << 30) as f64;
    const MAX: usize = 32;
    SIZED.iter().any(|mark| {
        let places = dense.match_indices(mark).take(MAX);
        let sized = places.filter(|(at, _)| repeats(mark, &dense[..*at]));
        sized
            .map(|(at, _)| &dense[at + mark.len()..])
            .any(|rest| amount(rest).is_some_and(|amount| amount >= MUCH))
    })
}

/// Whether what stands before the mark is a text or a list: `3 * 10**12` is a number, and so may be `n * 10**12`.
fn repeats(mark: &str, before: &str) -> bool {
    match mark {
        "*" => before.ends_with(['\'', '"', ']', '`']),
        "x" => !before.ends_with(|c: char| c.is_ascii_digit()),
        _ => true,
    }
}

/// The number at the beginning of a text: `10**12`, `1e12`, `1<<40`, `100*1024**3`.
fn amount(text: &str) -> Option<f64> {
    let (mut all, mut rest) = (1.0, text);
    for _ in 0..4 {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
        let number: f64 = rest[..end].replace('_', "").parse().ok()?;
        rest = &rest[end..];
        let power = |mark: &str| {
            let digits = rest.strip_prefix(mark)?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            Some((digits[..end].parse::<i32>().ok()?.min(128), &digits[end..]))
        };
        let (value, after) = match (power("**"), power("e"), power("<<")) {
            (Some((power, after)), ..) => (number.powi(power), after),
            (_, Some((power, after)), _) => (number * 10_f64.powi(power), after),
            (.., Some((power, after))) => (number * 2_f64.powi(power), after),
            _ => (number, rest),
        };
        all *= value;
        match after.strip_prefix('*').filter(|next| next.starts_with(|c: char| c.is_ascii_digit())) {
            Some(next) => rest = next,
            None => break,
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::{amount, takes_much, uses_up};

    #[test]
    fn amounts_are_read() {
        assert_eq!(amount("10**12"), Some(1e12));
        assert_eq!(amount("1e3)"), Some(1000.0));
        assert_eq!(amount("100*1024**3)"), Some(100.0 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(amount("x"), None);
    }

    #[test]
    fn endless_code_is_told_from_other_code() {
        for code in [
            "while(1){fork}",
            "for(;;)s+=s",
            "loop{a<<x*100}",
            "x='a'*10**12",
            "[0] * 10**12",
            "buffer.alloc(1e12)",
            "print \"a\" x 10**12",
        ] {
            assert!(uses_up(code, code), "{code}");
        }
        for code in [
            "while(1){if(!x)break;a.push(1)}",
            "print(2**100)",
            "print(2*2**64)",
            "wei * 10**18",
            "0x1000000000000",
            "x=a*10**6",
            "foriinx:a.append(i)",
        ] {
            assert!(!uses_up(code, code), "{code}");
        }
        assert!(!takes_much("max(1e12)"));
    }
}
