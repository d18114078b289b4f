//! A stand-in for an ONLYOFFICE document server: it speaks the same protocol, with a plain text editor instead
//! of an office suite, and with the real server's faults as switches. It knows nothing of the servers it talks to.
//!
//! | module | what it is for |
//! |---|---|
//! | `practice`, `settings`, `listener`, `routes` | start, stop, state, addresses |
//! | `opening`, `joining`, `session` | who opens what, and the text they share |
//! | `saving`, `callback` | saves, and how others are told |
//! | `command`, `convert`, `results` | what other servers ask for |
//! | `token` | signing and checking |
//! | `ooxml`, `xml`, `blank`, `pdf` | documents as lines of text |
//! | `faults`, `record` | what shall go wrong, what went by |
//! | `editor_page`, `practice_api`, `client` | the editor in a browser, and editors without one |

mod blank;
mod callback;
pub mod client;
mod clock;
mod command;
mod command_line;
mod convert;
mod editor_page;
mod faults;
mod joining;
mod listener;
mod ooxml;
mod opening;
mod pdf;
mod practice;
mod practice_api;
mod record;
mod results;
mod routes;
mod saving;
mod session;
mod settings;
mod token;
mod xml;

pub use blank::document as blank_document;
pub use command_line::run as run_command_line;
pub use faults::{Down, DownloadFault, Duplicate, Faults, SlowCallback, Switches};
pub use joining::Opened;
pub use ooxml::{Kind, Unreadable, read as read_document, write as write_document};
pub use opening::{Refusal, User};
pub use pdf::{document as pdf_document, text as pdf_text};
pub use practice::{Practice, Running};
pub use practice_api::View;
pub use record::{Heard, Sent};
pub use settings::Settings;
