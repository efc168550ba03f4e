//! Versions of one event type side by side.

mod cutover;
mod upcast;
