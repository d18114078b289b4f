//! One function per thing a person can do. Rules are asked of the model, statements of the store; what happened is
//! recorded as a change. No HTTP, no sockets.

pub mod addresses;
pub mod administration;
pub mod assignments;
pub mod attachments;
pub mod bulk_edits;
pub mod class_clones;
pub mod classes;
pub mod courses;
pub mod direct_messages;
pub mod documents;
pub mod enrollments;
pub mod finish;
pub mod freeze;
pub mod group_assignments;
pub mod group_divisions;
pub mod group_files;
pub mod group_members;
pub mod groups;
pub mod help;
pub mod homerooms;
pub mod imports;
pub mod members;
pub mod organizations;
pub mod passwords;
pub mod people;
pub mod privacy;
pub mod profile;
pub mod rates;
pub mod saves;
pub mod school;
pub mod sessions;
pub mod sign_in;
pub mod subjects;
pub mod submissions;
pub mod users;
