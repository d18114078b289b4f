//! One SQL text for two drivers: statements, arguments and result rows. All differences between SQLite and PostgreSQL
//! that affect statements are handled here.

use std::cell::Cell;
use std::fmt;
use std::sync::{LazyLock, OnceLock};
#[cfg(debug_assertions)]
use std::sync::{Mutex, PoisonError};

use postgres::types::{FromSql, IsNull, ToSql, Type};
use rusqlite::types::{ToSqlOutput, ValueRef};

pub use domain::stored::{FromStored, StoredValue as Value, ToStored};

use common::error::{Error, Result};

/// The error of a conversion, as the driver of PostgreSQL defines it.
type DriverError = Box<dyn std::error::Error + Sync + Send>;

/// An SQL statement. [`statements!`](crate::statements!) defines and lists them, so that tests check all of them.
#[derive(Debug)]
pub struct Sql {
    source: TextSource,
    /// The text with numbered parameters, and the names of those that the source names.
    numbered: OnceLock<(String, Vec<String>)>,
    sqlite: OnceLock<String>,
    /// The names of the columns of the result.
    columns: OnceLock<Vec<String>>,
    /// The readers whose columns were checked.
    #[cfg(debug_assertions)]
    checked: Mutex<Vec<&'static str>>,
}

#[derive(Debug)]
enum TextSource {
    Literal(&'static str),
    /// Inserts fragments, once.
    Built(fn() -> String),
    Text(String),
}

impl Sql {
    /// A statement without fragments.
    pub const fn new(text: &'static str) -> Self {
        Self::of(TextSource::Literal(text))
    }

    /// For `statements!` only.
    #[doc(hidden)]
    pub const fn built(build: fn() -> String) -> Self {
        Self::of(TextSource::Built(build))
    }

    /// A statement of a set that is built by a function, such as the deletions of `cascade.rs`.
    pub(crate) const fn text_of(text: String) -> Self {
        Self::of(TextSource::Text(text))
    }

    const fn of(source: TextSource) -> Self {
        Self {
            source,
            numbered: OnceLock::new(),
            sqlite: OnceLock::new(),
            columns: OnceLock::new(),
            #[cfg(debug_assertions)]
            checked: Mutex::new(Vec::new()),
        }
    }

    /// The text for PostgreSQL: as written, with numbers for named parameters.
    pub fn text(&self) -> &str {
        match &self.source {
            TextSource::Literal(text) => text,
            TextSource::Built(build) => &self.numbered.get_or_init(|| number_parameters(build())).0,
            TextSource::Text(text) => text,
        }
    }

    /// Returns the arguments of a statement with named parameters, in their order. Values without a parameter are left
    /// out, so that the INSERT and the UPDATE of a noun can share one list.
    pub(super) fn arguments_of<'v>(&self, values: &[(&str, Value<'v>)]) -> Result<Vec<Value<'v>>> {
        self.text();
        let names = self.numbered.get().map_or(&[][..], |(_, names)| names);
        let find = |name: &String| {
            let found = values.iter().find(|(of, _)| of == name).map(|(_, value)| *value);
            found.ok_or_else(|| Error::Internal(anyhow::anyhow!("no value of :{name} in {}", self.text())))
        };
        names.iter().map(find).collect()
    }

    /// The text for SQLite. SQLite numbers `$n` by first appearance, so `$n` becomes `?n`. Row locks are removed,
    /// because a transaction locks the whole file.
    pub fn sqlite(&self) -> &str {
        self.sqlite.get_or_init(|| Self::for_sqlite(self.text()))
    }

    /// The names of the columns of the result; `read` asks the driver for them once.
    pub(super) fn columns(&self, read: impl FnOnce() -> Vec<String>) -> &[String] {
        self.columns.get_or_init(read)
    }

    /// Calls a reader with sample values when it first reads this statement. A column that the statement does not have
    /// thus fails every test that runs the statement, even if it finds no rows.
    #[cfg(debug_assertions)]
    pub(super) fn check_reader<T>(&self, names: &[String], read: &mut impl FnMut(&Columns<'_>) -> Result<T>) {
        let reader = std::any::type_name_of_val(read);
        {
            let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            if checked.contains(&reader) {
                return;
            }
            checked.push(reader);
        }
        let result = ResultColumns::of(names);
        let columns = Columns::of(DriverRow::Sample, &result);
        // A reader may reject the sample values themselves.
        let outcome = read(&columns).map(drop);
        assert!(
            !columns.is_misread.get(),
            "{reader} does not fit its statement: {outcome:?}\n{}",
            self.text()
        );
    }

    /// Converts a text for SQLite.
    pub(super) fn for_sqlite(text: &str) -> String {
        let without_lock = text.replace("FOR NO KEY UPDATE", "").replace("FOR UPDATE", "");
        let mut text = String::with_capacity(without_lock.len());
        let mut quoted = false;
        let mut characters = without_lock.chars().peekable();
        while let Some(character) = characters.next() {
            quoted ^= character == '\'';
            let parameter = character == '$' && !quoted && characters.peek().is_some_and(char::is_ascii_digit);
            text.push(if parameter { '?' } else { character });
        }
        text
    }
}

