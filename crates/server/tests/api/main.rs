//! The one integration binary: every test runs the real service on a real listener, on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests may panic and say why")]

#[macro_use]
mod support;

mod access;
mod activity_logs;
mod architecture;
mod assignment_edits;
mod assignment_groups;
mod assignments;
mod attachment_visibility;
mod attachments;
mod auth;
mod bulk;
mod cancelled;
mod cascade;
mod class_edits;
mod classes;
mod clients;
mod courses;
mod crash;
mod current_submissions;
mod document_server;
mod document_tokens;
mod document_versions;
mod documents;
mod enrollments;
mod erasure;
mod files;
mod finish;
mod group_members;
mod groups;
mod help;
mod isolation;
mod jobs;
mod live;
mod live_bus;
mod live_events;
mod live_rooms;
mod pdf;
mod personal_export;
mod process;
mod requests;
mod saves;
mod statements;
mod story;
mod subjects;
mod submissions;
mod uploads;
mod visibility;
mod workrooms;
