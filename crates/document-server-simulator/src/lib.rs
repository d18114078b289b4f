//! A simulator of an ONLYOFFICE document server: the same protocol, a plain text editor instead of an office suite, and
//! fault injection. It is independent of the servers that use it.
//!
//! | module | purpose |
//! |---|---|
//! | `simulator`, `settings`, `listener`, `routes` | lifecycle, state, HTTP routes |
//! | `editor_config`, `connections`, `session` | opening documents, shared editing sessions |
//! | `save`, `callback` | saves and their callbacks |
//! | `command`, `convert`, `results` | command service, conversions, result files |
//! | `token` | signing and verification of tokens |
//! | `ooxml`, `xml`, `blank`, `pdf`, `legacy` | documents as lines of text |
//! | `faults`, `request_log` | fault injection, recorded callbacks and requests |
//! | `editor_page`, `control_api`, `client` | the editor page, the control API, a client without a browser |

mod blank;
mod callback;
pub mod client;
mod clock;
mod command;
mod command_line;
mod connections;
mod control_api;
mod convert;
mod editor_config;
mod editor_page;
mod faults;
mod legacy;
mod listener;
mod ooxml;
mod pdf;
mod request_log;
mod results;
mod routes;
mod save;
mod session;
mod settings;
mod simulator;
mod token;
mod xml;

pub use blank::document as blank_document;
pub use command_line::run as run_command_line;
pub use connections::OpenedEditor;
pub use control_api::EditorSnapshot;
pub use editor_config::{ConfiguredUser, EditorError};
pub use faults::{CallbackDelay, DownloadFault, DuplicateDelivery, FaultInjector, Faults, Outage};
pub use ooxml::{DocumentError, DocumentKind, read as read_document, write as write_document};
pub use pdf::{document as pdf_document, text as pdf_text};
pub use request_log::{ReceivedRequest, SentCallback};
pub use settings::SimulatorSettings;
pub use simulator::{RunningSimulator, Simulator};
