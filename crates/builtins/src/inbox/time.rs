//! RFC 3339 → a point in time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Reads `2026-11-15T21:45:11Z`, with a fraction or an offset. Nothing before 1970 is accepted.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let time = SystemTime::from(text.parse::<jiff::Timestamp>().ok()?);
    (time >= UNIX_EPOCH).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let seconds = |text: &str| parse(text).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs());
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T00:00:00.5Z"), Some(951_782_400));
        assert_eq!(seconds("2026-11-15T01:00:00+01:00"), Some(1_794_700_800));
        for bad in [
            "",
            "2026-11-15",
            "2026-13-01T00:00:00Z",
            "2026-11-15T00:00:00",
            "tomorrow",
            "2026-11-15T00:00:00+1",
            "2026-02-31T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2100-02-29T12:00:00Z",
            "2026-04-31T00:00:00+02:00",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
