//! What a failed attempt leads to: another one, or the poison policy of the event.

use crate::{
    backoff::RetryPolicy,
    envelope::Envelope,
    held::{Change, Failure, HeldId},
};
use outbox_schema::OnPoison;
use std::time::Duration;

/// The longest wait between two attempts of an event that is not at fault: this build does not know it yet, or the broker
/// confirms nothing of its kind.
pub(crate) const NOT_YET_MAX: Duration = Duration::from_secs(15);

/// One failed attempt.
pub(crate) struct Attempt<'a> {
    pub(crate) envelope: &'a Envelope,
    /// Attempts charged before; `None` when the event is not held yet.
    pub(crate) attempts_before: Option<u32>,
    pub(crate) failure: Failure,
    /// Whether no retry can help.
    pub(crate) for_good: bool,
    pub(crate) retry: &'a RetryPolicy,
    /// Waited for each attempt before the next one, beside what the retry policy says.
    pub(crate) rest: Duration,
    /// What becomes of it when it is poison.
    pub(crate) policy: OnPoison,
}

impl Attempt<'_> {
    /// The change to record, and whether it makes a dead letter.
    pub(crate) fn judge(self) -> (Change, bool) {
        let attempts = self.attempts_before.unwrap_or(0) + 1;
        let poison = self.for_good || attempts >= self.retry.attempts;
        let Self { envelope, failure, policy, .. } = self;
        if poison && policy != OnPoison::Block {
            let park = policy == OnPoison::Park;
            return (Change::Dead { envelope: envelope.clone(), attempts, failure, park }, true);
        }
        if poison && (self.for_good || attempts == self.retry.attempts) {
            tracing::error!(
                messaging.message.id = %envelope.id,
                reason = failure.reason,
                "a poison event blocks its key until it succeeds"
            );
        }
        let retry_in = self.rest.saturating_mul(attempts).saturating_add(self.retry.wait_after(attempts));
        let change = match self.attempts_before {
            None => Change::Hold { envelope: envelope.clone(), attempts, retry_in, failure },
            Some(_) => Change::Retry { held: HeldId::of(envelope), attempts, retry_in, failure },
        };
        (change, false)
    }
}
