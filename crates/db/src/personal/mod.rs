//! What an organization holds about one person: noun by noun, page by page, as plain JSON. Other people stand in it as ids
//! only. [`map`] says of every column about people what becomes of it; a test compares it with the schema.

pub mod account;
pub mod concealed;
pub mod files;
pub mod map;
pub mod nouns;

use model::id::UserId;
use serde_json::{Map, Value};

use super::Scope;
use super::platform::Platform;
use super::sql::{Columns, Sql, Value as Argument};
use crate::args;
use common::error::Result;

/// Rows read at once; a reader of a person's whole life holds no more in memory.
const PAGE: i64 = 500;

/// One kind of thing: where it stands in the archive and how it is read. The first field is the one pages go by.
#[derive(Debug)]
pub struct Noun {
    /// The name of its file, without extension.
    pub name: &'static str,
    statement: &'static Sql,
    fields: &'static [(&'static str, Shape)],
}

/// What a field holds; any may be null.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Moment,
    Whole,
    Real,
    Truth,
}

/// Some rows of a noun, and where the next ones begin.
#[derive(Debug)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<Map<String, Value>>,
    /// Hand this in for the rows after them; nothing when there are none.
    pub next: Option<String>,
}

impl Scope<'_> {
    /// Rows of one noun about a person in this organization, after those that were read.
    pub fn personal_rows(&mut self, noun: &'static Noun, user: &UserId, after: &str) -> Result<Rows> {
        let rows = self.many(noun.statement, args![user, after, PAGE], |row| noun.read(row))?;
        Ok(noun.page(rows))
    }
}

impl Platform<'_> {
    /// Rows of one noun about an account, after those that were read.
    pub fn account_rows(&mut self, noun: &'static Noun, user: &UserId, after: &str) -> Result<Rows> {
        let arguments: &[Argument<'_>] = args![user, after, PAGE];
        let rows = self.connection.many(noun.statement, arguments, |row| noun.read(row))?;
        Ok(noun.page(rows))
    }
}

impl Noun {
    fn read(&self, row: &mut Columns<'_>) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        for (name, shape) in self.fields {
            let value = match shape {
                Shape::Text => row.take::<Option<String>>()?.into(),
                Shape::Moment => serde_json::to_value(row.take::<Option<model::time::Timestamp>>()?)?,
                Shape::Whole => row.take::<Option<i64>>()?.into(),
                Shape::Real => row.take::<Option<f64>>()?.into(),
                Shape::Truth => row.take::<Option<bool>>()?.into(),
            };
            object.insert((*name).to_owned(), value);
        }
        Ok(object)
    }

    fn page(&self, rows: Vec<Map<String, Value>>) -> Rows {
        let is_full = i64::try_from(rows.len()) == Ok(PAGE);
        let (key, _) = self.fields[0];
        let last = rows.last().and_then(|row| row[key].as_str()).map(str::to_owned);
        Rows {
            rows,
            next: last.filter(|_| is_full),
        }
    }
}
