//! Importing users, compared with plain inserts of the same rows: the same two tables and indexes in transactions of
//! the same size, without parsing, validation, report or events.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use common::clock;
use db::{Database, migrate};
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::seed::BenchUser;

/// Rows of one import.
pub const ROWS: usize = 5_000;
/// Rows per transaction, as in the service.
const UNIT: usize = 200;

/// Rows per second of one round.
#[derive(Debug, Clone, Copy)]
pub struct ImportRound {
    /// Through `POST /users/import`.
    pub service: f64,
    /// Plain inserts.
    pub raw: f64,
}

/// A separate database for plain inserts.
pub struct PlainInserts(Connection);

impl PlainInserts {
    /// Creates a database with the schema of the service and one school.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("raw-import.db");
        migrate(&Database::Sqlite(path.clone())).map_err(anyhow::Error::new)?;
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             INSERT INTO organizations (id, name, name_key, slug, created_at, updated_at)
             VALUES ('raw', 'Raw', 'raw', 'raw', 1, 1)",
        )?;
        Ok(Self(connection))
    }

    fn insert(&mut self, round: usize) -> anyhow::Result<f64> {
        let begin = Instant::now();
        for unit in (0..ROWS).step_by(UNIT) {
            let transaction = self.0.transaction()?;
            for number in unit..(unit + UNIT).min(ROWS) {
                let (user, name) = (clock::new_id(), format!("Sam{number} Long"));
                transaction
                    .prepare_cached(
                        "INSERT INTO users (id, name, name_key, first_name, last_name, email, home_organization_id,
                            created_at, updated_at) VALUES (?1, ?2, ?2, 'Sam', 'Long', ?3, 'raw', 1, 1)",
                    )?
                    .execute(params![user, name, address(round, number)])?;
                transaction
                    .prepare_cached(
                        "INSERT INTO members (organization_id, id, user_id, role, created_at)
                         VALUES ('raw', ?1, ?2, 'student', 1)",
                    )?
                    .execute(params![clock::new_id(), user])?;
            }
            transaction.commit()?;
        }
        per_second(begin)
    }
}

/// Imports new users and inserts the same rows plainly.
pub async fn round(base: &str, admin: &BenchUser, raw: &mut PlainInserts, round: usize) -> anyhow::Result<ImportRound> {
    let rows = (0..ROWS).map(|number| format!("{},Sam{number},Long,student\n", address(round, number)));
    let table = format!("email,firstName,lastName,role\n{}", rows.collect::<String>());
    let part = reqwest::multipart::Part::bytes(table.into_bytes()).file_name("people.csv");
    let form = reqwest::multipart::Form::new().part("file", part);
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.post(format!("{base}/api/users/import")).multipart(form);
    let begin = Instant::now();
    let answer = request
        .header("cookie", &admin.cookie)
        .header("origin", base)
        .send()
        .await?;
    let report: Value = serde_json::from_slice(&answer.error_for_status()?.bytes().await?)?;
    let service = per_second(begin)?;
    let created = report["created"].as_u64().context("a report without counts")?;
    ensure!(created == ROWS as u64, "{created} rows of {ROWS} were created");
    Ok(ImportRound {
        service,
        raw: raw.insert(round)?,
    })
}

fn address(round: usize, number: usize) -> String {
    format!("r{round}s{number}@import.example")
}

fn per_second(begin: Instant) -> anyhow::Result<f64> {
    Ok(f64::from(u32::try_from(ROWS)?) / begin.elapsed().as_secs_f64())
}
