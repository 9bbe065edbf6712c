//! Reads `1h`, `2d` or `2026-11-17` as a point in time.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceError(String);

impl std::fmt::Display for SinceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` is not a time: write 30s, 15m, 1h, 2d or 1w, a date like 2026-11-17, or a time like 2026-11-17T08:30",
            self.0
        )
    }
}

impl std::error::Error for SinceError {}

/// The time that a text names, by this clock and in this time zone.
///
/// # Errors
/// When the text is not a time.
pub fn since(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, SinceError> {
    let text = text.trim();
    let wrong = || SinceError(text.chars().take(60).collect());
    let here = |time: DateTime| zone.to_timestamp(time).map_err(|_| wrong());
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return here(time);
    }
    if let Ok(day) = text.parse::<Date>() {
        return here(day.to_datetime(jiff::civil::Time::midnight()));
    }
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let seconds = match unit.trim() {
        "s" | "sec" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        "w" => 7 * 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let ago = number.checked_mul(seconds).ok_or_else(wrong)?;
    // Earlier than the earliest time means the whole log.
    Ok(now.checked_sub(SignedDuration::from_secs(ago)).unwrap_or(Timestamp::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_ago_and_times_by_the_calendar() {
        let now: Timestamp = "2026-11-17T12:00:00Z".parse().unwrap();
        let of = |text: &str| since(text, now, &TimeZone::UTC).map(|time| time.to_string());
        for (text, wanted) in [
            ("30s", "2026-11-17T11:59:30Z"),
            ("15m", "2026-11-17T11:45:00Z"),
            ("1h", "2026-11-17T11:00:00Z"),
            ("2 d", "2026-11-15T12:00:00Z"),
            ("1w", "2026-11-10T12:00:00Z"),
            ("2026-11-16", "2026-11-16T00:00:00Z"),
            ("2026-11-16T08:30", "2026-11-16T08:30:00Z"),
            ("2026-11-16T08:30:00+02:00", "2026-11-16T06:30:00Z"),
        ] {
            assert_eq!(of(text).unwrap(), wanted, "{text}");
        }
        for text in ["", "h", "1", "soon", "-1h", "1y", "99999999999999999999h", "1h30m"] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains("is not a time"), "{text}: {error}");
        }
        assert!(of("9999999999w").is_ok());
    }
}
