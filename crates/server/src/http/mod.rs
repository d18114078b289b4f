//! How the service is asked: routes, who may call them, shapes of requests and answers. No SQL, no transactions of its
//! own, no rules.

pub mod context;
pub mod document;
pub mod endpoint;
mod everywhere;
pub mod layers;
mod line;
pub mod listen;
pub mod page;
pub mod reply;
pub mod router;
pub mod valid;

mod activity_logs;
mod assignments;
mod attachments;
mod auth;
mod class_clones;
mod classes;
mod courses;
mod document_server;
mod document_versions;
mod documents;
mod downloads;
mod enrollments;
mod files;
mod finish;
mod group_assignments;
mod group_files;
mod groups;
mod health;
mod help;
mod homerooms;
mod imports;
mod letters;
mod members;
mod own_address;
mod pages;
mod pdf;
mod school;
mod subjects;
mod submissions;
mod system;
mod tenants;
mod users;
mod workrooms;
