//! The only SQL across organizations: sessions, accounts, organizations, and the look-up of the organization of a
//! document. Every access requires a [`CrossTenantReason`]; `rg CrossTenantReason` lists all exceptions.

pub mod accounts;
pub mod addresses;
pub mod administration;
pub mod api_tokens;
pub mod archives;
pub mod backups;
pub mod boards;
pub mod deleted_documents;
pub mod document_log;
pub mod editing;
pub mod email_outbox;
pub mod erasure;
pub mod file_removals;
pub mod gdpr;
pub mod idempotency;
pub mod invitations;
pub mod jobs;
pub mod listeners;
pub mod mail_domains;
pub mod old_messages;
pub mod operations;
pub mod organizations;
pub mod outbox;
pub mod passkeys;
pub mod resource_tenant;
pub mod rosters;
pub mod second_factors;
pub mod sessions;
pub mod sign_in;
pub mod sign_on;
pub mod staged_files;
pub mod storage;
pub mod system;
pub mod users;

use std::ops::{Deref, DerefMut};

use domain::access::Viewer;
use domain::change::Change;
use domain::change::session::SessionChange;
use domain::time::Timestamp;

use super::connection::Connection;
use super::sql::NamedStatements;
use super::storage::Stored;
use super::{Actor, AfterCommit, ReadTx, RequestContext, WriteTx};
use common::error::{Error, Result};

/// The reason of an access across organizations. It is a label, which makes every such access searchable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossTenantReason {
    /// Authentication of the caller, and everything under `/auth`.
    SessionLookup,
    /// Sign-on through a provider of an organization, before anyone is signed in.
    SignOn,
    /// Sign-in history of a member whose password or email address the caller has just changed.
    SignInHistory,
    /// Look-up of the organization of a `Host` header.
    HostLookup,
    /// Look-up of the organization of a document, for a request with a verified token of the document server.
    DocumentServer,
    /// Commits of documents of several organizations in one transaction; each runs in the organization of its caller.
    DocumentCommits,
    /// Access by a SUPER_ADMIN without an active organization.
    SuperAdmin,
    /// Export or erasure of the personal data of a user: an account belongs to no single organization.
    PersonalData,
    /// Take-over of an account by the organization that holds its mail domain, which ends memberships elsewhere.
    TakeOver,
    /// The command line on the server.
    CommandLine,
    /// Tasks of the service itself: file removal, the event outbox, recovery of missed saves.
    Housekeeping,
}

/// A transaction across organizations.
pub struct PlatformTx<'c> {
    pub(super) connection: &'c mut Connection,
}

impl<'c> PlatformTx<'c> {
    pub(super) fn on(connection: &'c mut Connection) -> Self {
        Self { connection }
    }

    /// Reads in one organization in this transaction.
    pub fn read_in_tenant<T>(
        &mut self,
        context: RequestContext,
        query: impl FnOnce(&mut ReadTx<'_>) -> Result<T>,
    ) -> Result<T> {
        query(&mut ReadTx {
            connection: &mut *self.connection,
            context,
        })
    }
}

/// A write transaction across organizations that records changes of sessions, from which socket events are derived.
pub struct PlatformWriteTx<'c> {
    platform: PlatformTx<'c>,
    changes: Vec<SessionChange>,
    changes_by_tenant: Vec<(RequestContext, Vec<Change>)>,
}

impl<'c> PlatformWriteTx<'c> {
    pub(super) fn on(connection: &'c mut Connection) -> Self {
        Self {
            platform: PlatformTx::on(connection),
            changes: Vec::new(),
            changes_by_tenant: Vec::new(),
        }
    }

    /// Records a change of sessions.
    pub fn record(&mut self, change: SessionChange) {
        self.changes.push(change);
    }

    /// Takes the recorded changes, for `Transactor::write_platform`, after the action.
    pub fn take_changes(&mut self) -> Vec<SessionChange> {
        std::mem::take(&mut self.changes)
    }

