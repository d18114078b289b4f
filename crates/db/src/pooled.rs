//! The database connection of a thread: reconnects after the connection broke, with a pause after a failure. Threads
//! without a connection leave jobs to threads that have one, as long as there are any.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::db_error;
use super::sqlite_writer::Checkpoints;
use super::store::{Database, connect};
use common::error::{Error, Result};

/// After a failed attempt no thread reconnects for this time; requests fail immediately.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// Reconnect interval of a thread without a connection while other threads have theirs. It doubles up to the maximum,
/// because a server at its connection limit usually stays there.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const RETRY_INTERVAL_MAX: Duration = Duration::from_secs(2);

/// The connections of all threads of one kind (readers or writers).
pub(super) struct Pool {
    database: Database,
    is_read_only: bool,
    checkpoints: Checkpoints,
    /// The number of threads that believe to have a connection.
    connected: AtomicUsize,
    /// The time of the last failed attempt, cleared by a successful one.
    failed: Mutex<Option<Instant>>,
}

impl Pool {
    pub(super) fn new(database: &Database, is_read_only: bool, checkpoints: Checkpoints) -> Arc<Self> {
        Arc::new(Self {
            database: database.clone(),
            is_read_only,
            checkpoints,
            connected: AtomicUsize::new(0),
            failed: Mutex::default(),
        })
    }

    fn connect(&self) -> Result<Connection> {
        if self
            .failed()
            .is_some_and(|failed| failed.elapsed() < PAUSE_AFTER_FAILURE)
        {
            return Err(Error::NotReady);
        }
        match connect(&self.database, self.is_read_only) {
            Ok(connection) => {
                *self.failed() = None;
                self.connected.fetch_add(1, Ordering::SeqCst);
                Ok(connection)
            }
            Err(error) => {
                // Logged once per outage; failed requests appear in the request log.
                if self.failed().replace(Instant::now()).is_none() {
                    tracing::warn!(error = db_error::describe(&error), "no connection to the database");
                }
                Err(error)
            }
        }
    }

    fn failed(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of one thread.
pub(super) struct Pooled {
    pool: Arc<Pool>,
    connection: Option<Connection>,
}

impl Pooled {
    /// Creates the connection of a thread. The first thread must connect immediately; a server at its connection limit
    /// does not prevent the start.
    pub(super) fn for_thread(pool: &Arc<Pool>, number: usize) -> Result<Self> {
        let connection = if number == 0 { Some(pool.connect()?) } else { None };
        Ok(Self {
            pool: Arc::clone(pool),
            connection,
        })
    }

    /// Returns the connection, after reconnecting if it broke.
    pub(super) fn get(&mut self) -> Result<&mut Connection> {
        self.discard_if_closed();
        if self.connection.is_none() {
            self.connection = Some(self.pool.connect().map_err(|_| Error::NotReady)?);
        }
        self.connection.as_mut().ok_or(Error::NotReady)
    }

    /// Discards the connection, whose state is unknown.
    pub(super) fn discard(&mut self) {
        if let Some(connection) = self.connection.take() {
            if self.pool.checkpoints.are_stopped() {
                connection.skip_checkpoint_on_close();
            }
            self.pool.connected.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Discards the connection if it broke during its last use.
    pub(super) fn discard_if_closed(&mut self) {
        if self.connection.as_ref().is_some_and(Connection::is_closed) {
            self.discard();
        }
    }

    /// Waits until there is a connection, or until no thread has one: then the jobs must be failed.
    pub(super) fn wait_for_connection(&mut self) {
        let mut pause = RETRY_INTERVAL;
        while self.connection.is_none() && self.pool.connected.load(Ordering::SeqCst) > 0 {
            if self.get().is_err() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(RETRY_INTERVAL_MAX);
            }
        }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.discard();
    }
}
