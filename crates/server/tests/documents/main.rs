//! Documents, files, submissions, grades, and the protocol of the document server.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

mod assignment_extensions;
mod attachments;
mod authorship;
mod comments;
mod conformance;
mod contributions;
mod current_submissions;
mod document_editor;
mod document_editor_files;
mod document_races;
mod document_server;
mod document_versions;
mod documents;
mod downloads;
mod editor_access_revocation;
mod feedback;
mod files;
mod finish;
mod finished_documents;
mod forgotten_saves;
mod grade_books;
mod grade_events;
mod grade_files;
mod grade_tables;
mod grades;
mod group_files;
mod handouts;
mod history_retention;
mod late_texts;
mod object_store;
mod pdf;
mod quotas;
mod races;
mod rubrics;
mod saves;
mod session_watchdog;
mod submissions;
mod unread_comments;
mod upload_conversions;
mod uploads;
