//! Times and spans as people type and read them.

use std::time::Duration;
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

/// Reads a span: a whole number with `ms`, `s`, `m`, `h` or `d`.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => {
            return Err(
                "write a number with its unit, such as `500ms`, `30s`, `15m`, `2h` or `7d`".to_owned()
            );
        }
    };
    let number: u64 = number.parse().map_err(|_| "the number is missing or too large".to_owned())?;
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(|| "the span is too long".to_owned())
}

/// Reads a time: RFC 3339, or how long ago it was by this machine's clock.
pub(super) fn moment(text: &str) -> Result<OffsetDateTime, String> {
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return Ok(moment);
    }
    let age = span(text)
        .map_err(|_| "write a time such as `2026-01-31T08:00:00Z`, or an age such as `2h`".to_owned())?;
    let age = time::Duration::try_from(age).map_err(|_| "the age is too long".to_owned())?;
    OffsetDateTime::now_utc().checked_sub(age).ok_or_else(|| "the age is too long".to_owned())
}

/// The time in UTC, to the second.
pub(super) fn shown(moment: OffsetDateTime) -> String {
    let moment = moment.to_offset(UtcOffset::UTC).replace_nanosecond(0).unwrap_or(moment);
    moment.format(&Rfc3339).unwrap_or_else(|_| moment.unix_timestamp().to_string())
}

/// The time in UTC, as exact as it is known.
pub(super) fn exact(moment: OffsetDateTime) -> String {
    let utc = moment.to_offset(UtcOffset::UTC);
    utc.format(&Rfc3339).unwrap_or_else(|_| moment.unix_timestamp().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_needs_its_unit() {
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(span("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(span("0ms"), Ok(Duration::ZERO));
        for wrong in ["30", "s", "", "-1s", "1.5h", "99999999999999999999s", "18446744073709551615d"] {
            assert!(span(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_time_is_absolute_or_an_age() {
        let absolute = moment("2026-01-31T10:00:00.25+02:00").unwrap();
        assert_eq!(shown(absolute), "2026-01-31T08:00:00Z");
        let two_hours_ago = moment("2h").unwrap();
        let age = OffsetDateTime::now_utc() - two_hours_ago;
        assert!((7_200..7_260).contains(&age.whole_seconds()), "{age}");
        assert!(moment("yesterday").is_err());
        assert!(moment("99999999999d").is_err());
    }
}
