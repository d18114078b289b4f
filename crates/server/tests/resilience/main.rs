//! Tests of crashes, outages, high load, data growth, hostile input and several instances. Long tests are ignored here
//! and run by `make test-resilience`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

mod client_disconnect;
mod client_limits;
mod crash;
mod fairness;
mod instances;
mod interrupted_operations;
mod invalid_ids;
mod lesson;
mod many_sockets;
mod postgres_outages;
mod revocation;
mod scaling;
mod schemathesis;
