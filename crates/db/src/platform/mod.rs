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
use domain::change::{Change, SessionChange};
use domain::time::Timestamp;

use super::connection::Connection;
use super::sql::{Columns, NamedStatements, Sql, Value};
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

    /// Reads rows; the arguments begin at `$1`.
    pub(super) fn fetch_all<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.connection.fetch_all(sql, arguments, read)
    }

    /// Reads at most one row.
    pub(super) fn fetch_optional<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection.fetch_optional(sql, arguments, read)
    }

    /// Reads one row, or returns [`Error::NotFound`].
    pub(super) fn fetch_one<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<T> {
        self.fetch_optional(sql, arguments, read)?.ok_or(Error::NotFound)
    }

    pub(super) fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<()> {
        self.connection.execute(sql, arguments)
    }

    /// Executes a statement and returns the number of affected rows.
    pub(super) fn execute_counted(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        self.connection.execute_counted(sql, arguments)
    }

    /// Executes a statement with named parameters. Values that it does not name are ignored.
    pub(super) fn execute_named(&mut self, sql: &'static Sql, values: &[(&str, Value<'_>)]) -> Result<()> {
        self.connection.execute_named(sql, values)
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
                let mut tx = WriteTx::on(&mut *self.platform.connection, context);
                tx.changes = changes;
                before_commit(&mut tx)
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
        self.connection
            .savepoint(|connection| act(&mut WriteTx::on(connection, context)))
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
    let mut all = statements_of_files! { "platform/",
        accounts addresses administration api_tokens archives backups boards deleted_documents document_log editing
        email_outbox erasure file_removals gdpr idempotency invitations jobs listeners mail_domains old_messages
        operations organizations outbox passkeys resource_tenant rosters second_factors sessions sign_in sign_on
        staged_files storage system users
    };
    let others = [
        ("gdpr/account_tables", super::gdpr::account_tables::STATEMENTS),
        ("dump/load", super::dump::load::STATEMENTS),
        ("dump/school_completion", super::dump::school_completion::STATEMENTS),
        ("dump/school_import", super::dump::school_import::STATEMENTS),
        ("dump/school_people", super::dump::school_people::STATEMENTS),
    ];
    all.extend(others.map(|(file, statements)| (file, statements.to_vec())));
    all
}
