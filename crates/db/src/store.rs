//! The threads that own the database connections. Reads run on a pool of readers. On SQLite, writes run on one thread
//! that commits all queued writes in one transaction (a savepoint for each) and replies after the commit. On
//! PostgreSQL, writes run on a pool, each in its own transaction. A full queue rejects immediately, a panicking job
//! does not end its thread, and a connection that broke while idle is replaced without failing a request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use domain::access::Viewer;
use domain::time::Timestamp;
use tokio::sync::oneshot;

use super::connection::{Connection, statements_run};
use super::fair_queue::{Receiver, Sender, TenantKey, TrySendError, channel};
use super::platform::{CrossTenantReason, PlatformTx, PlatformWriteTx};
use super::pooled::{Pool, Pooled};
use super::server::Server;
use super::sqlite_writer::{Checkpoints, SqliteWriter};
use super::{Actor, ReadTx, RequestContext, WriteTx, db_error, dump};
use common::error::{Error, Result};
use common::failpoint;
use common::metrics::metrics;

/// The configured database.
#[derive(Debug, Clone)]
pub enum Database {
    /// Path of the SQLite file.
    Sqlite(PathBuf),
    /// URL of the PostgreSQL server.
    Postgres(String),
}

impl Database {
    /// Describes the database for operators, without the password.
    pub fn describe(&self) -> String {
        match self {
            Self::Sqlite(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("SQLite {}", path.display())
            }
            Self::Postgres(url) => Server::of(url).map_or_else(|_| "PostgreSQL".to_owned(), |server| server.describe()),
        }
    }

    /// Returns whether the database exists and has a schema. Creates nothing.
    pub fn has_schema(&self) -> Result<bool> {
        let mut connection = match self {
            Self::Sqlite(path) if !path.exists() => return Ok(false),
            Self::Sqlite(path) => Connection::open_sqlite(path, true)?,
            Self::Postgres(url) => Connection::open_postgres(url)?,
        };
        Ok(dump::version(&mut connection)?.is_some())
    }
}

/// Capacity of a queue. Once it is reached, further jobs of tenants that hold their share of it are rejected with 503.
const QUEUE_CAPACITY: usize = 1024;
/// Group commit on SQLite: at most `GROUP_COMMIT_MAX` writes per transaction, collected for at most
/// `GROUP_COMMIT_WINDOW`, because the first write waits for the last one.
const GROUP_COMMIT_MAX: usize = 64;
const GROUP_COMMIT_WINDOW: Duration = Duration::from_millis(50);
/// Maximum number of attempts to run a transaction on PostgreSQL.
const ATTEMPTS_MAX: u32 = 6;

/// A read job. It receives a connection with an open transaction, or the error that prevented it.
type ReadJob = Box<dyn FnOnce(Result<&mut Connection>) + Send>;

/// Runs after the commit of a transaction is durable.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

/// A write transaction as the writer threads see it: it can be run repeatedly and is notified of its outcome.
trait WriteJob: Send {
    fn run(&mut self, connection: &mut Connection) -> Result<()>;
    fn finish(self: Box<Self>, committed: Result<()>);
}

/// The database access of the service: the queues of the read and write threads. Clones share them.
#[derive(Clone)]
pub struct Store {
    /// Statements run by all read jobs.
    read_statement_count: Arc<AtomicU64>,
    /// Statements run by all write jobs.
    write_statement_count: Arc<AtomicU64>,
    /// Whether the last commit failed: the disk is full or broken, although reads still work.
    commit_failed: Arc<AtomicBool>,
    checkpoints: Checkpoints,
    reads: Sender<ReadJob>,
    writes: Sender<Box<dyn WriteJob>>,
    database: Database,
}

