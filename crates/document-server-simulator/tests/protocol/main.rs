//! The practice document server against a tiny stand-in for the server whose documents are edited.

mod commands;
mod converting;
mod editing;
mod failing;
mod losing;
mod page;
mod saving;
mod support;
