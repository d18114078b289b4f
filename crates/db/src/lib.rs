//! The database access of the service. [`Store::read`], [`Store::write_with`] and
//! [`Store::platform_read`]/[`Store::platform_write`] are the only ways to a connection. A [`ReadTx`] reads and a
//! [`WriteTx`] writes in one organization; both bind that organization as `$1` themselves, so no caller can pass
//! another one.

/// The statements of files by the name of the file, after a prefix.
macro_rules! statements_of_files {
    ($prefix:literal, $($file:ident)+) => { vec![$((concat!($prefix, stringify!($file)), $file::STATEMENTS.to_vec())),+] };
}

pub mod connection;
mod db_error;
pub mod fair_queue;
mod migrate;
mod pattern;
pub mod platform;
mod pooled;
mod request_context;
pub mod server;
pub mod snippets;
pub mod sql;
mod sqlite_writer;
mod store;
pub mod visibility;

pub mod activity;
pub mod api_tokens;
pub mod archives;
pub mod assignments;
pub mod attachments;
pub mod boards;
pub mod cascade;
pub mod chat;
pub mod classes;
pub mod comments;
pub mod contributions;
pub mod conversion_sources;
pub mod converted_files;
pub mod courses;
pub mod current_submissions;
pub mod deleted_documents;
pub mod direct_messages;
pub mod document_images;
pub mod document_log;
pub mod documents;
pub mod dump;
pub mod editor_access_revocation;
pub mod email_outbox;
pub mod enrollments;
pub mod erasure;
pub mod gdpr;
pub mod grade_books;
pub mod group_assignments;
pub mod groups;
pub mod handouts;
pub mod homeroom_following;
pub mod homerooms;
pub mod idempotency;
pub mod imports;
pub mod invitations;
pub mod jobs;
mod labels;
pub mod mail_domains;
pub mod members;
pub mod membership_removal;
pub mod organization_sessions;
pub mod organization_settings;
pub mod organization_stats;
pub mod organizations;
pub mod outbox;
pub mod overview;
pub mod page;
pub mod people;
pub mod purge;
pub mod rate_windows;
pub mod revisions;
pub mod rooms;
pub mod rosters;
pub mod rubrics;
pub mod saves;
pub mod schema_compatibility;
pub mod sign_on;
pub mod storage;
pub mod subjects;
pub mod submissions;
pub mod tenant_hint;
pub mod users;
pub mod versions;
pub mod work_rooms;

use std::ops::{Deref, DerefMut};

use domain::access::Viewer;
use domain::change::Change;
use domain::id::OrganizationId;
use domain::time::Timestamp;

pub use self::migrate::{SchemaState, compare_schema, migrate, migrate_to, newest_migration};
use self::pattern::pattern;
use self::platform::{CrossTenantReason, PlatformTx};
pub use self::request_context::{ActingToken, Actor, RequestContext, Tenant};
use self::sql::{Columns, NamedStatements, Sql, Value};
pub use self::store::{AfterCommit, Database, Store};
use self::{connection::Connection, storage::Stored};
use common::error::{Error, Result};

/// A read transaction in one organization.
pub struct ReadTx<'c> {
    connection: &'c mut Connection,
    context: RequestContext,
}

