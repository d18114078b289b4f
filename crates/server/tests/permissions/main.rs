//! Permissions of every route, and what all routes have in common: access, isolation, validation, limits, statements.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

mod access;
mod access_revocation;
mod activity_log_coverage;
mod api_tokens;
mod attachment_visibility;
mod body_ids;
mod data_leak;
mod documentation;
mod dry_runs;
mod earlier_events;
mod hosts;
mod idempotency;
mod isolation;
mod list_sizes;
mod matrix;
mod organization_header;
mod query_plans;
mod rate_limits;
mod reads;
mod requests;
mod rules;
mod slow_clients;
mod statement_counts;
mod statements;
mod super_admin;
mod tenants;
mod tolerant_requests;
mod topic_visibility;
mod versions;
mod visibility;
