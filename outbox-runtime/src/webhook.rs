//! Posts to an address what is told of dead letters.

use crate::{alert::Growth, runner::RunnerBuilder, store::Store};
use rustls::crypto::ring;
use std::{error::Error, fmt, sync::Arc, thread, time::Duration};
use tokio::sync::oneshot;
use ureq::{
    Agent,
    http::{HeaderName, HeaderValue, Uri, header::CONTENT_TYPE},
    tls::{Certificate, RootCerts, TlsConfig},
};

/// How long one post may take.
const POST_MAX: Duration = Duration::from_secs(10);

/// What a receiver knows a rise by that is told again.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// An address to which rises of dead letters are posted; see [`RunnerBuilder::dead_letter_webhook`].
///
/// The body is the [`Growth`] as JSON, and the header `Idempotency-Key` is its id: whoever got one twice may drop it. Any
/// answer of the 200s says that it got through. After any other one, after 10 s without an answer and when nobody is
/// reached it is posted again, with pauses that grow to a minute, also where the answer says that no repetition helps:
/// somebody may mend the receiver. The fifth failure is logged as an error. Redirections are not followed.
///
/// The proxy of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` is used, and the certificates of the system are trusted.
#[derive(Clone)]
pub struct Webhook {
    agent: Agent,
    address: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// Why a webhook cannot be used, or did not take a post. The address, which may hold a secret, is not told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The address is none.
    #[error("the address of the webhook is no URL of `http` or `https` with a host; correct it")]
    Address,
    /// A header is none.
    #[error("`{name}` and its value are no header of HTTP; use visible ASCII characters alone")]
    Header {
        /// The name that was given.
        name: String,
    },
    /// The receiver does not take it, and says so.
    #[error("the webhook answered with status {status}; mend the receiver, or correct the address")]
    Status {
        /// The status that it answered with.
        status: u16,
    },
    /// The receiver did not answer.
    #[error("the webhook did not answer; see that it can be reached from here")]
    NoAnswer(#[source] Box<dyn Error + Send + Sync>),
}

impl Webhook {
    /// A webhook at this URL. A user and password in it are sent as basic authentication.
    ///
    /// # Errors
    /// [`WebhookError::Address`].
    pub fn new(url: &str) -> Result<Self, WebhookError> {
        let address: Uri = url.parse().map_err(|_| WebhookError::Address)?;
        let is_secure = match address.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(WebhookError::Address),
        };
        let mut config = Agent::config_builder()
            .timeout_global(Some(POST_MAX))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("outbox/", env!("CARGO_PKG_VERSION")));
        if is_secure {
            config = config.tls_config(tls());
        }
        Ok(Self { agent: config.build().into(), address, headers: Vec::new() })
    }

    /// Sends this header with each post, such as `Authorization`.
    ///
    /// # Errors
    /// [`WebhookError::Header`].
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, WebhookError> {
        let refused = || WebhookError::Header { name: name.to_owned() };
        let header = HeaderName::try_from(name).map_err(|_| refused())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        self.headers.push((header, value));
        Ok(self)
    }

    /// Posts once.
    async fn post(self, growth: Growth) -> Result<(), Box<dyn Error + Send + Sync>> {
        let body = serde_json::to_vec(&growth)?;
        let (answered, answer) = oneshot::channel();
        // A thread of its own, since the end of a runtime waits for those of the runtime. It ends with its time limit.
        thread::Builder::new().name("outbox-webhook".to_owned()).spawn(move || {
            let _ = answered.send(self.post_blocking(&growth.id, &body));
        })?;
        answer.await.map_err(|_| WebhookError::NoAnswer("the thread that posts has panicked".into()))??;
        Ok(())
    }

    fn post_blocking(&self, id: &str, body: &[u8]) -> Result<(), WebhookError> {
        let mut request = self
            .agent
            .post(&self.address)
            .header(CONTENT_TYPE, "application/json")
            .header(IDEMPOTENCY_KEY, id);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answer = request.send(body).map_err(|error| WebhookError::NoAnswer(error.into()))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(WebhookError::Status { status: status.as_u16() }),
        }
    }
}

/// Rustls on ring, with the certificates of the system.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(error = error as &dyn Error, "certificates of the system could not be read");
    }
    let roots = found.certs.iter().map(|root| Certificate::from_der(root).to_owned());
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots.collect())))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build()
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("host", &self.address.host()).finish_non_exhaustive()
    }
}

impl<S: Store> RunnerBuilder<S> {
    /// Posts to `webhook` when dead letters have come to any stage of this database, as told at
    /// [`RunnerBuilder::on_dead_letters`].
    pub fn dead_letter_webhook(self, webhook: Webhook) -> Self {
        self.on_dead_letters(move |growth| webhook.clone().post(growth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_refused_and_no_secret_is_shown() {
        for wrong in ["", "example.com", "/path", "ftp://example.com", "https:///s3cret", "http://a b"] {
            assert!(matches!(Webhook::new(wrong), Err(WebhookError::Address)), "{wrong:?}");
        }
        let webhook = Webhook::new("http://hilda:s3cret@example.com/s3cret").unwrap();
        let webhook = webhook.header("authorization", "Bearer s3cret").unwrap();
        let shown = format!("{webhook:?}");
        assert!(shown.contains("example.com") && !shown.contains("s3cret"), "{shown}");
        assert!(matches!(webhook.header("a b", "c"), Err(WebhookError::Header { .. })));
    }
}
