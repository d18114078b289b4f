//! A thread's own connection: opened anew when it broke, and given up for a while where that does not work. Threads
//! without one leave the jobs to those who have one, as long as there are any.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::conflict;
use super::connection::Connection;
use super::db::{Database, connect};
use common::error::{Error, Result};

/// After a failed try nobody tries again for so long: whoever asks meanwhile is told at once.
const PAUSE: Duration = Duration::from_millis(100);
/// How soon a thread without a connection tries again while others have theirs; the pause doubles up to the longest, for
/// a server that is full stays full.
const STAND_BY: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(2);

/// The connections of all threads of one kind.
pub(super) struct Pool {
    database: Database,
    reading: bool,
    /// Threads that have a connection, as far as they know.
    connected: AtomicUsize,
    /// When somebody last tried in vain.
    failed: Mutex<Option<Instant>>,
}

impl Pool {
    /// Nobody has a connection yet.
    pub(super) fn new(database: &Database, reading: bool) -> Arc<Self> {
        Arc::new(Self {
            database: database.clone(),
            reading,
            connected: AtomicUsize::new(0),
            failed: Mutex::default(),
        })
    }

    fn connect(&self) -> Result<Connection> {
        if self.failed().is_some_and(|failed| failed.elapsed() < PAUSE) {
            return Err(Error::NotReady);
        }
        match connect(&self.database, self.reading) {
            Ok(connection) => {
                *self.failed() = None;
                self.connected.fetch_add(1, Ordering::SeqCst);
                Ok(connection)
            }
            Err(error) => {
                // Once is enough for the log; those who ask meanwhile are in it by themselves.
                if self.failed().replace(Instant::now()).is_none() {
                    tracing::warn!(error = conflict::cause(&error), "no connection to the database");
                }
                Err(error)
            }
        }
    }

    fn failed(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one thread holds.
pub(super) struct Pooled {
    pool: Arc<Pool>,
    connection: Option<Connection>,
}

impl Pooled {
    /// What a thread begins with. The first one must get its connection now; a server that has room for no more of them
    /// is no reason not to start.
    pub(super) fn of_thread(pool: &Arc<Pool>, number: usize) -> Result<Self> {
        let connection = if number == 0 { Some(pool.connect()?) } else { None };
        Ok(Self {
            pool: Arc::clone(pool),
            connection,
        })
    }

    /// The connection, opened anew when the old one broke.
    pub(super) fn get(&mut self) -> Result<&mut Connection> {
        self.forget_if_lost();
        if self.connection.is_none() {
            self.connection = Some(self.pool.connect().map_err(|_| Error::NotReady)?);
        }
        self.connection.as_mut().ok_or(Error::NotReady)
    }

    /// Forgets the connection: nobody knows in which state it is.
    pub(super) fn lose(&mut self) {
        if self.connection.take().is_some() {
            self.pool.connected.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Forgets the connection if its last use broke it.
    pub(super) fn forget_if_lost(&mut self) {
        if self.connection.as_ref().is_some_and(Connection::is_lost) {
            self.lose();
        }
    }

    /// Waits until there is a connection, or until nobody has one: then somebody must take the jobs and say so.
    pub(super) fn stand_by(&mut self) {
        let mut pause = STAND_BY;
        while self.connection.is_none() && self.pool.connected.load(Ordering::SeqCst) > 0 {
            if self.get().is_err() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST);
            }
        }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.lose();
    }
}
