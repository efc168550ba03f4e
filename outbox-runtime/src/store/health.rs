//! What the figures of a stage, and of upkeep, say about them: the findings that every store tells alike.

use crate::{
    finding::{Finding, Span, Tolerance},
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
                unsettled(unread),
                Span(unread.oldest)
            ),
            why: "its readers see old news, and the log is kept for it",
            fix: "look into the logs of its process: a handler that is slow, a broker that is away, or a topic that is refused as \
                  a whole stops a stage; run `outbox doctor` with the address of its broker"
                .to_owned(),
        });
    }
    let undone: Vec<String> = [
        (health.unread, "events of the log are unread"),
        (health.due, "keys are due for an attempt"),
        (health.requests, "requests of people are open"),
    ]
    .into_iter()
    .filter_map(|(waits, what)| late(waits).map(|waits| (waits, what)))
    .map(|(waits, what)| format!("{} {what}, the first for {}", counted(waits.count), Span(waits.oldest)))
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
        problem: format!("{} keys wait, the first for {}", counted(waits.count), Span(waits.oldest)),
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
            "{} keys wait for a person, the first for {}",
            counted(waits.count),
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
            "{} dead letters, {} of them from the last day; the first failed {} ago, the last {} ago",
            counted(dead.count),
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

fn unsettled(waits: Waits) -> String {
    format!("{} events wait", counted(waits.count))
}

fn counted(count: i64) -> String {
    if count < COUNTED_MAX { count.to_string() } else { format!("{COUNTED_MAX} or more") }
}
