//! The threads that own the connections. Reads go to a pool of readers. Writes go, on SQLite, to one writer that commits
//! everything waiting in one transaction (a savepoint for each unit) and answers only after the commit; on PostgreSQL to
//! a pool, each unit in its own transaction. A full queue is refused at once, a panic in a job keeps its thread, and a
//! connection that broke while it was idle costs nobody an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::connection::{Connection, statements_run};
use super::pooled::{Pool, Pooled};
use super::server::Server;
use super::turns::{Entrance, Exit, Party, Refused, line};
use super::{conflict, dump};
use common::error::{Error, Result};
use common::failpoint;
use common::measures::measures;

/// Where the rows are.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// A server, by its URL.
    Postgres(String),
}

impl Database {
    /// Which database this is, in words for operators; never with a password.
    pub fn describe(&self) -> String {
        match self {
            Self::Sqlite(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("SQLite {}", path.display())
            }
            Self::Postgres(url) => Server::of(url).map_or_else(|_| "PostgreSQL".to_owned(), |server| server.describe()),
        }
    }

    /// Whether there is a database with a schema. It creates nothing.
    pub fn has_schema(&self) -> Result<bool> {
        let mut connection = match self {
            Self::Sqlite(path) if !path.exists() => return Ok(false),
            Self::Sqlite(path) => Connection::open_sqlite(path, true)?,
            Self::Postgres(url) => Connection::open_postgres(url)?,
        };
        Ok(dump::version(&mut connection)?.is_some())
    }
}

/// Jobs that may wait before more of the same school is refused with 503.
const QUEUE: usize = 1024;
/// Units SQLite commits together at most, and how long it goes on gathering them: whoever is first waits for the last.
const GROUP: usize = 64;
const GATHERING: Duration = Duration::from_millis(50);
/// How often PostgreSQL may ask to run a unit again.
const TRIES: u32 = 6;

/// A reading job gets a connection on which its transaction has begun, or learns why there is none.
type ReadJob = Box<dyn FnOnce(Result<&mut Connection>) + Send>;

/// What a unit of work leaves to do once its commit is durable.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

/// A unit of work as the writer thread sees it: it can be run (again), and must be told how it ended.
trait Unit: Send {
    fn run(&mut self, connection: &mut Connection) -> Result<()>;
    fn end(self: Box<Self>, committed: Result<()>);
}

impl super::Store {
    /// Leaves nothing in the write-ahead log of the embedded database: for the end of the service, after which a copy of
    /// the database file alone is whole.
    pub async fn checkpoint(&self) -> Result<()> {
        self.db.checkpoint().await
    }
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
    database: Database,
}