/// Replaces named parameters (`:name`) by numbers after the highest number in the text. Returns their names in the order
/// of the numbers.
fn number_parameters(text: String) -> (String, Vec<String>) {
    if !text.contains(':') {
        return (text, Vec::new());
    }
    let numbers = text.split('$').skip(1).filter_map(|rest| {
        let end = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse::<usize>().ok()
    });
    let highest = numbers.max().unwrap_or(0);
    let mut names: Vec<String> = Vec::new();
    let mut numbered = String::with_capacity(text.len());
    // Quoted parts are literals.
    for (index, part) in text.split('\'').enumerate() {
        let mut pieces = part.split(':');
        if index > 0 {
            numbered.push('\'');
        }
        numbered.push_str(pieces.next().unwrap_or_default());
        let mut is_cast = false;
        for piece in pieces {
            let is_other = |character: char| !matches!(character, 'a'..='z' | '0'..='9' | '_');
            let (name, rest) = piece.split_at(piece.find(is_other).unwrap_or(piece.len()));
            if index % 2 == 1 || name.is_empty() || is_cast {
                is_cast = piece.is_empty();
                numbered.push(':');
                numbered.push_str(piece);
                continue;
            }
            let position = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            numbered.push('$');
            numbered.push_str(&(highest + position + 1).to_string());
            numbered.push_str(rest);
        }
    }
    (numbered, names)
}

/// A part of statements. A statement inserts it by its name in braces, as `format!` does: `"… WHERE {CAN_VIEW_GROUP}"`.
pub struct SqlFragment(LazyLock<String>);

impl SqlFragment {
    /// For `fragments!`, and for fragments that a function builds.
    pub const fn new(build: fn() -> String) -> Self {
        Self(LazyLock::new(build))
    }
}

impl fmt::Display for SqlFragment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The statements of one file by name, for the tests of all SQL.
pub type NamedStatements = Vec<(&'static str, &'static Sql)>;

