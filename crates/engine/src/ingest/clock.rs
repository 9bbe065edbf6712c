//! Formats times as RFC 3339 in UTC, to the millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(super) fn now() -> String {
    timestamp(SystemTime::now())
}

/// A time in the format of events: RFC 3339, UTC, to the millisecond.
#[must_use]
pub fn timestamp(time: SystemTime) -> String {
    // A clock before 1970 or far in the future is wrong, but the event must still be delivered.
    let millis = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    rfc3339(u64::try_from(millis).unwrap_or(LAST).min(LAST))
}

/// The last whole second that jiff supports: it is still in the year 9999 in every time zone.
const LAST: u64 = 253_402_207_200_000;

/// jiff computes the date; the digits are written here, because every event has a timestamp and a general
/// formatter takes several times as long.
fn rfc3339(millis: u64) -> String {
    let timestamp = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let time = TimeZone::UTC.to_datetime(timestamp.unwrap_or_default());
    let number = |field: i8| u64::try_from(field).unwrap_or_default();
    let year = u64::try_from(time.year()).unwrap_or_default();
    let pairs = [
        (0, year / 100),
        (2, year % 100),
        (5, number(time.month())),
        (8, number(time.day())),
        (11, number(time.hour())),
        (14, number(time.minute())),
        (17, number(time.second())),
        (20, millis % 1000 / 10),
    ];
    let digit = |number: u64| b'0' + (number % 10) as u8;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (place, number) in pairs {
        text[place] = digit(number / 10);
        text[place + 1] = digit(number);
    }
    text[22] = digit(millis);
    String::from_utf8(text.to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_709_251_200_000), "2024-03-01T00:00:00.000Z");
        assert_eq!(rfc3339(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_794_700_800_123), "2026-11-15T00:00:00.123Z");
    }

    #[test]
    fn a_broken_clock_still_gives_a_date() {
        let far = UNIX_EPOCH + std::time::Duration::from_secs(1 << 40);
        assert_eq!(timestamp(far), "9999-12-30T22:00:00.000Z");
        assert_eq!(timestamp(UNIX_EPOCH - std::time::Duration::from_secs(9)), "1970-01-01T00:00:00.000Z");
    }
}