    /// Acts in one organization in this transaction. Changes recorded there become events of that organization
    /// (`Transactor::write_platform`).
    pub fn write_in_tenant<T>(
        &mut self,
        context: RequestContext,
        act: impl FnOnce(&mut WriteTx<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut tx = WriteTx::on(&mut *self.platform.connection, context.clone());
        let outcome = act(&mut tx)?;
        let changes = tx.take_changes();
        if !changes.is_empty() {
            self.changes_by_tenant.push((context, changes));
        }
        Ok(outcome)
    }

    /// Calls `before_commit` for each organization with recorded changes, in the order in which they were recorded.
    pub fn for_each_changed_tenant(
        &mut self,
        mut before_commit: impl FnMut(&mut WriteTx<'_>) -> Result<AfterCommit>,
    ) -> Result<Vec<AfterCommit>> {
        let changes_by_tenant = std::mem::take(&mut self.changes_by_tenant);
        changes_by_tenant
            .into_iter()
            .map(|(context, changes)| {
                let read_tx = ReadTx {
                    connection: &mut *self.platform.connection,
                    context,
                };
                before_commit(&mut WriteTx {
                    read_tx,
                    changes,
                    stored: Stored::default(),
                })
            })
            .collect()
    }

    /// Acts in an organization without recording changes, in a savepoint: a failure does not affect the rest of the
    /// transaction. Does nothing if the organization was deleted.
    pub fn write_in_organization(
        &mut self,
        organization: &domain::id::OrganizationId,
        actor: Actor,
        now: Timestamp,
        act: impl FnOnce(&mut WriteTx<'_>) -> Result<()>,
    ) -> Result<()> {
        // A deleted organization has no activity log.
        let tenant = match self.tenant(organization) {
            Ok(tenant) => tenant,
            Err(Error::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        let context = RequestContext {
            tenant,
            viewer: Viewer::Admin,
            actor,
            now,
        };
        self.connection.savepoint(|connection| {
            let read_tx = ReadTx { connection, context };
            act(&mut WriteTx {
                read_tx,
                changes: Vec::new(),
                stored: Stored::default(),
            })
        })
    }
}

impl<'c> Deref for PlatformWriteTx<'c> {
    type Target = PlatformTx<'c>;
    fn deref(&self) -> &PlatformTx<'c> {
        &self.platform
    }
}

impl<'c> DerefMut for PlatformWriteTx<'c> {
    fn deref_mut(&mut self) -> &mut PlatformTx<'c> {
        &mut self.platform
    }
}

/// All statements across organizations by file, for the test that prepares them on both databases.
pub fn statements() -> Vec<(&'static str, NamedStatements)> {
    let files = [
        ("platform/archives", archives::STATEMENTS),
        ("platform/deleted_documents", deleted_documents::STATEMENTS),
        ("platform/document_log", document_log::STATEMENTS),
        ("platform/editing", editing::STATEMENTS),
        ("platform/erasure", erasure::STATEMENTS),
        ("platform/gdpr", gdpr::STATEMENTS),
        ("gdpr/account_tables", super::gdpr::account_tables::STATEMENTS),
        ("platform/email_outbox", email_outbox::STATEMENTS),
        ("platform/backups", backups::STATEMENTS),
        ("dump/load", super::dump::load::STATEMENTS),
        ("dump/school_completion", super::dump::school_completion::STATEMENTS),
        ("dump/school_import", super::dump::school_import::STATEMENTS),
        ("dump/school_people", super::dump::school_people::STATEMENTS),
        ("platform/boards", boards::STATEMENTS),
        ("platform/listeners", listeners::STATEMENTS),
        ("platform/file_removals", file_removals::STATEMENTS),
        ("platform/accounts", accounts::STATEMENTS),
        ("platform/api_tokens", api_tokens::STATEMENTS),
        ("platform/addresses", addresses::STATEMENTS),
        ("platform/administration", administration::STATEMENTS),
        ("platform/resource_tenant", resource_tenant::STATEMENTS),
        ("platform/invitations", invitations::STATEMENTS),
        ("platform/jobs", jobs::STATEMENTS),
        ("platform/mail_domains", mail_domains::STATEMENTS),
        ("platform/idempotency", idempotency::STATEMENTS),
        ("platform/old_messages", old_messages::STATEMENTS),
        ("platform/operations", operations::STATEMENTS),
        ("platform/organizations", organizations::STATEMENTS),
        ("platform/outbox", outbox::STATEMENTS),
        ("platform/passkeys", passkeys::STATEMENTS),
        ("platform/rosters", rosters::STATEMENTS),
        ("platform/second_factors", second_factors::STATEMENTS),
        ("platform/sessions", sessions::STATEMENTS),
        ("platform/staged_files", staged_files::STATEMENTS),
        ("platform/sign_in", sign_in::STATEMENTS),
        ("platform/sign_on", sign_on::STATEMENTS),
        ("platform/storage", storage::STATEMENTS),
        ("platform/system", system::STATEMENTS),
        ("platform/users", users::STATEMENTS),
    ];
    files.map(|(file, statements)| (file, statements.to_vec())).into()
}
