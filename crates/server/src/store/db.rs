//! The threads that own the connections. Reads go to a pool of readers. Writes go, on SQLite, to one writer that commits
//! everything waiting in one transaction (a savepoint for each unit) and answers only after the commit; on PostgreSQL to
//! a pool, each unit in its own transaction. A full queue is refused at once, a panic in a job keeps its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::conflict;
use super::connection::{Connection, statements_run};
use super::turns::{Entrance, Exit, Party, Refused, line};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::measures::measures;

/// Where the rows are.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// A server, by its URL.
    Postgres(String),
}

/// Jobs that may wait before more of the same school is refused with 503.
const QUEUE: usize = 1024;
/// Units SQLite commits together at most, and how long it goes on gathering them: whoever is first waits for the last.
const GROUP: usize = 64;
const GATHERING: Duration = Duration::from_millis(50);
/// How often PostgreSQL may ask to run a unit again.
const TRIES: u32 = 6;

type ReadJob = Box<dyn FnOnce(&mut Connection) + Send>;

/// What a unit of work leaves to do once its commit is durable.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

/// A unit of work as the writer thread sees it: it can be run (again), and must be told how it ended.
trait Unit: Send {
    fn run(&mut self, connection: &mut Connection) -> Result<()>;
    fn end(self: Box<Self>, committed: Result<()>);
}

/// The two doors to the connections.
#[derive(Clone)]
pub struct Db {
    /// What reading jobs asked the database, all together.
    statements_read: Arc<AtomicU64>,
    /// Whether the last commit went wrong: the disk is full or broken, although reading goes on.
    commit_failed: Arc<AtomicBool>,
    reads: Entrance<ReadJob>,
    writes: Entrance<Box<dyn Unit>>,
}

impl Db {
    /// Opens `readers` reading and (PostgreSQL only) `writers` writing connections, one thread each.
    pub fn open(database: &Database, readers: usize, writers: usize) -> Result<Self> {
        // A school leaves one reader to the others. PostgreSQL has enough of them; a file is read by few, and one more that
        // mostly sleeps costs less than keeping one of those.
        let spare = usize::from(matches!(database, Database::Sqlite(_)));
        let readers = readers.max(1) + spare;
        let (reads, read_jobs) = line::<ReadJob>(QUEUE, readers);
        for number in 0..readers {
            let (database, jobs) = (database.clone(), read_jobs.clone());
            let mut connection = Some(connect(&database, true)?);
            spawn(&format!("reader-{number}"), move || {
                while let Some((job, _turn)) = jobs.receive() {
                    serve_read(&database, &mut connection, job);
                }
            })?;
        }
        let write_threads = match database {
            Database::Sqlite(_) => 1,
            Database::Postgres(_) => writers.max(1),
        };
        let (writes, write_jobs) = line::<Box<dyn Unit>>(QUEUE, write_threads);
        let commit_failed = Arc::new(AtomicBool::new(false));
        match database {
            Database::Sqlite(_) => {
                let mut connection = connect(database, false)?;
                let (database, failed) = (database.clone(), Arc::clone(&commit_failed));
                spawn("writer", move || {
                    while let Some((first, _turn)) = write_jobs.receive() {
                        let outcome = write_group(&mut connection, first, &write_jobs);
                        failed.store(outcome.is_err(), Ordering::Relaxed);
                        // What a failed sync left in the file is known to nobody: a new connection begins with what is
                        // certainly there, on a descriptor of its own.
                        if outcome.is_err()
                            && let Ok(fresh) = connect(&database, false)
                        {
                            connection = fresh;
                        }
                    }
                })?;
            }
            Database::Postgres(_) => {
                for number in 0..write_threads {
                    let (database, jobs) = (database.clone(), write_jobs.clone());
                    let mut connection = Some(connect(&database, false)?);
                    spawn(&format!("writer-{number}"), move || {
                        while let Some((unit, _turn)) = jobs.receive() {
                            write_alone(&database, &mut connection, unit);
                        }
                    })?;
                }
            }
        }
        Ok(Self {
            statements_read: Arc::default(),
            commit_failed,
            reads,
            writes,
        })
    }

    /// How many statements the readers have run so far.
    pub fn statements_read(&self) -> u64 {
        self.statements_read.load(Ordering::Relaxed)
    }

