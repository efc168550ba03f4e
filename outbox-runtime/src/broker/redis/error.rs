//! What an error of the client means: the server is away, or it refuses. Text is never matched.

use crate::broker::BrokerError;
use redis_client::{ErrorKind, RedisError};
use std::{error::Error, io};

pub(super) const NAME: &str = "redis";

type Source = Box<dyn Error + Send + Sync>;

pub(super) fn unavailable(action: &'static str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: source.into() }
}

pub(super) fn refused(action: &'static str, problem: &str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Refused { broker: NAME, action, problem: problem.to_owned(), source: Some(source.into()) }
}

/// An error of a call that concerns no particular key.
pub(super) fn of(action: &'static str, error: RedisError) -> BrokerError {
    let problem = match error.kind() {
        ErrorKind::AuthenticationFailed => "the server does not accept these credentials",
        ErrorKind::InvalidClientConfig => "the address or the certificates are malformed",
        ErrorKind::EmptySentinelList | ErrorKind::RESP3NotSupported => {
            "the address asks for what it cannot have"
        }
        // Its text may hold what was answered, and so a payload.
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
            return unavailable(action, "the server's answer has another form than expected");
        }
        _ if is_about_certificates(&error) => "TLS is set up wrong; check the certificates",
        _ => match error.code() {
            Some("NOAUTH" | "WRONGPASS") => "the server does not accept these credentials",
            Some("NOPERM") => "this user may not run the command; grant it with `ACL SETUSER`",
            Some("MOVED" | "ASK" | "CROSSSLOT" | "CLUSTERDOWN") => CLUSTER,
            Some("WRONGTYPE") => {
                "a value that is no stream stands at a key of the topic; remove it, or rename the topic"
            }
            // What the server says of itself: loading, out of memory or disk, a replica, busy with a script.
            Some(code) if code != "ERR" => return unavailable(action, error),
            Some(_) => "the server's answer, below, says why",
            None => return unavailable(action, error),
        },
    };
    refused(action, problem, error)
}

/// Why a node of a cluster is refused.
pub(super) const CLUSTER: &str =
    "this is a node of a Redis Cluster, which is not supported; use one primary with replicas";

/// An error about one key: another type of value there is a mistake of the set-up.
pub(super) fn of_key(action: &'static str, key: &str, error: RedisError) -> BrokerError {
    if error.code() != Some("WRONGTYPE") {
        return of(action, error);
    }
    BrokerError::Mismatch {
        broker: NAME,
        name: key.to_owned(),
        found: "a value that is no stream".to_owned(),
        wanted: "a stream".to_owned(),
        fix: "remove that value, or give the topic another name".to_owned(),
    }
}

/// Whether the error says that nothing comes over this connection any more, or that it leads to the wrong server.
pub(super) fn is_of_connection(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error() || error.code() == Some("READONLY")
}

/// Whether the group, or its stream, is gone.
pub(super) fn is_group_missing(error: &RedisError) -> bool {
    matches!(error.code(), Some("NOGROUP" | "UNBLOCKED"))
}

fn is_about_certificates(error: &RedisError) -> bool {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    io.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}