impl ReadTx<'_> {
    /// The organization of all rows that are read and written.
    pub fn organization(&self) -> &OrganizationId {
        self.context.tenant.id()
    }

    /// The context of the request: tenant, viewer, actor and time.
    pub fn context(&self) -> &RequestContext {
        &self.context
    }

    /// The user whose visibility rules apply.
    pub fn viewer(&self) -> &Viewer {
        &self.context.viewer
    }

    /// The user who acts.
    pub fn actor(&self) -> &Actor {
        &self.context.actor
    }

    /// The time of the request.
    pub fn now(&self) -> Timestamp {
        self.context.now
    }

    /// Reads rows of this organization; `$1` is the organization, the arguments begin at `$2`.
    fn fetch_all<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Self { connection, context } = self;
        connection.fetch_all(sql, &bound(context, arguments), read)
    }

    /// Reads at most one row of this organization.
    fn fetch_optional<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Self { connection, context } = self;
        connection.fetch_optional(sql, &bound(context, arguments), read)
    }

    /// Reads one row of this organization, or returns [`Error::NotFound`].
    fn fetch_one<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<T> {
        self.fetch_optional(sql, arguments, read)?.ok_or(Error::NotFound)
    }

    /// Reads rows that are visible to the viewer: `$1` organization, `$2` role, `$3` viewer, `$4` now, the arguments
    /// begin at `$5` ([`visibility`]).
    fn fetch_all_visible<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Self { connection, context } = self;
        let mut bound = vec![
            Value::Text(context.tenant.id().as_str()),
            Value::Text(context.viewer.role_text()),
            Value::Text(context.viewer.user_text()),
            Value::Int(context.now.as_millis()),
        ];
        bound.extend_from_slice(arguments);
        connection.fetch_all(sql, &bound, read)
    }

    /// Reads one row that is visible to the viewer, or returns [`Error::NotFound`].
    fn fetch_one_visible<T>(
        &mut self,
        sql: &'static Sql,
        arguments: &[Value<'_>],
        read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<T> {
        self.fetch_all_visible(sql, arguments, read)?
            .into_iter()
            .next()
            .ok_or(Error::NotFound)
    }
}

/// Prepends the organization to the arguments of a statement.
fn bound<'v>(context: &'v RequestContext, arguments: &[Value<'v>]) -> Vec<Value<'v>> {
    let mut bound = Vec::with_capacity(arguments.len() + 1);
    bound.push(Value::Text(context.tenant.id().as_str()));
    bound.extend_from_slice(arguments);
    bound
}

/// A write transaction in one organization. It can also read everything that a [`ReadTx`] can.
pub struct WriteTx<'c> {
    read_tx: ReadTx<'c>,
    changes: Vec<Change>,
    /// The change of the stored bytes in this transaction (`storage.rs`).
    stored: Stored,
}

impl<'c> WriteTx<'c> {
    /// A transaction that is open on this connection already.
    pub(crate) fn on(connection: &'c mut Connection, context: RequestContext) -> Self {
        Self {
            read_tx: ReadTx { connection, context },
            changes: Vec::new(),
            stored: Stored::default(),
        }
    }
}

impl WriteTx<'_> {
    /// Records a change. Log record, events and file removal are derived from it (`changes/`).
    pub fn record(&mut self, change: impl Into<Change>) {
        self.changes.push(change.into());
    }

    /// Takes the recorded changes, for `Transactor::write`, after the action.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Executes a statement in this organization.
    fn execute(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<()> {
        self.execute_counted(sql, arguments).map(drop)
    }

    /// Executes a statement in this organization and returns the number of affected rows.
    fn execute_counted(&mut self, sql: &'static Sql, arguments: &[Value<'_>]) -> Result<u64> {
        let ReadTx { connection, context } = &mut self.read_tx;
        connection.execute_counted(sql, &bound(context, arguments))
    }

    /// Executes a statement with named parameters. Values that it does not name are ignored.
    fn execute_named(&mut self, sql: &'static Sql, values: &[(&str, Value<'_>)]) -> Result<()> {
        self.execute(sql, &sql.arguments_of(values)?)
    }

    /// Executes a statement with named parameters that may affect no row, and returns whether it did.
    fn execute_conditional(&mut self, sql: &'static Sql, values: &[(&str, Value<'_>)]) -> Result<bool> {
        Ok(self.execute_counted(sql, &sql.arguments_of(values)?)? > 0)
    }

    /// Runs `act` in a savepoint, so that its failure does not affect the rest of the transaction: a failed insert into
    /// the activity log does not fail the action.
    pub fn savepoint(&mut self, act: impl FnOnce(&mut WriteTx<'_>) -> Result<()>) -> Result<()> {
        let context = self.read_tx.context.clone();
        let connection = &mut *self.read_tx.connection;
        connection.savepoint(|connection| act(&mut WriteTx::on(connection, context)))
    }

    /// Runs `act` and rolls back its writes and recorded changes: a dry run with the code of the real one.
    pub fn dry_run<T>(&mut self, act: impl FnOnce(&mut WriteTx<'_>) -> Result<T>) -> Result<T> {
        let context = self.read_tx.context.clone();
        let connection = &mut *self.read_tx.connection;
        connection.dry_run(|connection| act(&mut WriteTx::on(connection, context)))
    }

    /// Acts across organizations in this transaction; states why.
    pub fn on_platform<T>(
        &mut self,
        _: CrossTenantReason,
        act: impl FnOnce(&mut PlatformTx<'_>) -> Result<T>,
    ) -> Result<T> {
        act(&mut PlatformTx::on(self.read_tx.connection))
    }
}

impl<'c> Deref for WriteTx<'c> {
    type Target = ReadTx<'c>;
    fn deref(&self) -> &ReadTx<'c> {
        &self.read_tx
    }
}

impl<'c> DerefMut for WriteTx<'c> {
    fn deref_mut(&mut self) -> &mut ReadTx<'c> {
        &mut self.read_tx
    }
}

/// All tenant-scoped statements by file, for the test that prepares them on both databases.
pub fn statements() -> Vec<(&'static str, NamedStatements)> {
    let mut all = statements_of_files! { "",
        activity api_tokens assignments attachments chat classes contributions conversion_sources converted_files
        courses deleted_documents direct_messages document_images document_log documents editor_access_revocation
        email_outbox enrollments erasure grade_books groups handouts homeroom_following homerooms idempotency imports
        invitations jobs mail_domains members membership_removal organization_sessions organization_settings
        organization_stats organizations outbox people purge rate_windows revisions rooms rosters rubrics saves sign_on
        snippets storage subjects users versions work_rooms
    };
    let others = [
        ("gdpr/hidden", gdpr::hidden::STATEMENTS),
        ("gdpr/export_tables", gdpr::export_tables::STATEMENTS),
        ("gdpr/files", gdpr::files::STATEMENTS),
    ];
    all.extend(others.map(|(file, statements)| (file, statements.to_vec())));
    all.extend(archives::all_statements());
    all.extend(cascade::all_statements());
    all.extend(overview::all_statements());
    all.extend(group_assignments::all_statements());
    all.extend(groups::all_statements());
    all.extend(submissions::all_statements());
    all
}
