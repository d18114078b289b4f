//! What every crate of the service may use: its error type, the clock, metrics, failpoints for crash tests, and types
//! that settings share.

pub mod clock;
pub mod error;
pub mod error_response;
pub mod failpoint;
pub mod metrics;
pub mod settings;
