//! The rules of a connection: who may not come in is told so for good.

use super::Suite;
use crate::broker::Broker;
use std::time::Duration;
use tokio::time::Instant;

/// Long enough for a busy machine, and short enough to tell a refusal from a hang.
const ANSWER_MAX: Duration = Duration::from_secs(30);

pub(super) async fn run(suite: &Suite<'_>, broker: &dyn Broker) {
    broker.connect().await.expect("the broker of the rig can be reached");
    wrong_credentials_are_refused(suite).await;
    a_certificate_is_checked(suite).await;
}

async fn wrong_credentials_are_refused(suite: &Suite<'_>) {
    const RULE: &str = "wrong credentials are refused for good, and at once";
    let Some(intruder) = suite.rig.intruder() else {
        return suite.cannot(RULE, "the rig has no credentials");
    };
    suite.rule(RULE);
    let started = Instant::now();
    let error = intruder.connect().await.expect_err("wrong credentials were accepted");
    assert!(!error.is_transient(), "wrong credentials would be tried for ever: {error:?}");
    assert!(started.elapsed() < ANSWER_MAX, "the refusal took {:?}", started.elapsed());
}

async fn a_certificate_is_checked(suite: &Suite<'_>) {
    const RULE: &str = "a server is reached by TLS where its certificate is trusted, and nowhere else";
    let Some([trusting, doubting]) = suite.rig.over_tls().await else {
        return suite.cannot(RULE, "the rig has no TLS");
    };
    suite.rule(RULE);
    trusting.connect().await.expect("the certificate is trusted");
    assert!(doubting.connect().await.is_err(), "a certificate that nobody vouches for was accepted");
}
