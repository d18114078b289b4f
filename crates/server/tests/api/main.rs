//! Operations of users and administrators on people, classes, courses, groups and topics.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

#[macro_use]
extern crate test_support;

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
mod courses;
mod enrollments;
mod erasure;
mod group_generation;
mod group_members;
mod groups;
mod guessing;
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
mod people_address;
mod people_ranks;
mod people_shared;
mod personal_export;
mod purge;
mod school;
mod subjects;
mod take_over;
mod workrooms;
