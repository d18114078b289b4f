//! Socket connections, events, chat and presence.
#![expect(clippy::unwrap_used, reason = "tests may panic and print the reason")]

#[macro_use]
extern crate test_support;

mod boards;
mod chat;
mod chat_events;
mod chat_files;
mod connections;
mod direct_messages;
mod editor_rooms;
mod event_bus;
mod events;
mod help;
mod missed_events;
mod rooms;
