//! The only SQL without an organization: sessions, accounts, organizations, and where a document is at home. Every way
//! in needs a [`PlatformProof`]; `rg PlatformProof` lists all exceptions.

pub mod editing;
pub mod file_removals;
pub mod homes;
pub mod organizations;
pub mod sessions;
pub mod staged_files;
pub mod users;

use super::connection::Connection;
use super::sql::Sql;

/// A proof that looking across organizations is one of the listed exceptions.
#[derive(Debug)]
pub struct PlatformProof(());

impl PlatformProof {
    /// Finding out who asks, and everything under `/auth`.
    pub fn session_look_up() -> Self {
        Self(())
    }

    /// Finding the organization a Host names.
    pub fn host_look_up() -> Self {
        Self(())
    }

    /// The home of a document, for a request whose document-server token was verified.
    pub fn document_server() -> Self {
        Self(())
    }

    /// A SUPER_ADMIN without an organization asks for an object.
    pub fn super_admin() -> Self {
        Self(())
    }

    /// The command line of the machine itself.
    pub fn command_line() -> Self {
        Self(())
    }

    /// Tasks of the service itself: file removal, the outbox, the sweep of forgotten saves.
    pub fn housekeeping() -> Self {
        Self(())
    }
}

/// Reads and writes across organizations.
pub struct Platform<'c> {
    pub(super) connection: &'c mut Connection,
}

impl<'c> Platform<'c> {
    pub(super) fn on(connection: &'c mut Connection) -> Self {
        Self { connection }
    }
}

/// Every statement of the platform rooms by file.
pub fn statements() -> Vec<(&'static str, &'static [(&'static str, &'static Sql)])> {
    vec![
        ("platform/editing", editing::STATEMENTS),
        ("platform/file_removals", file_removals::STATEMENTS),
        ("platform/homes", homes::STATEMENTS),
        ("platform/organizations", organizations::STATEMENTS),
        ("platform/sessions", sessions::STATEMENTS),
        ("platform/staged_files", staged_files::STATEMENTS),
        ("platform/users", users::STATEMENTS),
    ]
}
