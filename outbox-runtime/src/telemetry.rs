//! The one place for names of spans, metrics and fields, and for the trace context of the caller.

/// Whether anything is measured.
pub(crate) const HAS_METRICS: bool = cfg!(feature = "metrics");

/// What became of an event at a stage: the label `outcome` of the counter `outbox_events_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A relay published it.
    Published,
    /// A consumer's handler has committed.
    Handled,
    /// The broker had it already, or the consumer had handled it.
    Duplicate,
    /// It failed and is to be tried again, or waits behind one of its key.
    Held,
    /// It is a dead letter.
    Dead,
    /// The consumer does not take it.
    Ignored,
    /// Retention took it before the stage had read it.
    #[cfg(any(
        feature = "kafka",
        feature = "nats",
        feature = "postgres",
        feature = "redis",
        feature = "sqlite"
    ))]
    Missed,
}

impl Outcome {
    #[cfg(feature = "metrics")]
    const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Handled => "handled",
            Self::Duplicate => "duplicate",
            Self::Held => "held",
            Self::Dead => "dead",
            Self::Ignored => "ignored",
            #[cfg(any(
                feature = "kafka",
                feature = "nats",
                feature = "postgres",
                feature = "redis",
                feature = "sqlite"
            ))]
            Self::Missed => "missed",
        }
    }
}

/// Counts events of one outcome, once that is recorded. After a crash they may be counted again.
#[cfg(feature = "metrics")]
pub(crate) fn count_events(stage: &str, outcome: Outcome, count: u64) {
    let stage = stage.to_owned();
    metrics::counter!("outbox_events_total", "stage" => stage, "outcome" => outcome.as_str())
        .increment(count);
}

/// Without the feature `metrics` nothing is counted.
#[cfg(not(feature = "metrics"))]
pub(crate) fn count_events(_: &str, _: Outcome, _: u64) {}

/// Counts a rise of dead letters.
#[cfg(feature = "metrics")]
pub(crate) fn count_rise(stage: &str) {
    metrics::counter!("outbox_dead_letter_rises_total", "stage" => stage.to_owned()).increment(1);
}

/// Without the feature `metrics` nothing is counted.
#[cfg(not(feature = "metrics"))]
pub(crate) fn count_rise(_: &str) {}

/// The W3C `traceparent` and `tracestate` of the caller's current span, where the feature `opentelemetry` is on and a
/// span is active.
#[cfg(feature = "opentelemetry")]
pub(crate) fn current_trace_context() -> (Option<String>, Option<String>) {
    use opentelemetry::trace::TraceContextExt;
    let context = opentelemetry::Context::current();
    let span = context.span().span_context().clone();
    if !span.is_valid() {
        return (None, None);
    }
    let traceparent = format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8());
    let tracestate = span.trace_state().header();
    (Some(traceparent), (!tracestate.is_empty()).then_some(tracestate))
}

/// Without the feature `opentelemetry` a draft has the trace context it is given, or none.
#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn current_trace_context() -> (Option<String>, Option<String>) {
    (None, None)
}

/// An error and its causes, outermost first, a line each. A cause whose text the line above ends with is not repeated.
pub(crate) fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let line = error.to_string();
        if !lines.last().is_some_and(|last| last.ends_with(&line)) {
            lines.push(line);
        }
        cause = error.source();
    }
    lines.join("\n")
}

#[cfg(all(test, feature = "opentelemetry"))]
mod tests {
    use super::current_trace_context;
    use opentelemetry::{
        Context,
        trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
    };

    #[test]
    fn a_draft_takes_the_context_of_the_active_span_and_none_without_one() {
        assert_eq!(current_trace_context(), (None, None));
        let state = TraceState::from_key_value([("vendor", "1")]).unwrap();
        let (trace, span) = (TraceId::from(0xabc_u128), SpanId::from(0xde_u64));
        let active = SpanContext::new(trace, span, TraceFlags::SAMPLED, true, state);

        let _guard = Context::new().with_remote_span_context(active).attach();

        let traceparent = "00-00000000000000000000000000000abc-00000000000000de-01";
        assert_eq!(current_trace_context(), (Some(traceparent.to_owned()), Some("vendor=1".to_owned())));
    }
}
