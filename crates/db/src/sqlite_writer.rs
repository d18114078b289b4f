//! The connection of the SQLite writer and its checkpoints of the write-ahead log.
//!
//! After a failed sync of the database file SQLite syncs it again, which can lose rows: while a reader needs an older
//! snapshot, a checkpoint copies pages without a sync and records them as copied. If the sync of a later checkpoint
//! fails, the kernel may have dropped these pages, but the next sync reports success and the log is overwritten. After a
//! failed sync the log is therefore kept until the next start, which copies all of it again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_FSYNC;
use rusqlite::hooks::Wal;

use super::connection::Connection;
use super::db_error;
use common::error::{Error, Result};

/// A commit that leaves this many pages in the log is followed by a checkpoint, as by default in SQLite.
const CHECKPOINT_PAGES: i32 = 1000;

/// Whether the log is still copied to the database file. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Checkpoints {
    stopped: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Returns whether a sync has failed, so that nothing may be copied before the next start.
    pub(super) fn are_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Copies the whole log to the database file and truncates it, with a connection of its own. A call that found the
    /// database busy may be repeated.
    pub(super) fn run_and_truncate(&self, path: &Path) -> Result<()> {
        if self.are_stopped() {
            return Err(Error::Internal(anyhow::anyhow!(
                "an earlier sync of the database file failed"
            )));
        }
        let mut connection = Connection::open_sqlite(path, false)?;
        let outcome = connection.checkpoint();
        if let Err(Error::Internal(cause)) = &outcome
            && let Some(error) = cause.downcast_ref()
            && self.stop_after_failed_sync(error)
        {
            connection.skip_checkpoint_on_close();
        }
        outcome
    }

    fn run_after_commit(&self, wal: &mut Wal, pages: i32) {
        if pages < CHECKPOINT_PAGES || self.are_stopped() {
            return;
        }
        if let Err(error) = wal.checkpoint()
            && !self.stop_after_failed_sync(&error)
            && error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy)
        {
            tracing::warn!(%error, "SQLite WAL checkpoint failed");
        }
    }

    /// Returns whether the error is that of a failed sync.
    fn stop_after_failed_sync(&self, error: &rusqlite::Error) -> bool {
        let is_failed_sync = error.sqlite_extended_error_code() == Some(SQLITE_IOERR_FSYNC);
        if is_failed_sync {
            self.stopped.store(true, Ordering::SeqCst);
            tracing::error!(%error, "database sync failed; the write-ahead log is kept until the next start");
        }
        is_failed_sync
    }
}

/// The write connection. The state of a file after a failed sync is undefined, so after a failure the connection is
/// replaced by one with file descriptors of its own, which reads what is durable.
pub(super) struct SqliteWriter {
    path: PathBuf,
    checkpoints: Checkpoints,
    connection: Option<Connection>,
    /// Whether the connection was opened after the checkpoints had stopped.
    is_after_stop: bool,
}

impl SqliteWriter {
    pub(super) fn open(path: &Path, checkpoints: Checkpoints) -> Result<Self> {
        let mut writer = Self {
            path: path.to_owned(),
            checkpoints,
            connection: None,
            is_after_stop: false,
        };
        writer.connection = Some(writer.connect()?);
        Ok(writer)
    }

    /// Returns the connection, after opening it again if it was discarded.
    pub(super) fn get(&mut self) -> Result<&mut Connection> {
        if self.connection.is_none() {
            let connection = self.connect().map_err(|error| {
                tracing::warn!(error = db_error::describe(&error), "no connection to the database");
                Error::NotReady
            })?;
            self.is_after_stop = self.checkpoints.are_stopped();
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or(Error::NotReady)
    }

    /// Discards the connection if one of its files may be undefined.
    pub(super) fn discard_if_undefined(&mut self, commit_failed: bool) {
        if commit_failed || self.checkpoints.are_stopped() && !self.is_after_stop {
            self.discard();
        }
    }

    fn connect(&self) -> Result<Connection> {
        let mut connection = Connection::open_sqlite(&self.path, false)?;
        let checkpoints = self.checkpoints.clone();
        connection.after_sqlite_commits(move |wal, pages| checkpoints.run_after_commit(wal, pages))?;
        Ok(connection)
    }

    fn discard(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.skip_checkpoint_on_close();
        }
    }
}

impl Drop for SqliteWriter {
    fn drop(&mut self) {
        if self.checkpoints.are_stopped() {
            self.discard();
        }
    }
}
