//! One SQL text for two drivers: statements, arguments and result rows. All differences between SQLite and PostgreSQL
//! that affect statements are handled here.

use std::sync::OnceLock;

use domain::time::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};

use common::error::{Error, Result};

/// A literal SQL statement. Only [`statements!`](crate::statements) creates them, so that a test can list all of them.
#[derive(Debug)]
pub struct Sql {
    text: &'static str,
    sqlite: OnceLock<String>,
}

impl Sql {
    /// For `statements!` only.
    #[doc(hidden)]
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            sqlite: OnceLock::new(),
        }
    }

    /// The text as written, which is also the text for PostgreSQL.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The text for SQLite. SQLite numbers `$n` by first appearance, so `$n` becomes `?n`. Row locks are removed,
    /// because a transaction locks the whole file.
    pub fn sqlite(&self) -> &str {
        self.sqlite.get_or_init(|| Self::for_sqlite(self.text))
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

/// Defines the statements of one store file. Each becomes a `static`; `STATEMENTS` lists them for
/// `tests/permissions/statements.rs`.
#[macro_export]
macro_rules! statements {
    ($($(#[doc = $doc:expr])* $name:ident = $text:expr;)+) => {
        $($(#[doc = $doc])* static $name: $crate::sql::Sql = $crate::sql::Sql::new($text);)+
        /// All statements of this file by name.
        pub static STATEMENTS: &[(&str, &$crate::sql::Sql)] = &[$((stringify!($name), &$name)),+];
    };
}

/// An argument of a statement.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// SQL NULL of any type.
    Null,
    Bool(bool),
    /// Integers and timestamps; every integer column is BIGINT.
    Int(i64),
    Real(f64),
    /// Text, ids, enumerations and JSON.
    Text(&'a str),
}

/// A type that can be bound as an argument.
pub trait Argument {
    /// Converts to the type that the drivers bind.
    fn value(&self) -> Value<'_>;
}

/// Collects arguments of different types: `args![id, name, now]`. In tenant-scoped statements they bind to `$2`, `$3` …
#[macro_export]
macro_rules! args {
    ($($argument:expr),* $(,)?) => { &[$($crate::sql::Argument::value(&$argument)),*] };
}

impl<T: Argument + ?Sized> Argument for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}
impl<T: Argument> Argument for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Argument::value)
    }
}
impl Argument for str {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}
impl Argument for String {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}
impl Argument for bool {
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }
}
impl Argument for i64 {
    fn value(&self) -> Value<'_> {
        Value::Int(*self)
    }
}
impl Argument for f64 {
    fn value(&self) -> Value<'_> {
        Value::Real(*self)
    }
}
impl Argument for Timestamp {
    fn value(&self) -> Value<'_> {
        Value::Int(self.as_millis())
    }
}

/// The columns of one row, read from left to right in the order of the statement.
pub struct Columns<'r> {
    row: DriverRow<'r>,
    next: usize,
}

enum DriverRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

/// A type that can be read from a column.
pub trait Column: Sized {
    #[doc(hidden)]
    fn sqlite(value: ValueRef<'_>) -> Option<Self>;
    #[doc(hidden)]
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error>;
}

impl<'r> Columns<'r> {
    pub(super) fn of_sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self {
            row: DriverRow::Sqlite(row),
            next: 0,
        }
    }

    pub(super) fn of_postgres(row: &'r postgres::Row) -> Self {
        Self {
            row: DriverRow::Postgres(row),
            next: 0,
        }
    }

    /// Reads the next column. A type mismatch is an internal error.
    pub fn take<T: Column>(&mut self) -> Result<T> {
        let index = self.next;
        self.next += 1;
        match &self.row {
            DriverRow::Sqlite(row) => {
                let value = row.get_ref(index).map_err(|error| Error::Internal(error.into()))?;
                T::sqlite(value)
                    .ok_or_else(|| Error::Internal(anyhow::anyhow!("column {index} holds {:?}", value.data_type())))
            }
            DriverRow::Postgres(row) => {
                T::postgres(row, index).map_err(|error| Error::Internal(anyhow::Error::new(error).context(index)))
            }
        }
    }

    /// Reads the next column, an enumeration stored as text.
    pub fn parse<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let text: String = self.take()?;
        parse(&text).ok_or_else(|| Error::Internal(anyhow::anyhow!("no such value: {text}")))
    }

    /// Reads the next column, a nullable enumeration stored as text.
    pub fn parse_option<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
        let text: Option<String> = self.take()?;
        text.map(|text| parse(&text).ok_or_else(|| Error::Internal(anyhow::anyhow!("no such value: {text}"))))
            .transpose()
    }

    /// Reads the next column, JSON stored as text.
    pub fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        let text: String = self.take()?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Reads the next column, nullable JSON stored as text.
    pub fn json_option<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let text: Option<String> = self.take()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Skips columns of a row that an outer join did not match.
    pub fn skip(&mut self, columns: usize) {
        self.next += columns;
    }
}

