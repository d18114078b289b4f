//! What every crate of the service may use: its error type, the clock, metrics, fair queues and permits,
//! the scheduler of periodic work, encryption at rest, failpoints for crash tests, and types that settings share.

pub mod clock;
pub mod encryptor;
pub mod error;
pub mod error_response;
pub mod failpoint;
pub mod fair_queue;
pub mod metrics;
pub mod scheduler;
pub mod settings;
