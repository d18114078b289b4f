//! The `groupwork` server: settings, commands, and the construction of the service from its crates.

mod background;
pub mod bootstrap;
pub mod cli;
pub mod config;
