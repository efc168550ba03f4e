//! What the figures of a stage, and of upkeep, say about them: the findings that every store tells alike.

use crate::{
    finding::{self, Finding, Span, Tolerance},
    held::Stage,
};
use std::time::Duration;

/// The most events that a look counts; there may be more.
pub(super) const COUNTED_MAX: i64 = 1_000_000;

/// The newest events whose topics are looked for.
pub(super) const NEWEST_MAX: i64 = 10_000;

/// Some that wait, and how long the oldest has waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    pub(super) count: i64,
    pub(super) oldest: Duration,
}

/// One stage in figures.
#[derive(Debug)]
pub(super) struct StageHealth {
    pub(super) stage: Stage,
    pub(super) is_led: bool,
    /// Events of the log that it has not settled.
    pub(super) unread: Option<Waits>,
    /// Keys whose attempt is due.
    pub(super) due: Option<Waits>,
    /// What people asked of its dead letters.
    pub(super) requests: Option<Waits>,
    /// Keys that wait, but for parked ones.
    pub(super) waiting: Option<Waits>,
    /// Keys that wait for a person.
    pub(super) parked: Option<Waits>,
    pub(super) dead_letters: Option<DeadLetters>,
}

/// The dead letters of one stage that are not being replayed.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeadLetters {
    pub(super) count: i64,
    /// How many came in the last day.
    pub(super) recent: i64,
    /// How long ago the first of them, and the last, failed last.
    pub(super) oldest: Duration,
    pub(super) newest: Duration,
}

/// The upkeep of a database in figures.
#[derive(Debug, Default)]
pub(super) struct UpkeepHealth {
    pub(super) is_led: bool,
    /// How long nobody has led it, where that is known: a lease that is given back keeps no time.
    pub(super) unled: Option<Duration>,
    /// How long the first scheduled event has been due.
    pub(super) due: Option<Duration>,
    /// How long rows past retention have been there that nothing needs.
    pub(super) late: Option<Duration>,
    /// How long the oldest event has been in a log that nobody has ever read.
    pub(super) unread: Option<Duration>,
}

/// What is wrong with a stage.
pub(super) fn of_stage(health: &StageHealth, tolerance: &Tolerance) -> Vec<Finding> {
    [gone_or_lagging(health, tolerance), waiting(health, tolerance), parked(health), dead_letters(health)]
        .into_iter()
        .flatten()
        .collect()
}

fn gone_or_lagging(health: &StageHealth, tolerance: &Tolerance) -> Option<Finding> {
    let late = |waits: Option<Waits>| waits.filter(|waits| waits.oldest > tolerance.wait);
    let stage = &health.stage;
    if health.is_led {
        let unread = late(health.unread)?;
        return Some(Finding {
            code: "stage-lags",
            about: stage.to_string(),
            problem: format!(
                "it is led, but {} in the log, the oldest for {}",
                counted(unread.count, "event waits", "events wait"),
                Span(unread.oldest)
            ),
            why: "its readers see old news, and the log is kept for it",
            fix: "look into the logs of its process: a handler that is slow, a broker that is away, or a topic that is refused as \
                  a whole stops a stage; run `outbox doctor` with the address of its broker"
                .to_owned(),
        });
    }
    let undone: Vec<String> = [
        (health.unread, "event of the log is unread", "events of the log are unread"),
        (health.due, "key is due for an attempt", "keys are due for an attempt"),
        (health.requests, "request of a person is open", "requests of people are open"),
    ]
    .into_iter()
    .filter_map(|(waits, one, many)| {
        let waits = late(waits)?;
        Some(format!("{}, the first for {}", counted(waits.count, one, many), Span(waits.oldest)))
    })
    .collect();
    if undone.is_empty() {
        return None;
    }
    let (code, command) = match stage.is_consumer() {
        true => ("consumer-gone", "consumers"),
        false => ("relay-gone", "relays"),
    };
    let name = stage.as_str().split_once('/').map_or(stage.as_str(), |(_, name)| name);
    Some(Finding {
        code,
        about: stage.to_string(),
        problem: format!("no process leads it, and {}", undone.join("; ")),
        why: "nothing of it goes on, and the log is kept for it until `Retention::wait_max` ends: then events go unread",
        fix: format!(
            "start a process that runs it; if it is gone for good: `outbox {command} forget {name}`"
        ),
    })
}

fn waiting(health: &StageHealth, tolerance: &Tolerance) -> Option<Finding> {
    let waits = health.waiting.filter(|waits| waits.oldest > tolerance.key_wait)?;
    Some(Finding {
        code: "keys-waiting",
        about: health.stage.to_string(),
        problem: format!(
            "{}, the first for {}",
            counted(waits.count, "key waits", "keys wait"),
            Span(waits.oldest)
        ),
        why: "an event of each fails again and again, and later ones of its key wait behind it",
        fix: "see why they fail in the logs of the stage (`outbox status` counts them); mend what the handler or the broker needs"
            .to_owned(),
    })
}

