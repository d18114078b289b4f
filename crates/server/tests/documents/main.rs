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
mod conformance;
mod contributions;
mod current_submissions;
mod departures;
mod document_server;
mod document_versions;
mod documents;
mod download_doors;
mod feedback;
mod files;
mod finish;
mod finished_documents;
mod forgotten_saves;
mod grade_news;
mod grade_tables;
mod grades;
mod group_files;
mod handouts;
mod late_texts;
mod object_store;
mod pdf;
mod quotas;
mod races;
mod races_of_documents;
mod saves;
mod submissions;
mod upload_conversions;
mod uploads;
mod watchdog;
