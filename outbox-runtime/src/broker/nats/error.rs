//! What an error of the client means: the broker is away, or it refuses. Text is never matched.

use crate::broker::BrokerError;
use async_nats::jetstream::{self, ErrorCode};
use std::error::Error;

pub(super) const NAME: &str = "nats";

type Source = Box<dyn Error + Send + Sync>;

pub(super) fn unavailable(action: &'static str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: source.into() }
}

pub(super) fn refused(action: &'static str, problem: &str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Refused { broker: NAME, action, problem: problem.to_owned(), source: Some(source.into()) }
}

/// The client is reconnecting by itself.
pub(super) fn disconnected(action: &'static str) -> BrokerError {
    unavailable(action, "the connection is down and being made again")
}

/// An answer of the server that is an error. Its `code` is an HTTP status: from 500 on the server, not the request.
pub(super) fn answered(action: &'static str, error: jetstream::Error) -> BrokerError {
    let problem = match error.error_code() {
        ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
            "JetStream is off; start the server with `-js` and enable it for this account"
        }
        // A stream or durable that somebody deleted is declared again by the next try.
        ErrorCode::STREAM_NOT_FOUND | ErrorCode::CONSUMER_NOT_FOUND => return unavailable(action, error),
        _ if error.code() >= 500 => return unavailable(action, error),
        _ => "the server's answer, below, says why",
    };
    refused(action, problem, error)
}

/// An error of the client that may hold an answer of the server in its chain of sources.
pub(super) fn of_client(action: &'static str, error: impl Error + Send + Sync + 'static) -> BrokerError {
    match answer_in(&error) {
        Some(answer) => answered(action, answer),
        None => unavailable(action, error),
    }
}

/// The server's answer in a chain of sources.
pub(super) fn answer_in(error: &(dyn Error + 'static)) -> Option<jetstream::Error> {
    let mut link = Some(error);
    while let Some(error) = link {
        if let Some(answer) = error.downcast_ref::<jetstream::Error>() {
            return Some(answer.clone());
        }
        link = error.source();
    }
    None
}