    /// Whether the last commit failed.
    pub fn commit_failed(&self) -> bool {
        self.commit_failed.load(Ordering::Relaxed)
    }

    /// Runs `look` on a reader, inside one snapshot of the database, when it is the turn of its party.
    pub async fn read<T: Send + 'static>(
        &self,
        party: Party,
        look: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let counter = Arc::clone(&self.statements_read);
        let job: ReadJob = Box::new(move |connection| {
            let before = statements_run();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                connection.batch(begin_read(connection))?;
                let found = look(connection);
                connection.batch("COMMIT")?;
                found
            }));
            let outcome = outcome.unwrap_or_else(|_| {
                drop(connection.batch("ROLLBACK"));
                Err(panicked())
            });
            if outcome.is_err() {
                drop(connection.batch("ROLLBACK"));
            }
            counter.fetch_add(statements_run() - before, Ordering::Relaxed);
            drop(answer.send(outcome));
        });
        let begun = Instant::now();
        self.reads.try_send(party, job).map_err(refused)?;
        let outcome = answered.await.unwrap_or_else(|_| Err(Error::NotReady));
        measures().database("read", begun.elapsed());
        outcome
    }

    /// Runs `act` as one unit of work. Once queued it no longer depends on the caller: it is committed and its
    /// `AfterCommit` runs, or neither. PostgreSQL may run it again, so it borrows its input.
    pub async fn write<T: Send + 'static>(
        &self,
        party: Party,
        act: impl FnMut(&mut Connection) -> Result<(T, AfterCommit)> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let unit = Box::new(Closure {
            act,
            output: None,
            answer,
        });
        let begun = Instant::now();
        self.writes.try_send(party, unit).map_err(refused)?;
        let outcome = answered.await.unwrap_or_else(|_| Err(Error::NotReady));
        measures().database("write", begun.elapsed());
        outcome
    }
}

