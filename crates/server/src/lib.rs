//! The map of the rooms. Imports go downstairs only (`tests/api/architecture.rs` reads them).
//!
//! ```text
//! floor 7   cli                                         started
//! floor 6   http                                        asked
//! floor 5   editing   import   jobs   backup            several units; beside requests
//! floor 4   changes                                     opens and ends every Work; tells
//! floor 3   actions   live                              done; listened to
//! floor 2   auth                                        who
//! floor 1   store   files   document_server   dns   mail   views     remembered, kept, fetched, asked, sent, shown
//! floor 0   model   better-auth                         true
//! ```

pub mod auth;
pub mod backup;
pub mod bootstrap;
pub mod changes;
pub mod cli;
pub mod clock;
pub mod config;
pub mod dns;
pub mod document_server;
pub mod editing;
pub mod error;
pub mod failpoint;
pub mod files;
pub mod http;
pub mod import;
pub mod jobs;
pub mod live;
pub mod mail;
pub mod measures;
pub mod settings;
pub mod store;
pub mod views;

mod actions;
