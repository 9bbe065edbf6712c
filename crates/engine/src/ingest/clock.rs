//! A time as RFC 3339 in UTC, to the millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn now() -> String {
    timestamp(SystemTime::now())
}

/// A time as events carry it: RFC 3339, UTC, to the millisecond.
#[must_use]
pub fn timestamp(time: SystemTime) -> String {
    // A clock before 1970 or far beyond us is broken; an event must still be delivered.
    let millis = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    rfc3339(u64::try_from(millis).unwrap_or(LAST).min(LAST))
}

/// The end of the year 9999: the form has no room for more.
const LAST: u64 = 253_402_300_799_999;

/// Days are counted in eras of 400 years, which all have the same length, with years that begin in March,
/// so that the leap day is the last of a year.
fn rfc3339(millis: u64) -> String {
    let seconds = millis / 1000;
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let pairs = [
        (0, year / 100),
        (2, year % 100),
        (5, month),
        (8, day),
        (11, second_of_day / 3600),
        (14, second_of_day / 60 % 60),
        (17, second_of_day % 60),
        (20, millis % 1000 / 10),
    ];
    // Every event has one of these: `format!` would take ten times as long.
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
        assert_eq!(timestamp(far), "9999-12-31T23:59:59.999Z");
        assert_eq!(timestamp(UNIX_EPOCH - std::time::Duration::from_secs(9)), "1970-01-01T00:00:00.000Z");
    }
}
