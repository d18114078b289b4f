//! Socket connections, events, chat and presence.
#![expect(clippy::unwrap_used, reason = "tests may panic and print the reason")]

#[macro_use]
extern crate test_support;

mod boards;
mod chat;
mod chat_events;
mod chat_files;
mod direct_messages;
mod help;
mod live;
mod live_bus;
mod live_events;
mod live_rooms;