struct Closure<T, F> {
    act: F,
    output: Option<(T, AfterCommit)>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, F> Unit for Closure<T, F>
where
    T: Send,
    F: FnMut(&mut Connection) -> Result<(T, AfterCommit)> + Send,
{
    fn run(&mut self, connection: &mut Connection) -> Result<()> {
        self.output = None;
        let act = &mut self.act;
        let outcome = catch_unwind(AssertUnwindSafe(|| act(connection))).unwrap_or_else(|_| Err(panicked()))?;
        self.output = Some(outcome);
        Ok(())
    }

    fn end(self: Box<Self>, committed: Result<()>) {
        let outcome = match (committed, self.output) {
            (Ok(()), Some((output, after))) => {
                after();
                Ok(output)
            }
            (Ok(()), None) => Err(Error::NotReady),
            (Err(error), _) => Err(error),
        };
        // The caller may have gone; what it asked for is done all the same.
        drop(self.answer.send(outcome));
    }
}

/// Runs the first unit and all that wait in one transaction. It fails when the database refused to keep them; whoever
/// waits has been told by then.
fn write_group(connection: &mut Connection, first: Box<dyn Unit>, jobs: &Exit<Box<dyn Unit>>) -> Result<(), ()> {
    let begun = Instant::now();
    let mut group: Vec<Box<dyn Unit>> = vec![first];
    if let Err(error) = connection.batch("BEGIN IMMEDIATE") {
        // Another process holds the file. Nobody was told anything yet, so all may try again.
        tracing::warn!(%error, "the database is locked");
        group.extend(std::iter::from_fn(|| jobs.try_receive().map(|(unit, _)| unit)).take(GROUP - 1));
        for unit in group {
            unit.end(Err(Error::Overloaded));
        }
        return Ok(());
    }
    let mut done: Vec<(Box<dyn Unit>, Result<()>)> = Vec::new();
    while let Some(mut unit) = group.pop() {
        let outcome = run_in_savepoint(connection, unit.as_mut());
        done.push((unit, outcome));
        // A disk that fails takes the whole transaction away. A unit after that would be one of its own and be kept,
        // although it is told with the others that it is not.
        if done.len() < GROUP
            && begun.elapsed() < GATHERING
            && connection.is_in_transaction()
            && let Some((next, _)) = jobs.try_receive()
        {
            group.push(next);
        }
    }
    failpoint::hit("store.before_commit");
    // Without a transaction this fails, too.
    let commit = connection.batch("COMMIT").map_err(conflict::commit);
    if commit.is_err() {
        // The file system refused the commit: nothing of this group happened.
        drop(connection.batch("ROLLBACK"));
    }
    failpoint::hit("store.after_commit");
    for (unit, outcome) in done {
        match (&commit, outcome) {
            (Ok(()), outcome) => unit.end(outcome),
            // What a unit was refused for is still true.
            (Err(_), Err(refusal)) => unit.end(Err(refusal)),
            (Err(Error::NotReady), Ok(())) => unit.end(Err(Error::NotReady)),
            (Err(error), Ok(())) => unit.end(Err(Error::Internal(anyhow::anyhow!("commit failed: {error:?}")))),
        }
    }
    commit.map_err(drop)
}

fn run_in_savepoint(connection: &mut Connection, unit: &mut dyn Unit) -> Result<()> {
    connection.batch("SAVEPOINT unit")?;
    let outcome = unit.run(connection);
    let ending = if outcome.is_ok() {
        "RELEASE unit"
    } else {
        "ROLLBACK TO unit; RELEASE unit"
    };
    connection.batch(ending)?;
    outcome
}

fn write_alone(database: &Database, connection: &mut Option<Connection>, mut unit: Box<dyn Unit>) {
    let mut tries = 0;
    let outcome = loop {
        tries += 1;
        match write_once(database, connection, unit.as_mut()) {
            Err(Attempt::MayRetry(_)) if tries < TRIES => {
                std::thread::sleep(Duration::from_millis(u64::from(tries * tries) * 10));
            }
            Err(Attempt::MayRetry(error) | Attempt::Final(error)) => break Err(error),
            Ok(()) => break Ok(()),
        }
    };
    unit.end(outcome);
}

enum Attempt {
    /// Nothing was committed and trying again may help.
    MayRetry(Error),
    /// Trying again would not help, or might do it twice.
    Final(Error),
}

fn write_once(database: &Database, slot: &mut Option<Connection>, unit: &mut dyn Unit) -> Result<(), Attempt> {
    let judge = |error: Error| {
        if conflict::may_retry(&error) {
            Attempt::MayRetry(error)
        } else {
            Attempt::Final(error)
        }
    };
    let connection = standing(database, slot, false).map_err(Attempt::MayRetry)?;
    connection.batch("BEGIN").map_err(judge)?;
    if let Err(error) = unit.run(connection) {
        drop(connection.batch("ROLLBACK"));
        return Err(judge(error));
    }
    failpoint::hit("store.before_commit");
    if let Err(error) = connection.batch("COMMIT") {
        drop(connection.batch("ROLLBACK"));
        // A serialization failure is certain; a broken connection may have committed, so it is not tried again.
        return Err(if connection.is_lost() {
            Attempt::Final(Error::NotReady)
        } else {
            judge(error)
        });
    }
    failpoint::hit("store.after_commit");
    Ok(())
}

fn serve_read(database: &Database, slot: &mut Option<Connection>, job: ReadJob) {
    match standing(database, slot, true) {
        Ok(connection) => job(connection),
        // Dropping the job drops its answer; the caller reads that as "not ready".
        Err(error) => tracing::warn!(%error, "no connection to read with"),
    }
}

/// The thread's connection, opened anew when the old one broke.
fn standing<'a>(database: &Database, slot: &'a mut Option<Connection>, reading: bool) -> Result<&'a mut Connection> {
    if slot.as_ref().is_none_or(Connection::is_lost) {
        *slot = Some(connect(database, reading)?);
    }
    slot.as_mut().ok_or(Error::NotReady)
}

/// Opens one connection.
pub(super) fn connect(database: &Database, reading: bool) -> Result<Connection> {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, reading),
        Database::Postgres(url) => Connection::open_postgres(url),
    }
}

fn begin_read(connection: &Connection) -> &'static str {
    match connection {
        Connection::Sqlite(_) => "BEGIN DEFERRED",
        Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)?;
    Ok(())
}

fn refused(why: Refused) -> Error {
    match why {
        Refused::Full => Error::Overloaded,
        Refused::Closed => Error::NotReady,
    }
}

fn panicked() -> Error {
    Error::Internal(anyhow::anyhow!("a unit of work panicked"))
}
