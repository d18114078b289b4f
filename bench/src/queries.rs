//! The raw query loop: the statements that the service runs for a response, on a separate connection and one thread,
//! with each row's columns written as JSON. Without types, views and requests, what remains is the cost of the
//! database.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use common::clock;
use db::{activity, groups};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde::ser::{Serialize, SerializeSeq as _, Serializer};

use crate::cpu;
use crate::load::LoadResult;

/// Rows of a page of the activity log.
pub const PAGE: i64 = 50;

/// The response whose statements a loop repeats.
#[derive(Debug, Clone, Copy)]
pub enum LoopResponse {
    /// The groups of the measured class.
    Groups,
    /// A page of the activity log.
    LogPage,
}

/// A read connection with its statements and their arguments.
pub struct QueryLoop {
    connection: Connection,
    organization: String,
    teacher: String,
    admin: String,
    class: String,
    now: i64,
}

type BoundArgument<'a> = Box<dyn rusqlite::ToSql + 'a>;

fn argument<'a>(value: impl rusqlite::ToSql + 'a) -> BoundArgument<'a> {
    Box::new(value)
}

impl QueryLoop {
    /// Opens the database of the measured school like a reader of the service.
    pub fn open(database: &Path, teacher: &str, admin: &str, class: &str) -> anyhow::Result<Self> {
        let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch(
            "PRAGMA query_only = ON; PRAGMA cache_size = -8000; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY;",
        )?;
        connection.set_prepared_statement_cache_capacity(64);
        let sql = "SELECT organization_id FROM classes WHERE id = ?1";
        let organization = connection.query_row(sql, [class], |row| row.get(0))?;
        Ok(Self {
            connection,
            organization,
            teacher: teacher.to_owned(),
            admin: admin.to_owned(),
            class: class.to_owned(),
            now: clock::now().as_millis(),
        })
    }

    /// Runs the statements for this long. Also returns the CPU time.
    pub fn run(&self, answer: LoopResponse, time: Duration) -> anyhow::Result<(LoadResult, Duration)> {
        let process = std::process::id();
        let (begin, before) = (Instant::now(), cpu::used(process)?);
        let mut answers = 0;
        while begin.elapsed() < time {
            let json = self.once(answer)?;
            ensure!(json.len() > 1_000, "{answer:?} found only {} bytes", json.len());
            answers += 1;
        }
        let outcome = LoadResult {
            answers,
            time: begin.elapsed(),
        };
        Ok((outcome, cpu::used(process)?.saturating_sub(before)))
    }

    fn once(&self, answer: LoopResponse) -> anyhow::Result<Vec<u8>> {
        self.connection.execute_batch("BEGIN DEFERRED")?;
        let mut json = Vec::with_capacity(1 << 16);
        match answer {
            LoopResponse::Groups => {
                let (_, statements) = groups::all_statements()
                    .into_iter()
                    .find(|(name, _)| *name == "groups::of_class")
                    .context("the statements of the groups of a class")?;
                // Viewer, user, class; the remaining filter arguments are empty, and the last one is a flag.
                for (_, sql) in statements {
                    let mut arguments = self.viewer("TEACHER", &self.teacher);
                    arguments.extend([argument(&self.teacher), argument(&self.class)]);
                    self.rows(sql.sqlite(), &arguments, Some(false), &mut json)?;
                }
            }
            LoopResponse::LogPage => {
                let (_, sql) = activity::STATEMENTS
                    .iter()
                    .find(|(name, _)| *name == "PAGE")
                    .context("the statement of a page of the log")?;
                let mut arguments = self.viewer("ADMIN", &self.admin);
                arguments.extend([argument(self.now), argument(""), argument(0), argument(PAGE + 1)]);
                self.rows(sql.sqlite(), &arguments, None, &mut json)?;
            }
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(json)
    }

    fn viewer<'a>(&'a self, role: &'a str, user: &'a str) -> Vec<BoundArgument<'a>> {
        vec![
            argument(&self.organization),
            argument(role),
            argument(user),
            argument(self.now),
        ]
    }

    /// Runs a statement and serializes its rows. Parameters without an argument are NULL, except the last one if given.
    fn rows(
        &self,
        sql: &str,
        given: &[BoundArgument<'_>],
        last: Option<bool>,
        json: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let (parameters, columns) = (statement.parameter_count(), statement.column_count());
        for index in 1..=parameters {
            match (given.get(index - 1), last) {
                (Some(value), _) => statement.raw_bind_parameter(index, value)?,
                (None, Some(switch)) if index == parameters => statement.raw_bind_parameter(index, switch)?,
                _ => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            }
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            serde_json::to_writer(&mut *json, &JsonRow { row, columns })?;
        }
        Ok(())
    }
}

struct JsonRow<'r> {
    row: &'r rusqlite::Row<'r>,
    columns: usize,
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.columns))?;
        for column in 0..self.columns {
            match self.row.get_ref(column).map_err(serde::ser::Error::custom)? {
                ValueRef::Null => list.serialize_element(&())?,
                ValueRef::Integer(number) => list.serialize_element(&number)?,
                ValueRef::Real(number) => list.serialize_element(&number)?,
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    list.serialize_element(std::str::from_utf8(bytes).map_err(serde::ser::Error::custom)?)?;
                }
            }
        }
        list.end()
    }
}
