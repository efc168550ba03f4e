//! What hurts in production: findings of a store or a broker, and from when on something is one.

use std::time::Duration;

/// Something that is wrong or will be, found at one look. The system may work all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A stable word in kebab-case, such as `consumer-gone`.
    pub code: &'static str,
    /// What it is about: a stage, a topic, a slot, …
    pub about: String,
    /// What is wrong, with figures.
    pub problem: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub fix: String,
}

/// From when on something is a finding. Write what differs and take the rest from the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerance {
    /// How long what a process could do may wait for one: an event to be read, an attempt that is due, a request, a scheduled
    /// event, a leaf of the log past its retention. Default 10 minutes.
    pub wait: Duration,
    /// How long a key may wait for an event that fails. Default 1 hour.
    pub key_wait: Duration,
    /// How long a transaction of anybody may be open. Default 10 minutes.
    pub transaction: Duration,
    /// How much of the database's own log (WAL) a replication slot may hold, in bytes. Default 256 MiB.
    pub slot_bytes: u64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(600),
            key_wait: Duration::from_secs(3_600),
            transaction: Duration::from_secs(600),
            slot_bytes: 256 * 1024 * 1024,
        }
    }
}

/// So many of something, where `one` and `many` tell of what and go on: "1 event waits", "2 events wait".
#[cfg(any(
    feature = "kafka",
    feature = "nats",
    feature = "postgres",
    feature = "rabbitmq",
    feature = "redis",
    feature = "sqlite"
))]
pub(crate) fn counted(count: impl std::fmt::Display, one: &str, many: &str) -> String {
    let count = count.to_string();
    let what = if count == "1" { one } else { many };
    format!("{count} {what}")
}

/// A span of time for people: its two largest units.
#[cfg(any(feature = "kafka", feature = "nats", feature = "postgres", feature = "sqlite"))]
pub(crate) struct Span(pub(crate) Duration);

#[cfg(any(feature = "kafka", feature = "nats", feature = "postgres", feature = "sqlite"))]
impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let secs = self.0.as_secs();
        let (days, hours, mins) = (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60);
        match (days, hours, mins) {
            (0, 0, 0) => write!(f, "{secs} s"),
            (0, 0, mins) => write!(f, "{mins} min"),
            (0, hours, 0) => write!(f, "{hours} h"),
            (0, hours, mins) => write!(f, "{hours} h {mins} min"),
            (days, 0, _) => write!(f, "{days} d"),
            (days, hours, _) => write!(f, "{days} d {hours} h"),
        }
    }
}

/// An amount of memory or disk for people.
#[cfg(any(feature = "kafka", feature = "nats", feature = "postgres", feature = "redis"))]
pub(crate) struct Bytes(pub(crate) u64);

#[cfg(any(feature = "kafka", feature = "nats", feature = "postgres", feature = "redis"))]
impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        match UNITS.into_iter().find(|(bits, _)| self.0 >> bits >= 1) {
            Some((bits, unit)) => write!(f, "{} {unit}", self.0 >> bits),
            None => f.write_str(&counted(self.0, "byte", "bytes")),
        }
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_largest_units() {
        for (secs, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3_600, "1 h"),
            (3_661, "1 h 1 min"),
            (86_400, "1 d"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(Span(Duration::from_secs(secs)).to_string(), text);
        }
    }

    #[test]
    fn an_amount_is_told_in_its_largest_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1_023, "1023 bytes"),
            (1_024, "1 KiB"),
            (3 << 20, "3 MiB"),
            (5 << 30, "5 GiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
