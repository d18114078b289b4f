//! How the service is asked: routes, who may call them, shapes of requests and answers. No SQL, no transactions of its
//! own, no rules.

pub mod context;
pub mod document;
pub mod endpoint;
pub mod layers;
pub mod listen;
pub mod reply;
pub mod router;
pub mod valid;

mod activity_logs;
mod assignments;
mod auth;
mod classes;
mod courses;
mod document_server;
mod document_versions;
mod documents;
mod downloads;
mod files;
mod groups;
mod health;
mod pages;
mod subjects;
mod users;
mod workrooms;