impl Store {
    /// Opens `readers` read connections and, on PostgreSQL, `writers` write connections, one thread each. The schema must
    /// be current ([`migrate`](super::migrate())).
    pub fn open(database: &Database, readers: usize, writers: usize) -> Result<Self> {
        // A tenant can occupy all readers but one. PostgreSQL has many readers; SQLite has few, so one more is opened.
        // A mostly idle thread costs less than one reader fewer for a tenant.
        let extra = usize::from(matches!(database, Database::Sqlite(_)));
        let readers = readers.max(1) + extra;
        let (reads, read_jobs) = channel::<ReadJob>(QUEUE_CAPACITY, readers);
        let checkpoints = Checkpoints::default();
        let pool = Pool::new(database, true, checkpoints.clone());
        for number in 0..readers {
            let jobs = read_jobs.clone();
            let mut pooled = Pooled::for_thread(&pool, number)?;
            spawn(&format!("reader-{number}"), move || {
                pooled.wait_for_connection();
                while let Some((job, permit)) = jobs.receive() {
                    run_read(&mut pooled, job);
                    // Releases the permit first: waiting for a connection must not block other jobs of the tenant.
                    drop(permit);
                    pooled.discard_if_closed();
                    pooled.wait_for_connection();
                }
            })?;
        }
        let write_threads = match database {
            Database::Sqlite(_) => 1,
            Database::Postgres(_) => writers.max(1),
        };
        let (writes, write_jobs) = channel::<Box<dyn WriteJob>>(QUEUE_CAPACITY, write_threads);
        let commit_failed = Arc::new(AtomicBool::new(false));
        match database {
            Database::Sqlite(path) => {
                let mut writer = SqliteWriter::open(path, checkpoints.clone())?;
                let failed = Arc::clone(&commit_failed);
                spawn("writer", move || {
                    while let Some((first, _turn)) = write_jobs.receive() {
                        let outcome = match writer.get() {
                            Ok(connection) => write_group(connection, first, &write_jobs),
                            Err(error) => {
                                first.finish(Err(error));
                                Err(())
                            }
                        };
                        failed.store(outcome.is_err(), Ordering::Relaxed);
                        writer.discard_if_undefined(outcome.is_err());
                    }
                })?;
            }
            Database::Postgres(_) => {
                let pool = Pool::new(database, false, checkpoints.clone());
                for number in 0..write_threads {
                    let jobs = write_jobs.clone();
                    let mut pooled = Pooled::for_thread(&pool, number)?;
                    spawn(&format!("writer-{number}"), move || {
                        pooled.wait_for_connection();
                        while let Some((job, permit)) = jobs.receive() {
                            write_with_retries(&mut pooled, job);
                            drop(permit);
                            pooled.discard_if_closed();
                            pooled.wait_for_connection();
                        }
                    })?;
                }
            }
        }
        Ok(Self {
            read_statement_count: Arc::default(),
            write_statement_count: Arc::default(),
            commit_failed,
            checkpoints,
            reads,
            writes,
            database: database.clone(),
        })
    }

    /// Checkpoints and truncates the write-ahead log of SQLite at shutdown, so that the database file alone is a complete
    /// copy.
    pub async fn checkpoint(&self) -> Result<()> {
        let Database::Sqlite(path) = self.database.clone() else {
            return Ok(());
        };
        let checkpoints = self.checkpoints.clone();
        let done = tokio::task::spawn_blocking(move || checkpoints.run_and_truncate(&path)).await;
        done.map_err(|error| anyhow::anyhow!(error))?
    }

    /// Returns the number of statements of all reads so far, to detect N+1 queries.
    pub fn read_statement_count(&self) -> u64 {
        self.read_statement_count.load(Ordering::Relaxed)
    }

    /// Returns the number of statements of all writes so far, to detect a statement for each row.
    pub fn write_statement_count(&self) -> u64 {
        self.write_statement_count.load(Ordering::Relaxed)
    }

    /// Returns whether the last commit failed; the next successful commit resets it.
    pub fn commit_failed(&self) -> bool {
        self.commit_failed.load(Ordering::Relaxed)
    }

    /// Returns whether SQLite keeps its write-ahead log until the next start, because a sync of the database file failed.
    pub fn checkpoints_stopped(&self) -> bool {
        self.checkpoints.are_stopped()
    }

    /// Runs a read transaction in one organization.
    pub async fn read<T: Send + 'static>(
        &self,
        context: RequestContext,
        query: impl FnOnce(&mut ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tenant = Some(context.tenant.id().clone());
        self.queue_read(tenant, move |connection| query(&mut ReadTx { connection, context }))
            .await
    }

