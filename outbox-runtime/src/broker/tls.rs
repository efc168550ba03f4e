//! What the clients with TLS need of the process.

/// A client asks for the default of the process, and panics where none is set and the build has several.
pub(super) fn provide_cryptography() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // An error: another thread was faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