impl Column for i64 {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_i64().ok()
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
}
impl Column for f64 {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Real(real) => Some(real),
            #[expect(
                clippy::cast_precision_loss,
                reason = "SQLite stores whole reals as integers; points are small"
            )]
            ValueRef::Integer(details) => Some(details as f64),
            _ => None,
        }
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
}
impl Column for bool {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_i64().ok().map(|number| number != 0)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
}
impl Column for String {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_str().ok().map(str::to_owned)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
}
impl Column for Timestamp {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        i64::sqlite(value).map(Timestamp::from_millis)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index).map(Timestamp::from_millis)
    }
}
impl<T: Column> Column for Option<T> {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        if value == ValueRef::Null {
            Some(None)
        } else {
            T::sqlite(value).map(Some)
        }
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        // The driver reads NULL only as `Option` of its own types; testing for NULL first works for any `T`.
        if row.try_get::<_, NotNull>(index)?.0 {
            T::postgres(row, index).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// Whether a PostgreSQL column is not NULL, for any type.
struct NotNull(bool);

impl<'a> postgres::types::FromSql<'a> for NotNull {
    fn from_sql(
        _: &postgres::types::Type,
        _: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(true))
    }
    fn from_sql_null(_: &postgres::types::Type) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(false))
    }
    fn accepts(_: &postgres::types::Type) -> bool {
        true
    }
}

/// Typed ids are stored as text.
macro_rules! text_ids {
    ($($id:ident),+ $(,)?) => {$(
        impl Argument for domain::id::$id {
            fn value(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }
        impl Column for domain::id::$id {
            fn sqlite(value: ValueRef<'_>) -> Option<Self> {
                value.as_str().ok().map(Self::new)
            }
            fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
                row.try_get::<_, &str>(index).map(Self::new)
            }
        }
    )+};
}
text_ids!(
    UserId,
    OrganizationId,
    MemberId,
    SessionId,
    HomeroomId,
    SubjectId,
    ClassId,
    EnrollmentId,
    CourseId,
    GroupId,
    GroupMemberId,
    AssignmentId,
    GroupAssignmentId,
    SubmissionId,
    SubmissionDocumentId,
    FeedbackId,
    AttachmentId,
    WorkRoomId,
    MessageId,
    DocumentId,
    RevisionId,
    LogId,
    LateTextId,
    ConversionSourceId,
    EventId,
    InvitationId,
    JobId,
    MailDomainId,
);

/// Validated texts are stored as text; they are not validated again when read.
macro_rules! texts {
    ($($text:ident),+ $(,)?) => {$(
        impl Argument for domain::text::$text {
            fn value(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }
        impl Column for domain::text::$text {
            fn sqlite(value: ValueRef<'_>) -> Option<Self> {
                value.as_str().ok().map(Self::stored)
            }
            fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
                row.try_get::<_, &str>(index).map(Self::stored)
            }
        }
    )+};
}
texts!(
    Name,
    ShortName,
    Username,
    Title,
    DocumentTitle,
    FileName,
    CourseDescription,
    Description,
    SubjectDescription,
    HelpMessage,
    Note,
    ChatText,
    MessageSubject,
    FeedbackText,
    Search,
    SubjectCode,
    Color,
    AcademicYear,
    Semester,
    GradeLevel,
    RoomName,
    GradeScale,
    GradeValue,
    ExternalId,
    ClientMessageId,
    Locale,
    TimeZone,
    Slug,
    CustomDomain,
    WebAddress,
);

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Bool(truth) => ValueRef::Integer(i64::from(truth)),
            Value::Int(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl postgres::types::ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &postgres::types::Type,
        out: &mut bytes::BytesMut,
    ) -> std::result::Result<postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(postgres::types::IsNull::Yes),
            Value::Bool(truth) => truth.to_sql(kind, out),
            Value::Int(number) => number.to_sql(kind, out),
            Value::Real(number) => number.to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
        }
    }
    fn accepts(_: &postgres::types::Type) -> bool {
        true
    }
    fn to_sql_checked(
        &self,
        kind: &postgres::types::Type,
        out: &mut bytes::BytesMut,
    ) -> std::result::Result<postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let fits = match self {
            Value::Null => true,
            Value::Bool(_) => bool::accepts(kind),
            Value::Int(_) => i64::accepts(kind),
            Value::Real(_) => f64::accepts(kind),
            Value::Text(_) => <&str>::accepts(kind),
        };
        // A mismatched type would be encoded incorrectly, so it is rejected, as the driver does for its own types.
        if fits {
            self.to_sql(kind, out)
        } else {
            Err(format!("{self:?} does not fit {kind}").into())
        }
    }
}