fn parked(health: &StageHealth) -> Option<Finding> {
    let waits = health.parked?;
    let stage = &health.stage;
    Some(Finding {
        code: "keys-parked",
        about: stage.to_string(),
        problem: format!(
            "{}, the first for {}",
            counted(waits.count, "key waits for a person", "keys wait for a person"),
            Span(waits.oldest)
        ),
        why: "an event of each was set aside, and no later one of its key goes on before somebody decides",
        fix: format!(
            "`outbox dead-letters list --stage {stage}` tells why; then `outbox dead-letters replay` or `discard`"
        ),
    })
}

fn dead_letters(health: &StageHealth) -> Option<Finding> {
    let dead = health.dead_letters?;
    let stage = &health.stage;
    Some(Finding {
        code: "dead-letters",
        about: stage.to_string(),
        problem: format!(
            "{}, {} of them from the last day; the first failed {} ago, the last {} ago",
            counted(dead.count, "dead letter", "dead letters"),
            dead.recent,
            Span(dead.oldest),
            Span(dead.newest)
        ),
        why: "none of these events has had its effect, and past their retention they are discarded",
        fix: format!(
            "`outbox dead-letters list --stage {stage}` tells why; mend the cause, then `outbox dead-letters replay` or `discard`"
        ),
    })
}

/// What is wrong with upkeep.
pub(super) fn of_upkeep(health: &UpkeepHealth, tolerance: &Tolerance) -> Vec<Finding> {
    let late = |waits: Option<Duration>| waits.filter(|waits| *waits > tolerance.wait);
    let mut findings = Vec::new();
    if let Some(unread) = late(health.unread) {
        findings.push(Finding {
            code: "log-unread",
            about: "log".to_owned(),
            problem: format!("no relay and no consumer has ever read it, and its oldest event is there for {}", Span(unread)),
            why: "nothing that is enqueued is published or handled, and past retention it is removed unread",
            fix: "start a relay or a consumer of this database; compare schema and prefix with those of the one that runs"
                .to_owned(),
        });
    }
    let undone = [
        (late(health.due), "a scheduled event is due for"),
        (late(health.late), "rows past retention are there for"),
    ];
    let mut undone: Vec<String> = undone
        .into_iter()
        .filter_map(|(waits, what)| waits.map(|waits| format!("{what} {}", Span(waits))))
        .collect();
    let (code, problem) = if health.is_led {
        ("upkeep-late", "a process leads it, but")
    } else {
        undone.extend(
            late(health.unled).map(|unled| format!("the last one that did is gone for {}", Span(unled))),
        );
        ("upkeep-gone", "no process leads it:")
    };
    if !undone.is_empty() {
        findings.push(Finding {
            code,
            about: Stage::upkeep().to_string(),
            problem: format!("{problem} {}", undone.join("; ")),
            why: "scheduled events enter the log late, and log, inbox and dead letters grow without an end",
            fix: "run a relay, a consumer, or `outbox upkeep`, with the rights of a relay; if one runs, its log tells what it is refused, or \
                  who keeps a part of the log locked"
                .to_owned(),
        });
    }
    findings
}

/// As [`finding::counted`], up to what a look counts.
fn counted(count: i64, one: &str, many: &str) -> String {
    match count {
        0..COUNTED_MAX => finding::counted(count, one, many),
        _ => finding::counted(format_args!("{COUNTED_MAX} or more"), one, many),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found where everything stands there as often as that, long ago.
    fn of_all(count: i64, is_led: bool) -> String {
        let oldest = Duration::from_secs(7_200);
        let some = Some(Waits { count, oldest });
        let health = StageHealth {
            stage: Stage::relay("default"),
            is_led,
            unread: some,
            due: some,
            requests: some,
            waiting: some,
            parked: some,
            dead_letters: Some(DeadLetters { count, recent: count, oldest, newest: oldest }),
        };
        let problems = of_stage(&health, &Tolerance::default()).into_iter().map(|finding| finding.problem);
        problems.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn one_is_told_as_one_and_more_as_many() {
        let one = of_all(1, true) + &of_all(1, false);
        for part in [
            "1 event waits in the log",
            "1 event of the log is unread",
            "1 key is due",
            "1 request of a person is open",
            "1 key waits,",
            "1 key waits for a person",
            "1 dead letter, 1 of them",
        ] {
            assert!(one.contains(part), "`{part}` is missing in {one}");
        }
        let many = of_all(2, true) + &of_all(2, false);
        for part in [
            "2 events wait in the log",
            "2 events of the log are unread",
            "2 keys are due",
            "2 requests of people are open",
            "2 keys wait,",
            "2 keys wait for a person",
            "2 dead letters, 2 of them",
        ] {
            assert!(many.contains(part), "`{part}` is missing in {many}");
        }
        assert!(of_all(COUNTED_MAX, true).contains("1000000 or more events wait in the log"));
    }
}