    /// Reads all organizations in one snapshot, for lists of a SUPER_ADMIN without an active organization. `gather` is
    /// called with each organization.
    pub async fn read_all_tenants<T: Send + 'static>(
        &self,
        _: CrossTenantReason,
        (actor, now): (Actor, Timestamp),
        start: T,
        mut gather: impl FnMut(&mut T, &mut ReadTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<T> {
        self.queue_read(None, move |connection| {
            let mut gathered = start;
            for tenant in PlatformTx::on(connection).tenants()? {
                let context = RequestContext {
                    tenant,
                    viewer: Viewer::Admin,
                    actor: actor.clone(),
                    now,
                };
                gather(&mut gathered, &mut ReadTx { connection, context })?;
            }
            Ok(gathered)
        })
        .await
    }

    /// Runs a write transaction in one organization. Only `service::changes::Transactor` calls this; `before_commit`
    /// processes the recorded changes and returns what runs after the commit.
    pub async fn write_with<T: Send + 'static>(
        &self,
        context: RequestContext,
        mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
        mut before_commit: impl FnMut(&mut WriteTx<'_>) -> Result<AfterCommit> + Send + 'static,
    ) -> Result<T> {
        let tenant = Some(context.tenant.id().clone());
        self.queue_write(tenant, move |connection| {
            let mut tx = WriteTx::on(connection, context.clone());
            let output = act(&mut tx)?;
            let after = before_commit(&mut tx)?;
            Ok((output, after))
        })
        .await
    }

    /// Reads across organizations; states why.
    pub async fn platform_read<T: Send + 'static>(
        &self,
        _: CrossTenantReason,
        query: impl FnOnce(&mut PlatformTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.queue_read(None, move |connection| query(&mut PlatformTx::on(connection)))
            .await
    }

    /// Reads one row. Fails while the database is away.
    pub async fn check_connection(&self) -> Result<()> {
        self.platform_read(CrossTenantReason::Housekeeping, |platform| platform.deployment_id())
            .await
            .map(drop)
    }

    /// Reads across organizations, queued for `tenant` if its organization is known. This affects only the order.
    pub async fn platform_read_for<T: Send + 'static>(
        &self,
        tenant: TenantKey,
        _: CrossTenantReason,
        query: impl FnOnce(&mut PlatformTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.queue_read(tenant, move |connection| query(&mut PlatformTx::on(connection)))
            .await
    }

    /// Writes across organizations; states why.
    pub async fn platform_write<T: Send + 'static>(
        &self,
        _: CrossTenantReason,
        mut act: impl FnMut(&mut PlatformTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let nothing_after = || -> AfterCommit { Box::new(|| ()) };
        self.queue_write(None, move |connection| {
            Ok((act(&mut PlatformTx::on(connection))?, nothing_after()))
        })
        .await
    }

    /// Runs a write transaction across organizations that emits events. Only
    /// `service::changes::Transactor` calls this.
    pub async fn platform_write_with<T: Send + 'static>(
        &self,
        _: CrossTenantReason,
        mut act: impl FnMut(&mut PlatformWriteTx<'_>) -> Result<T> + Send + 'static,
        mut before_commit: impl FnMut(&mut PlatformWriteTx<'_>) -> Result<AfterCommit> + Send + 'static,
    ) -> Result<T> {
        self.queue_write(None, move |connection| {
            let mut tx = PlatformWriteTx::on(connection);
            let output = act(&mut tx)?;
            Ok((output, before_commit(&mut tx)?))
        })
        .await
    }

    /// Returns the number of queued write transactions of one tenant, for tests.
    pub fn queued_writes(&self, tenant: &TenantKey) -> usize {
        self.writes.waiting_of(tenant)
    }

    /// Runs `query` on a reader, in one snapshot of the database. Queued fairly between tenants.
    async fn queue_read<T: Send + 'static>(
        &self,
        tenant: TenantKey,
        query: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, result) = oneshot::channel();
        let counter = Arc::clone(&self.read_statement_count);
        let job: ReadJob = Box::new(move |connection| {
            let connection = match connection {
                Ok(connection) => connection,
                Err(error) => return drop(reply.send(Err(db_error::into_public(error)))),
            };
            let before = statements_run();
            let found = catch_unwind(AssertUnwindSafe(|| query(connection))).unwrap_or_else(|_| Err(panic_error()));
            counter.fetch_add(statements_run() - before, Ordering::Relaxed);
            // Sends the result before the transaction ends: its end costs a round trip, and its failure does not affect
            // the data that was read.
            let ending = if found.is_ok() { "COMMIT" } else { "ROLLBACK" };
            drop(reply.send(found.map_err(db_error::into_public)));
            drop(connection.execute_batch(ending));
        });
        let started_at = Instant::now();
        self.reads.try_send(tenant, job).map_err(queue_error)?;
        let outcome = result.await.unwrap_or_else(|_| Err(Error::NotReady));
        metrics().record_transaction("read", started_at.elapsed());
        outcome
    }

