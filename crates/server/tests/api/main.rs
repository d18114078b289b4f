//! The one integration binary: every test runs the real service on a real listener, on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests may panic and say why")]
#![expect(missing_docs, reason = "test names are sentences")]

#[macro_use]
mod support;

mod access;
mod activity_logs;
mod architecture;
mod assignments;
mod attachments;
mod auth;
mod cascade;
mod classes;
mod courses;
mod crash;
mod document_server;
mod documents;
mod finish;
mod groups;
mod isolation;
mod live;
mod process;
mod requests;
mod statements;
mod story;
mod subjects;
mod submissions;
mod visibility;
