//! Private servers, worlds, histories and benches for the tests of `outbox`.
