//! What an error of the client means: the server is away, or it refuses. Text is never matched.

use crate::broker::BrokerError;
use rdkafka::{
    error::{KafkaError, RDKafkaErrorCode as Code},
    types::RDKafkaConfRes,
};
use std::error::Error;

pub(super) const NAME: &str = "kafka";

type Source = Box<dyn Error + Send + Sync>;

pub(super) fn unavailable(action: &'static str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: source.into() }
}

pub(super) fn refused(action: &'static str, problem: &str, source: impl Into<Source>) -> BrokerError {
    BrokerError::Refused { broker: NAME, action, problem: problem.to_owned(), source: Some(source.into()) }
}

/// An error of the client.
pub(super) fn of(action: &'static str, error: KafkaError) -> BrokerError {
    let problem = match &error {
        // Its source would show the value, which may be a password.
        KafkaError::ClientConfig(what, _, name, _) => {
            let what = match what {
                RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN => "does not exist, or not in this build of the client",
                _ => {
                    "has a value that the client does not take, or needs a build of the client with more in it"
                }
            };
            return refused(
                action,
                &format!("the client's setting `{name}` {what}"),
                "the client was not made",
            );
        }
        KafkaError::ClientCreation(_) => "the client's settings do not fit together",
        _ => match code_of(&error).and_then(problem_of) {
            Some(problem) => problem,
            None => return unavailable(action, error),
        },
    };
    refused(action, problem, error)
}

/// An answer of the server, or of the client itself, by its code.
pub(super) fn of_code(action: &'static str, code: Code) -> BrokerError {
    match problem_of(code) {
        Some(problem) => refused(action, problem, code),
        None => unavailable(action, code),
    }
}

pub(super) fn code_of(error: &KafkaError) -> Option<Code> {
    match error {
        KafkaError::AdminOp(code) => Some(*code),
        other => other.rdkafka_error_code(),
    }
}

/// What is wrong so that only a person can mend it; `None` when it may pass by itself.
fn problem_of(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Authentication | Code::SaslAuthenticationFailed => {
            "the server does not accept these credentials"
        }
        Code::SSL => "TLS is set up wrong; check the certificates",
        Code::UnsupportedSASLMechanism | Code::IllegalSASLState | Code::SecurityDisabled => {
            "the server asks for credentials in another way; see `sasl.mechanisms`"
        }
        Code::TopicAuthorizationFailed => {
            "this user may not do so with the topic; grant a relay `Write` and a consumer `Read` on it, and `Create` to whoever \
             makes it"
        }
        Code::GroupAuthorizationFailed => "this user may not read as this group; grant `Read` on the group",
        Code::ClusterAuthorizationFailed => {
            "this user may not do so; grant `IdempotentWrite` on the cluster, or `Create` where topics are to be made"
        }
        Code::UnknownMemberId
        | Code::IllegalGeneration
        | Code::FencedMemberEpoch
        | Code::StaleMemberEpoch => {
            "somebody else reads as a member of this group; give that program, or the consumer, another name"
        }
        Code::BadCompression | Code::NotImplemented | Code::UnsupportedCompressionType => {
            "a message is compressed in a way that this build of the client has not; turn on `libz` or `zstd` of the crate \
             `rdkafka`"
        }
        Code::InvalidTopic => "the server does not take this name of a topic",
        Code::InvalidReplicationFactor => {
            "there are fewer servers than the topic is to have copies; set `replication`"
        }
        Code::PolicyViolation | Code::InvalidConfig => {
            "the server's policy forbids a topic like this; make it by hand"
        }
        Code::InvalidRecord => "the topic takes no such message; is it compacted?",
        Code::UnsupportedVersion | Code::UnsupportedFeature => "the server is too old, or not Kafka",
        _ => return None,
    })
}

/// Whether the topic, or its partition, is not there.
pub(super) fn is_topic_missing(code: Code) -> bool {
    matches!(code, Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::UnknownPartition)
}

/// Whether the server takes no message of this size.
pub(super) fn is_too_large(code: Code) -> bool {
    matches!(code, Code::MessageSizeTooLarge | Code::MessageBatchTooLarge | Code::InvalidMessageSize)
}