impl Db {
    /// Opens `readers` reading and (PostgreSQL only) `writers` writing connections, one thread each.
    pub fn open(database: &Database, readers: usize, writers: usize) -> Result<Self> {
        // A school leaves one reader to the others. PostgreSQL has enough of them; a file is read by few, and one more that
        // mostly sleeps costs less than keeping one of those.
        let spare = usize::from(matches!(database, Database::Sqlite(_)));
        let readers = readers.max(1) + spare;
        let (reads, read_jobs) = line::<ReadJob>(QUEUE, readers);
        let pool = Pool::new(database, true);
        for number in 0..readers {
            let jobs = read_jobs.clone();
            let mut own = Pooled::of_thread(&pool, number)?;
            spawn(&format!("reader-{number}"), move || {
                own.stand_by();
                while let Some((job, turn)) = jobs.receive() {
                    serve_read(&mut own, job);
                    // The turn is over: who stands by for a connection must not keep the school's other jobs waiting.
                    drop(turn);
                    own.forget_if_lost();
                    own.stand_by();
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
                let pool = Pool::new(database, false);
                for number in 0..write_threads {
                    let jobs = write_jobs.clone();
                    let mut own = Pooled::of_thread(&pool, number)?;
                    spawn(&format!("writer-{number}"), move || {
                        own.stand_by();
                        while let Some((unit, turn)) = jobs.receive() {
                            write_alone(&mut own, unit);
                            drop(turn);
                            own.forget_if_lost();
                            own.stand_by();
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
            database: database.clone(),
        })
    }

    /// Writes the write-ahead log of SQLite into the database file and empties it.
    async fn checkpoint(&self) -> Result<()> {
        let Database::Sqlite(path) = self.database.clone() else {
            return Ok(());
        };
        let checkpoint = move || Connection::open_sqlite(&path, false)?.checkpoint();
        let done = tokio::task::spawn_blocking(checkpoint).await;
        done.map_err(|error| anyhow::anyhow!(error))?
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
            let connection = match connection {
                Ok(connection) => connection,
                Err(error) => return drop(answer.send(Err(conflict::told(error)))),
            };
            let before = statements_run();
            let found = catch_unwind(AssertUnwindSafe(|| look(connection))).unwrap_or_else(|_| Err(panicked()));
            counter.fetch_add(statements_run() - before, Ordering::Relaxed);
            // What was seen was seen: nobody waits for the end of the snapshot, which is a way to the server and back, and it
            // does not matter if the connection breaks there.
            let ending = if found.is_ok() { "COMMIT" } else { "ROLLBACK" };
            drop(answer.send(found.map_err(conflict::told)));
            drop(connection.batch(ending));
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

impl super::Store {
    /// How many units of work of one party are queued behind the writers; tests wait for it.
    pub fn units_waiting(&self, party: &Party) -> usize {
        self.db.writes.waiting_of(party)
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

fn write_alone(own: &mut Pooled, mut unit: Box<dyn Unit>) {
    let mut tries = 0;
    let outcome = loop {
        tries += 1;
        match write_once(own, unit.as_mut()) {
            Err(Attempt::MayRetry(_)) if tries < TRIES => {
                std::thread::sleep(Duration::from_millis(u64::from(tries * tries) * 10));
            }
            Err(Attempt::MayRetry(error) | Attempt::Final(error)) => break Err(conflict::told(error)),
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

fn write_once(own: &mut Pooled, unit: &mut dyn Unit) -> Result<(), Attempt> {
    let outcome = write_on(own.get().map_err(Attempt::MayRetry)?, unit);
    if let Err(Attempt::MayRetry(error) | Attempt::Final(error)) = &outcome
        && conflict::is_lost(error)
    {
        own.lose();
    }
    outcome
}

fn write_on(connection: &mut Connection, unit: &mut dyn Unit) -> Result<(), Attempt> {
    let judge = |error: Error| {
        if conflict::may_retry(&error) {
            Attempt::MayRetry(error)
        } else {
            Attempt::Final(error)
        }
    };
    connection.batch("BEGIN").map_err(judge)?;
    if let Err(error) = unit.run(connection) {
        return Err(match connection.batch("ROLLBACK") {
            Ok(()) => judge(error),
            // Whatever the unit made of it: the connection is gone, and nothing is committed.
            Err(_) => Attempt::MayRetry(Error::Internal(conflict::Lost.into())),
        });
    }
    failpoint::hit("store.before_commit");
    // An action may have made light of a statement that failed because the connection broke.
    if connection.is_lost() {
        return Err(Attempt::MayRetry(Error::Internal(conflict::Lost.into())));
    }
    if let Err(error) = connection.batch("COMMIT") {
        // A serialization failure is certain; a broken connection may have committed, so it is not tried again.
        return Err(if connection.is_lost() || conflict::is_lost(&error) {
            tracing::warn!(
                error = conflict::cause(&error),
                "nobody knows whether a unit of work was committed"
            );
            Attempt::Final(Error::Internal(conflict::Lost.into()))
        } else {
            drop(connection.batch("ROLLBACK"));
            judge(error)
        });
    }
    failpoint::hit("store.after_commit");
    Ok(())
}

/// A connection that broke while nobody used it is found out by its first word: then a new one is tried, once.
fn serve_read(own: &mut Pooled, job: ReadJob) {
    let mut begun = begin_read(own);
    if begun.as_ref().is_err_and(conflict::is_lost) {
        own.lose();
        begun = begin_read(own);
    }
    match begun {
        Ok(()) => job(own.get()),
        Err(error) => {
            own.lose();
            job(Err(error));
        }
    }
}

fn begin_read(own: &mut Pooled) -> Result<()> {
    let connection = own.get()?;
    let begin = match connection {
        Connection::Sqlite(_) => "BEGIN DEFERRED",
        Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    };
    connection.batch(begin)
}

/// Opens one connection for the threads; on PostgreSQL with limits, so that nobody is waited for without end.
pub(super) fn connect(database: &Database, reading: bool) -> Result<Connection> {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, reading),
        Database::Postgres(url) => Connection::open_limited_postgres(url),
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
