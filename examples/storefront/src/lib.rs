//! A small shop: what its three services are, whichever their release.
//!
//! ```text
//! customer ─▶ orders ──orders.placed──▶ billing ──billing.charged──▶ shipping ──shipping.sent─┐
//!               ▲          └──────────────────────────────────────▶ shipping                  │
//!               └──────────────────────────────billing.charged, shipping.sent─────────────────┘
//! ```
//! Each service has a schema of its own in PostgreSQL, with its tables and its own outbox in it, and a process of its own
//! ([`service`]). It changes its tables and tells of it in one transaction.
//!
//! Two programs are made of this: `storefront-v1` and `storefront-v2`. They differ in the version of `orders.placed`
//! that they tell and take, and that is all that stands in their files. A third one, `storefront`, starts the services,
//! orders, kills them while they work, and counts the money.

pub mod billing;
pub mod broker;
pub mod counts;
pub mod orders;
pub mod service;
pub mod shipping;

use std::error::Error;

/// How a handler or a service ends.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Tells of an error and what led to it.
pub fn tell(error: &(dyn Error + 'static)) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
}