    /// Runs `act` in one transaction. Once queued it no longer depends on the caller: either it is committed and its
    /// `AfterCommit` runs, or neither happens. `act` may be retried on PostgreSQL, so it is `FnMut`.
    async fn queue_write<T: Send + 'static>(
        &self,
        tenant: TenantKey,
        mut act: impl FnMut(&mut Connection) -> Result<(T, AfterCommit)> + Send + 'static,
    ) -> Result<T> {
        let (reply, result) = oneshot::channel();
        let counter = Arc::clone(&self.write_statement_count);
        let act = move |connection: &mut Connection| {
            let before = statements_run();
            let outcome = act(connection);
            counter.fetch_add(statements_run() - before, Ordering::Relaxed);
            outcome
        };
        let job = Box::new(WriteClosure {
            act,
            output: None,
            reply,
        });
        let started_at = Instant::now();
        self.writes.try_send(tenant, job).map_err(queue_error)?;
        let outcome = result.await.unwrap_or_else(|_| Err(Error::NotReady));
        metrics().record_transaction("write", started_at.elapsed());
        outcome
    }
}

struct WriteClosure<T, F> {
    act: F,
    output: Option<(T, AfterCommit)>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, F> WriteJob for WriteClosure<T, F>
where
    T: Send,
    F: FnMut(&mut Connection) -> Result<(T, AfterCommit)> + Send,
{
    fn run(&mut self, connection: &mut Connection) -> Result<()> {
        self.output = None;
        let act = &mut self.act;
        let outcome = catch_unwind(AssertUnwindSafe(|| act(connection))).unwrap_or_else(|_| Err(panic_error()))?;
        self.output = Some(outcome);
        Ok(())
    }

    fn finish(self: Box<Self>, committed: Result<()>) {
        let outcome = match (committed, self.output) {
            (Ok(()), Some((output, after))) => {
                after();
                Ok(output)
            }
            (Ok(()), None) => Err(Error::NotReady),
            (Err(error), _) => Err(error),
        };
        // The caller may be gone; the transaction is committed regardless.
        drop(self.reply.send(outcome));
    }
}

/// Runs the first write and all queued writes in one transaction. Returns an error if the commit failed; the callers
/// have been notified by then.
fn write_group(
    connection: &mut Connection,
    first: Box<dyn WriteJob>,
    jobs: &Receiver<Box<dyn WriteJob>>,
) -> Result<(), ()> {
    let started_at = Instant::now();
    let mut group: Vec<Box<dyn WriteJob>> = vec![first];
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
        // Another process holds the lock of the file. Nothing was executed, so every caller can retry.
        tracing::warn!(%error, "database locked by another process");
        group.extend(std::iter::from_fn(|| jobs.try_receive().map(|(job, _)| job)).take(GROUP_COMMIT_MAX - 1));
        for job in group {
            job.finish(Err(Error::Overloaded));
        }
        return Ok(());
    }
    let mut done: Vec<(Box<dyn WriteJob>, Result<()>)> = Vec::new();
    while let Some(mut job) = group.pop() {
        let outcome = run_in_savepoint(connection, job.as_mut());
        done.push((job, outcome));
        // A disk error rolls the whole transaction back. A write after that would run in a transaction of its own and
        // be kept, although it is reported as failed with the others.
        if done.len() < GROUP_COMMIT_MAX
            && started_at.elapsed() < GROUP_COMMIT_WINDOW
            && connection.is_in_transaction()
            && let Some((next, _)) = jobs.try_receive()
        {
            group.push(next);
        }
    }
    failpoint::hit("store.before_commit");
    // Fails as well if the transaction is gone.
    let commit = connection.execute_batch("COMMIT").map_err(db_error::from_commit);
    if commit.is_err() {
        // The file system rejected the commit: none of these writes took effect.
        drop(connection.execute_batch("ROLLBACK"));
    }
    failpoint::hit("store.after_commit");
    for (job, outcome) in done {
        match (&commit, outcome) {
            (Ok(()), outcome) => job.finish(outcome),
            // A write that was rejected by its own checks keeps that error.
            (Err(_), Err(refusal)) => job.finish(Err(refusal)),
            (Err(Error::NotReady), Ok(())) => job.finish(Err(Error::NotReady)),
            (Err(error), Ok(())) => job.finish(Err(Error::Internal(anyhow::anyhow!("commit failed: {error:?}")))),
        }
    }
    commit.map_err(drop)
}