/// Defines the statements of one store file. Each becomes a `static`; `STATEMENTS` lists them for
/// `tests/permissions/statements.rs`.
#[macro_export]
macro_rules! statements {
    ($($(#[doc = $doc:expr])* $name:ident = $text:expr;)+) => {
        $($(#[doc = $doc])* static $name: $crate::sql::Sql = $crate::sql::Sql::built(|| format!($text));)+
        /// All statements of this file by name.
        pub static STATEMENTS: &[(&str, &$crate::sql::Sql)] = &[$((stringify!($name), &$name)),+];
    };
}

/// Defines fragments that several statements share. A fragment can insert others.
#[macro_export]
macro_rules! fragments {
    ($($(#[doc = $doc:expr])* $visibility:vis $name:ident = $text:expr;)+) => {
        $($(#[doc = $doc])* $visibility static $name: $crate::sql::SqlFragment =
            $crate::sql::SqlFragment::new(|| format!($text));)+
    };
}

/// Collects arguments of different types: `args![id, name, now]`. In tenant-scoped statements they bind to `$2`, `$3` …
#[macro_export]
macro_rules! args {
    ($($argument:expr),* $(,)?) => { &[$($crate::sql::ToStored::to_stored(&$argument)),*] };
}

/// Values of named parameters: `named![name: group.name, created_at: now]`. With a source, a name alone is its field:
/// `named![group => id, name, created_at: now]`.
#[macro_export]
macro_rules! named {
    (@value $from:expr, $name:ident) => { $from.$name };
    (@value $from:expr, $name:ident, $value:expr) => { $value };
    ($($name:ident: $argument:expr),* $(,)?) => {
        &[$((stringify!($name), $crate::sql::ToStored::to_stored(&$argument))),*]
    };
    ($from:expr => $($name:ident $(: $value:expr)?),* $(,)?) => {
        &[$((
            stringify!($name),
            $crate::sql::ToStored::to_stored(&$crate::named!(@value $from, $name $(, $value)?)),
        )),*]
    };
}

/// Reads a struct from a row and returns a `Result`:
/// `from_row!(row => Course { id, name, students = "student_count", class: class_label(row)? })`. A name alone is a field
/// and its column, `field = "column"` a field whose column has another name, and `field: value` an expression.
#[macro_export]
macro_rules! from_row {
    (@value $row:ident, $field:ident) => { $row.get(stringify!($field))? };
    (@value $row:ident, $field:ident = $column:literal) => { $row.get($column)? };
    (@value $row:ident, $field:ident, $value:expr) => { $value };
    ($row:ident => $($noun:ident)::+ { $($field:ident $(= $column:literal)? $(: $value:expr)?),* $(,)? }) => {
        Ok::<_, common::error::Error>($($noun)::+ {
            $($field: $crate::from_row!(@value $row, $field $(= $column)? $(, $value)?)),*
        })
    };
}

/// The columns of one row, read by their names in the statement.
pub struct Columns<'r> {
    row: DriverRow<'r>,
    of: &'r ResultColumns<'r>,
    /// The number of reads of this row.
    step: Cell<usize>,
    /// The column after the one that was read last.
    next: Cell<usize>,
    /// Whether a column was requested that the statement does not have.
    is_misread: Cell<bool>,
}

/// The columns of a result set.
pub(super) struct ResultColumns<'s> {
    names: &'s [String],
    /// The column that each step read in the previous row. A reader mostly reads the same columns in every row, so a
    /// name is searched in the first row and compared once in the others.
    expected: Vec<Cell<usize>>,
}

impl<'s> ResultColumns<'s> {
    pub(super) fn of(names: &'s [String]) -> Self {
        Self {
            names,
            expected: (0..2 * names.len()).map(Cell::new).collect(),
        }
    }
}

enum DriverRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
    #[cfg(debug_assertions)]
    Sample,
}

impl<'r> Columns<'r> {
    pub(super) fn of_sqlite(row: &'r rusqlite::Row<'r>, of: &'r ResultColumns<'r>) -> Self {
        Self::of(DriverRow::Sqlite(row), of)
    }

    pub(super) fn of_postgres(row: &'r postgres::Row, of: &'r ResultColumns<'r>) -> Self {
        Self::of(DriverRow::Postgres(row), of)
    }

    fn of(row: DriverRow<'r>, of: &'r ResultColumns<'r>) -> Self {
        Self {
            row,
            of,
            step: Cell::new(0),
            next: Cell::new(0),
            is_misread: Cell::new(false),
        }
    }

    /// The names of the columns, in their order in the statement.
    pub fn names(&self) -> &[String] {
        self.of.names
    }

    /// Reads a column. A missing column and a type mismatch are internal errors.
    pub fn get<T: FromStored>(&self, name: &str) -> Result<T> {
        let names = self.of.names;
        let is_it = |index: &usize| names.get(*index).is_some_and(|known| known == name);
        let expected = self.of.expected.get(self.step.replace(self.step.get() + 1));
        let guesses = [expected.map_or(0, Cell::get), self.next.get()];
        let index = match guesses.into_iter().find(is_it) {
            Some(index) => index,
            None => names
                .iter()
                .position(|known| known == name)
                .ok_or_else(|| self.misread(&format!("no column {name}")))?,
        };
        if let Some(expected) = expected {
            expected.set(index);
        }
        self.next.set(index + 1);
        self.at(index)
    }

    /// Reads two columns.
    pub fn pair<A: FromStored, B: FromStored>(&self, first: &str, second: &str) -> Result<(A, B)> {
        Ok((self.get(first)?, self.get(second)?))
    }

    /// Reads the only column of a statement that selects a single expression, such as a number of rows.
    pub fn only<T: FromStored>(&self) -> Result<T> {
        if self.of.names.len() == 1 {
            self.at(0)
        } else {
            Err(self.misread("not one column"))
        }
    }

    /// Reads JSON stored as text.
    pub fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T> {
        let text: String = self.get(name)?;
        #[cfg(debug_assertions)]
        if matches!(self.row, DriverRow::Sample) {
            let samples = ["null", "[]", "{}", "0", "\"\""];
            let sample = samples.iter().find_map(|sample| serde_json::from_str(sample).ok());
            return sample.ok_or_else(|| Error::Internal(anyhow::anyhow!("no sample of the JSON in {name}")));
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Reads nullable JSON stored as text.
    pub fn json_option<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let text: Option<String> = self.get(name)?;
        #[cfg(debug_assertions)]
        if matches!(self.row, DriverRow::Sample) {
            return Ok(None);
        }
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    fn misread(&self, what: &str) -> Error {
        self.is_misread.set(true);
        Error::Internal(anyhow::anyhow!("{what} in {:?}", self.of.names))
    }

    fn at<T: FromStored>(&self, index: usize) -> Result<T> {
        let failed = |error: anyhow::Error| Error::Internal(error.context(self.of.names[index].clone()));
        match &self.row {
            DriverRow::Sqlite(row) => {
                let value = row.get_ref(index).map_err(|error| Error::Internal(error.into()))?;
                of_sqlite(value).ok_or_else(|| failed(anyhow::anyhow!("unexpected value")))
            }
            DriverRow::Postgres(row) => {
                let PostgresValue(value) = row.try_get(index).map_err(|error| failed(error.into()))?;
                T::from_stored(value).ok_or_else(|| failed(anyhow::anyhow!("unexpected value")))
            }
            #[cfg(debug_assertions)]
            DriverRow::Sample => Ok(T::sample()),
        }
    }
}

/// SQLite has no type for booleans, and stores whole floating-point numbers as integers.
fn of_sqlite<T: FromStored>(value: ValueRef<'_>) -> Option<T> {
    match value {
        ValueRef::Null => T::from_stored(Value::Null),
        #[expect(clippy::cast_precision_loss, reason = "points are small")]
        ValueRef::Integer(number) => T::from_stored(Value::Int(number))
            .or_else(|| T::from_stored(Value::Bool(number != 0)))
            .or_else(|| T::from_stored(Value::Real(number as f64))),
        ValueRef::Real(number) => T::from_stored(Value::Real(number)),
        ValueRef::Text(text) => T::from_stored(Value::Text(std::str::from_utf8(text).ok()?)),
        ValueRef::Blob(_) => None,
    }
}

/// A value of a column of PostgreSQL.
struct PostgresValue<'a>(Value<'a>);

impl<'a> FromSql<'a> for PostgresValue<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, DriverError> {
        Ok(Self(match *kind {
            Type::BOOL => Value::Bool(bool::from_sql(kind, raw)?),
            Type::INT8 => Value::Int(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => Value::Real(f64::from_sql(kind, raw)?),
            _ => Value::Text(<&str>::from_sql(kind, raw)?),
        }))
    }
    fn from_sql_null(_: &Type) -> Result<Self, DriverError> {
        Ok(Self(Value::Null))
    }
    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::BOOL | Type::INT8 | Type::FLOAT8) || <&str as FromSql>::accepts(kind)
    }
}

/// An argument as the drivers bind it.
#[derive(Debug)]
pub(super) struct DriverArgument<'a>(pub &'a Value<'a>);

impl rusqlite::ToSql for DriverArgument<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self.0 {
            Value::Null => ValueRef::Null,
            Value::Bool(truth) => ValueRef::Integer(i64::from(truth)),
            Value::Int(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl ToSql for DriverArgument<'_> {
    fn to_sql(&self, kind: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, DriverError> {
        match self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Bool(truth) => truth.to_sql(kind, out),
            Value::Int(number) => number.to_sql(kind, out),
            Value::Real(number) => number.to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    fn to_sql_checked(&self, kind: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, DriverError> {
        let fits = match self.0 {
            Value::Null => true,
            Value::Bool(_) => <bool as ToSql>::accepts(kind),
            Value::Int(_) => <i64 as ToSql>::accepts(kind),
            Value::Real(_) => <f64 as ToSql>::accepts(kind),
            Value::Text(_) => <&str as ToSql>::accepts(kind),
        };
        // A mismatched type would be encoded incorrectly, so it is rejected, as the driver does for its own types.
        if fits {
            self.to_sql(kind, out)
        } else {
            Err(format!("{:?} does not fit {kind}", self.0).into())
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    static UPDATE: Sql = Sql::built(|| {
        "UPDATE x SET a = :a, b = 'c:d', e = CAST(:a AS TEXT) WHERE o = $1 AND id = :id_of_x AND f = ':g' AND h::text = :a"
            .to_owned()
    });

    #[test]
    fn named_parameters_are_numbered_after_the_others() {
        assert_eq!(
            UPDATE.text(),
            "UPDATE x SET a = $2, b = 'c:d', e = CAST($2 AS TEXT) WHERE o = $1 AND id = $3 AND f = ':g' AND h::text = $2"
        );
        let values = named![unused: 1_i64, id_of_x: "x", a: true];
        assert_eq!(
            UPDATE.arguments_of(values).unwrap(),
            [Value::Bool(true), Value::Text("x")]
        );
        assert!(UPDATE.arguments_of(named![a: true]).is_err());
    }

    #[test]
    fn name_without_value_is_a_field_of_the_source() {
        static INSERT: Sql = Sql::built(|| "INSERT INTO x VALUES ($1, :sha256, :size)".to_owned());
        assert_eq!(INSERT.text(), "INSERT INTO x VALUES ($1, $2, $3)");
        let file = NamedFile { sha256: "ab", size: 7 };
        let expected = [Value::Text("ab"), Value::Int(8)];
        assert_eq!(
            INSERT
                .arguments_of(named![file => sha256, size: file.size + 1])
                .unwrap(),
            expected
        );
    }

    #[test]
    fn row_is_read_by_field_name_or_column_name() {
        fn read(row: &Columns<'_>) -> Result<NamedFile<String>> {
            from_row!(row => NamedFile { sha256, size = "bytes" })
        }
        fn misread(row: &Columns<'_>) -> Result<NamedFile<String>> {
            from_row!(row => NamedFile { sha256, size })
        }
        let names = ["bytes", "sha256"].map(str::to_owned);
        let of = ResultColumns::of(&names);
        assert!(read(&Columns::of(DriverRow::Sample, &of)).is_ok());
        let error = misread(&Columns::of(DriverRow::Sample, &of)).unwrap_err();
        assert!(format!("{error:?}").contains("no column size"));
    }

    #[derive(Debug)]
    struct NamedFile<T> {
        sha256: T,
        size: i64,
    }
}
