//! What an error of the client means: the server is away, or it refuses. Text is never matched.

use crate::broker::BrokerError;
use lapin::{
    ErrorKind,
    protocol::{AMQPErrorKind, AMQPHardError, AMQPSoftError},
};
use std::error::Error;

pub(super) const NAME: &str = "rabbitmq";

type Source = Box<dyn Error + Send + Sync>;

pub(super) fn unavailable(action: &'static str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: source.into() }
}

pub(super) fn refused(action: &'static str, problem: &str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Refused { broker: NAME, action, problem: problem.to_owned(), source: Some(source.into()) }
}

/// A server that takes no publishes for now tells so, and takes them again by itself.
pub(super) fn blocked(action: &'static str) -> BrokerError {
    unavailable(
        action,
        "the server has raised an alarm (memory or disk) and takes no messages until it is over",
    )
}

/// An error of the way to the server. Whoever is not let in hears the code that later means a missing permission.
pub(super) fn of_connection(action: &'static str, error: lapin::Error) -> BrokerError {
    match soft_error(&error) {
        Some(AMQPSoftError::ACCESSREFUSED) => {
            refused(action, "the server does not accept these credentials", error)
        }
        _ => of(action, error),
    }
}

/// An error of any other call.
pub(super) fn of(action: &'static str, error: lapin::Error) -> BrokerError {
    let problem = match error.kind() {
        ErrorKind::ProtocolError(answer) => match answer.kind() {
            AMQPErrorKind::Soft(AMQPSoftError::ACCESSREFUSED) => {
                "this user may not do so; grant it with `rabbitmqctl set_permissions`"
            }
            AMQPErrorKind::Soft(AMQPSoftError::RESOURCELOCKED) => {
                "another connection has a queue of this name for itself; remove it, or rename the topic or consumer"
            }
            AMQPErrorKind::Hard(AMQPHardError::NOTALLOWED) => {
                "there is no such virtual host, or this user may not enter it; the default one is written `/%2f`"
            }
            AMQPErrorKind::Hard(AMQPHardError::NOTIMPLEMENTED) => {
                "the server knows no quorum queues; use RabbitMQ 3.10 or newer"
            }
            _ => return unavailable(action, error),
        },
        _ if is_about_certificates(&error) => "TLS is set up wrong; check the certificates",
        _ => return unavailable(action, error),
    };
    refused(action, problem, error)
}

/// What stands at the server under this name differs from what is declared.
pub(super) fn of_declaration(
    action: &'static str,
    name: String,
    wanted: String,
    fix: &str,
    error: lapin::Error,
) -> BrokerError {
    if !matches!(soft_error(&error), Some(AMQPSoftError::PRECONDITIONFAILED)) {
        return of(action, error);
    }
    BrokerError::Mismatch {
        broker: NAME,
        name,
        // Only the server's text says how they differ.
        found: format!("another one ({error})"),
        wanted,
        fix: fix.to_owned(),
    }
}

/// The answer that ended a channel, and not the connection.
pub(super) fn soft_error(error: &lapin::Error) -> Option<&AMQPSoftError> {
    let ErrorKind::ProtocolError(answer) = error.kind() else { return None };
    match answer.kind() {
        AMQPErrorKind::Soft(soft) => Some(soft),
        AMQPErrorKind::Hard(_) => None,
    }
}

fn is_about_certificates(error: &lapin::Error) -> bool {
    let ErrorKind::IOError(io) = error.kind() else { return false };
    io.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}