fn run_in_savepoint(connection: &mut Connection, job: &mut dyn WriteJob) -> Result<()> {
    connection.execute_batch("SAVEPOINT write_job")?;
    let outcome = job.run(connection);
    let ending = if outcome.is_ok() {
        "RELEASE write_job"
    } else {
        "ROLLBACK TO write_job; RELEASE write_job"
    };
    connection.execute_batch(ending)?;
    outcome
}

fn write_with_retries(pooled: &mut Pooled, mut job: Box<dyn WriteJob>) {
    let mut attempts = 0;
    let outcome = loop {
        attempts += 1;
        match write_once(pooled, job.as_mut()) {
            Err(WriteError::Retryable(_)) if attempts < ATTEMPTS_MAX => {
                std::thread::sleep(Duration::from_millis(u64::from(attempts * attempts) * 10));
            }
            Err(WriteError::Retryable(error) | WriteError::Final(error)) => break Err(db_error::into_public(error)),
            Ok(()) => break Ok(()),
        }
    };
    job.finish(outcome);
}

enum WriteError {
    /// Nothing was committed; a retry may succeed.
    Retryable(Error),
    /// A retry would not help, or might apply the writes twice.
    Final(Error),
}

fn write_once(pooled: &mut Pooled, job: &mut dyn WriteJob) -> Result<(), WriteError> {
    let outcome = write_transaction(pooled.get().map_err(WriteError::Retryable)?, job);
    if let Err(WriteError::Retryable(error) | WriteError::Final(error)) = &outcome
        && db_error::is_connection_lost(error)
    {
        pooled.discard();
    }
    outcome
}

fn write_transaction(connection: &mut Connection, job: &mut dyn WriteJob) -> Result<(), WriteError> {
    let classify = |error: Error| {
        if db_error::is_retryable(&error) {
            WriteError::Retryable(error)
        } else {
            WriteError::Final(error)
        }
    };
    connection.execute_batch("BEGIN").map_err(classify)?;
    if let Err(error) = job.run(connection) {
        return Err(match connection.execute_batch("ROLLBACK") {
            Ok(()) => classify(error),
            // Whatever the outcome of the write: the connection is gone, and nothing was committed.
            Err(_) => WriteError::Retryable(Error::Internal(db_error::ConnectionLost.into())),
        });
    }
    failpoint::hit("store.before_commit");
    // The action may have ignored a statement that failed because the connection broke.
    if connection.is_closed() {
        return Err(WriteError::Retryable(Error::Internal(db_error::ConnectionLost.into())));
    }
    if let Err(error) = connection.execute_batch("COMMIT") {
        // After a serialization failure nothing is committed. A commit on a broken connection may have succeeded, so it
        // is not retried.
        return Err(if connection.is_closed() || db_error::is_connection_lost(&error) {
            tracing::warn!(
                error = db_error::describe(&error),
                "database connection lost during commit: outcome unknown"
            );
            WriteError::Final(Error::Internal(db_error::ConnectionLost.into()))
        } else {
            drop(connection.execute_batch("ROLLBACK"));
            classify(error)
        });
    }
    failpoint::hit("store.after_commit");
    Ok(())
}

/// A connection that broke while idle fails with its first statement; a new connection is tried once.
fn run_read(pooled: &mut Pooled, job: ReadJob) {
    let mut started = begin_read(pooled);
    if started.as_ref().is_err_and(db_error::is_connection_lost) {
        pooled.discard();
        started = begin_read(pooled);
    }
    match started {
        Ok(()) => job(pooled.get()),
        Err(error) => {
            pooled.discard();
            job(Err(error));
        }
    }
}

fn begin_read(pooled: &mut Pooled) -> Result<()> {
    let connection = pooled.get()?;
    let begin = match connection {
        Connection::Sqlite(_) => "BEGIN DEFERRED",
        Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    };
    connection.execute_batch(begin)
}

/// Opens a connection for the threads of the store; on PostgreSQL with timeouts.
pub(super) fn connect(database: &Database, is_read_only: bool) -> Result<Connection> {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, is_read_only),
        Database::Postgres(url) => Connection::open_limited_postgres(url),
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)?;
    Ok(())
}

fn queue_error(error: TrySendError) -> Error {
    match error {
        TrySendError::Full => Error::Overloaded,
        TrySendError::Closed => Error::NotReady,
    }
}

fn panic_error() -> Error {
    Error::Internal(anyhow::anyhow!("a database transaction panicked"))
}
