//! Operations of users and administrators on people, classes, courses, groups and topics.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

mod account_takeover;
mod activity_logs;
mod assignment_clones;
mod assignment_edits;
mod assignment_groups;
mod assignments;
mod auth;
mod bulk;
mod cascade;
mod class_clones;
mod class_edits;
mod classes;
mod copies;
mod courses;
mod deletions;
mod email_change;
mod enrollments;
mod erasure;
mod failed_sign_ins;
mod group_generation;
mod group_members;
mod groups;
mod homeroom_classes;
mod homeroom_following;
mod homerooms;
mod import_files;
mod imports;
mod invitations;
mod names;
mod one_roster;
mod overview;
mod own_names;
mod password_resets;
mod passwords;
mod people;
mod personal_export;
mod publication;
mod purge;
mod role_levels;
mod roster_clients;
mod rosters;
mod school;
mod shared_accounts;
mod sign_on;
mod snippets;
mod subjects;
mod user_names;
mod workrooms;
