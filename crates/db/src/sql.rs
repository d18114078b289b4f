//! One SQL text for two drivers: statements, arguments and result rows. All differences between SQLite and PostgreSQL
//! that affect statements are handled here.

use std::cell::Cell;
use std::fmt;
use std::sync::{LazyLock, OnceLock};
#[cfg(debug_assertions)]
use std::sync::{Mutex, PoisonError};

use domain::time::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};

use common::error::{Error, Result};

/// An SQL statement. [`statements!`](crate::statements) defines and lists them, so that tests check all of them.
#[derive(Debug)]
pub struct Sql {
    source: TextSource,
    text: OnceLock<String>,
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
            text: OnceLock::new(),
            sqlite: OnceLock::new(),
            columns: OnceLock::new(),
            #[cfg(debug_assertions)]
            checked: Mutex::new(Vec::new()),
        }
    }

    /// The text as written, which is also the text for PostgreSQL.
    pub fn text(&self) -> &str {
        match &self.source {
            TextSource::Literal(text) => text,
            TextSource::Built(build) => self.text.get_or_init(build),
            TextSource::Text(text) => text,
        }
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

/// A type that can be read from a column.
pub trait Column: Sized {
    #[doc(hidden)]
    fn sqlite(value: ValueRef<'_>) -> Option<Self>;
    #[doc(hidden)]
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error>;
    /// A value for [`Sql::check_reader`].
    #[doc(hidden)]
    fn sample() -> Self;
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

    /// Reads a column. A missing column and a type mismatch are internal errors.
    pub fn get<T: Column>(&self, name: &str) -> Result<T> {
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

    /// Reads the only column of a statement that selects a single expression, such as a number of rows.
    pub fn only<T: Column>(&self) -> Result<T> {
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

    fn at<T: Column>(&self, index: usize) -> Result<T> {
        match &self.row {
            DriverRow::Sqlite(row) => {
                let value = row.get_ref(index).map_err(|error| Error::Internal(error.into()))?;
                T::sqlite(value).ok_or_else(|| {
                    let kind = value.data_type();
                    Error::Internal(anyhow::anyhow!(
                        "column {} holds an unknown {kind}",
                        self.of.names[index]
                    ))
                })
            }
            DriverRow::Postgres(row) => T::postgres(row, index)
                .map_err(|error| Error::Internal(anyhow::Error::new(error).context(self.of.names[index].clone()))),
            #[cfg(debug_assertions)]
            DriverRow::Sample => Ok(T::sample()),
        }
    }
}

impl Column for i64 {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_i64().ok()
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
    fn sample() -> Self {
        0
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
    fn sample() -> Self {
        0.0
    }
}
impl Column for bool {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_i64().ok().map(|number| number != 0)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
    fn sample() -> Self {
        true
    }
}
impl Column for String {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_str().ok().map(str::to_owned)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index)
    }
    fn sample() -> Self {
        String::new()
    }
}
impl Column for Timestamp {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        i64::sqlite(value).map(Timestamp::from_millis)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get(index).map(Timestamp::from_millis)
    }
    fn sample() -> Self {
        Timestamp::from_millis(0)
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
    fn sample() -> Self {
        Some(T::sample())
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
            fn sample() -> Self {
                Self::new("")
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
    ImageId,
    CommentThreadId,
    CommentId,
    LogId,
    LateTextId,
    DeletionId,
    ConversionSourceId,
    EventId,
    InvitationId,
    JobId,
    MailDomainId,
    ApiTokenId,
    SnippetId,
    RubricId,
    PasskeyId,
    SignOnProviderId,
    RosterSourceId,
    RosterRunId,
    ExternalIdentityId,
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
            fn sample() -> Self {
                Self::stored("")
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
    CommentText,
    SnippetText,
    RubricTitle,
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

impl Argument for domain::account_email::AccountEmail {
    fn value(&self) -> Value<'_> {
        Value::Text(self.stored_form())
    }
}

impl Column for domain::account_email::AccountEmail {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_str().ok().map(Self::stored)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get::<_, &str>(index).map(Self::stored)
    }
    fn sample() -> Self {
        Self::stored("")
    }
}

/// Enumerations are stored as text.
macro_rules! string_enums {
    ($($name:ty),+ $(,)?) => {$(
        impl Argument for $name {
            fn value(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }
        impl Column for $name {
            fn sqlite(value: ValueRef<'_>) -> Option<Self> {
                value.as_str().ok().and_then(Self::parse)
            }
            fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
                row.try_get::<_, StoredEnum<Self>>(index).map(|stored| stored.0)
            }
            fn sample() -> Self {
                Self::ALL[0]
            }
        }
        impl ParseText for $name {
            fn parse_text(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }
    )+};
}
string_enums!(
    domain::access::MemberRole,
    domain::access::PlatformRole,
    domain::activity::Category,
    domain::assignment::AssignmentStatus,
    domain::assignment::LatePolicy,
    domain::class::ClassStatus,
    domain::course::CourseStatus,
    domain::deleted_object::DeletedNoun,
    domain::document::DocumentStatus,
    domain::document::UnlockedStatus,
    domain::document_kind::DocumentType,
    domain::document_kind::FileExtension,
    domain::feedback::FeedbackVisibility,
    domain::grade::GradeStatus,
    domain::group::GroupRole,
    domain::group_assignment::GroupAssignmentStatus,
    domain::invitation::InvitationStatus,
    domain::job::JobKind,
    domain::job::JobStatus,
    domain::mail_domain::MailDomainMethod,
    domain::mail_domain::MailDomainStatus,
    domain::message::MessageType,
    domain::organization::OrganizationStatus,
    domain::roster::RosterProtocol,
    domain::roster_source::RosterEffect,
    domain::roster_source::RosterObject,
    domain::roster_source::RosterRoles,
    domain::roster_source::RosterRunKind,
    domain::roster_source::RosterRunState,
    domain::save::RevisionOrigin,
    domain::sign_on::AccountCreation,
    domain::sign_on::LinkedBy,
    domain::sign_on::LinkingRule,
    domain::sign_on::SignOnPreset,
    domain::submission::SubmissionStatus,
);

trait ParseText: Sized {
    fn parse_text(text: &str) -> Option<Self>;
}

/// A value of an enumeration in PostgreSQL.
struct StoredEnum<T>(T);

impl<'a, T: ParseText> postgres::types::FromSql<'a> for StoredEnum<T> {
    fn from_sql(
        kind: &postgres::types::Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let text = <&str>::from_sql(kind, raw)?;
        T::parse_text(text)
            .map(Self)
            .ok_or_else(|| format!("no such value: {text}").into())
    }
    fn accepts(kind: &postgres::types::Type) -> bool {
        <&str>::accepts(kind)
    }
}

impl Argument for domain::file::FileKey {
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}
impl Column for domain::file::FileKey {
    fn sqlite(value: ValueRef<'_>) -> Option<Self> {
        value.as_str().ok().map(Self::new)
    }
    fn postgres(row: &postgres::Row, index: usize) -> Result<Self, postgres::Error> {
        row.try_get::<_, &str>(index).map(Self::new)
    }
    fn sample() -> Self {
        Self::new("")
    }
}

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
