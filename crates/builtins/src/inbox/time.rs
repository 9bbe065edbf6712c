//! RFC 3339 → a point in time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads `2026-11-15T21:45:11Z`, with a fraction or an offset.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let at = |place: usize, marks: &[u8]| bytes.get(place).is_some_and(|byte| marks.contains(byte));
    if !(at(4, b"-") && at(7, b"-") && at(10, b"Tt ") && at(13, b":") && at(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let digits =
        rest.strip_prefix('.').map_or(0, |rest| 1 + rest.bytes().take_while(u8::is_ascii_digit).count());
    let offset = match rest.get(digits..)? {
        "Z" | "z" => 0,
        zone => {
            let sign = match zone.as_bytes().first()? {
                b'+' => 1,
                b'-' => -1,
                _ => return None,
            };
            let part = |range: std::ops::Range<usize>| zone.get(range)?.parse::<i64>().ok();
            if zone.len() != 6 || zone.as_bytes().get(3) != Some(&b':') {
                return None;
            }
            sign * (part(1..3)? * 3600 + part(4..6)? * 60)
        }
    };
    // Years begin in March here, so that the leap day is the last of one.
    let shifted = year - i64::from(month <= 2);
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
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
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
