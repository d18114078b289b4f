//! The versions of objects (`ETag`): read with the object, incremented in the transaction that changes it.

use domain::change::Change;
use domain::version::{Version, VersionedObject};

use super::sql::{Sql, Value};
use super::{ReadTx, WriteTx};
use crate::statements;
use common::error::Result;

macro_rules! of_table {
    ($table:literal) => {
        concat!(
            "SELECT row_version FROM ",
            $table,
            " WHERE organization_id = $1 AND id = $2"
        )
    };
}
macro_rules! locked {
    ($table:literal) => {
        concat!(of_table!($table), " FOR NO KEY UPDATE")
    };
}
macro_rules! raise {
    ($table:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2"
        )
    };
}
macro_rules! is_member {
    () => {
        "id = $2 AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)"
    };
}
macro_rules! of_member {
    () => {
        concat!("SELECT row_version FROM users WHERE ", is_member!())
    };
}
statements! {
    ORGANIZATION = "SELECT row_version FROM organizations WHERE id = $1";
    ORGANIZATION_LOCKED = "SELECT row_version FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    RAISE_ORGANIZATION = "UPDATE organizations SET row_version = row_version + 1 WHERE id = $1";
    USER = of_member!();
    USER_LOCKED = concat!(of_member!(), " FOR NO KEY UPDATE");
    RAISE_USER = concat!("UPDATE users SET row_version = row_version + 1 WHERE ", is_member!());
    SUBJECT = of_table!("subjects");
    SUBJECT_LOCKED = locked!("subjects");
    RAISE_SUBJECT = raise!("subjects");
    HOMEROOM = of_table!("homerooms");
    HOMEROOM_LOCKED = locked!("homerooms");
    RAISE_HOMEROOM = raise!("homerooms");
    CLASS = of_table!("classes");
    CLASS_LOCKED = locked!("classes");
    RAISE_CLASS = raise!("classes");
    COURSE = of_table!("courses");
    COURSE_LOCKED = locked!("courses");
    RAISE_COURSE = raise!("courses");
    GROUP = of_table!("groups");
    GROUP_LOCKED = locked!("groups");
    RAISE_GROUP = raise!("groups");
    ASSIGNMENT = of_table!("assignments");
    ASSIGNMENT_LOCKED = locked!("assignments");
    RAISE_ASSIGNMENT = raise!("assignments");
    DOCUMENT = of_table!("documents");
    DOCUMENT_LOCKED = locked!("documents");
    RAISE_DOCUMENT = raise!("documents");
    SUBMISSION = of_table!("submissions");
    SUBMISSION_LOCKED = locked!("submissions");
    RAISE_SUBMISSION = raise!("submissions");
    FEEDBACK = of_table!("feedback");
    FEEDBACK_LOCKED = locked!("feedback");
    RAISE_FEEDBACK = raise!("feedback");
}

/// The statements of one kind of object.
struct Statements {
    read: &'static Sql,
    read_locked: &'static Sql,
    raise: &'static Sql,
}

fn statements_of(object: &VersionedObject) -> (Statements, Option<&str>) {
    let (read, read_locked, raise, id) = match object {
        VersionedObject::Organization => (&ORGANIZATION, &ORGANIZATION_LOCKED, &RAISE_ORGANIZATION, None),
        VersionedObject::User(id) => (&USER, &USER_LOCKED, &RAISE_USER, Some(id.as_str())),
        VersionedObject::Subject(id) => (&SUBJECT, &SUBJECT_LOCKED, &RAISE_SUBJECT, Some(id.as_str())),
        VersionedObject::Homeroom(id) => (&HOMEROOM, &HOMEROOM_LOCKED, &RAISE_HOMEROOM, Some(id.as_str())),
        VersionedObject::Class(id) => (&CLASS, &CLASS_LOCKED, &RAISE_CLASS, Some(id.as_str())),
        VersionedObject::Course(id) => (&COURSE, &COURSE_LOCKED, &RAISE_COURSE, Some(id.as_str())),
        VersionedObject::Group(id) => (&GROUP, &GROUP_LOCKED, &RAISE_GROUP, Some(id.as_str())),
        VersionedObject::Assignment(id) => (&ASSIGNMENT, &ASSIGNMENT_LOCKED, &RAISE_ASSIGNMENT, Some(id.as_str())),
        VersionedObject::Document(id) => (&DOCUMENT, &DOCUMENT_LOCKED, &RAISE_DOCUMENT, Some(id.as_str())),
        VersionedObject::Submission(id) => (&SUBMISSION, &SUBMISSION_LOCKED, &RAISE_SUBMISSION, Some(id.as_str())),
        VersionedObject::Feedback(id) => (&FEEDBACK, &FEEDBACK_LOCKED, &RAISE_FEEDBACK, Some(id.as_str())),
    };
    let statements = Statements {
        read,
        read_locked,
        raise,
    };
    (statements, id)
}

impl ReadTx<'_> {
    /// Returns the version of an object of this organization; `None` if it does not exist.
    pub fn version(&mut self, object: &VersionedObject) -> Result<Option<Version>> {
        let (statements, id) = statements_of(object);
        let arguments: Vec<Value<'_>> = id.map(Value::Text).into_iter().collect();
        self.fetch_optional(statements.read, &arguments, |row| row.take().map(Version::stored))
    }
}

impl WriteTx<'_> {
    /// Returns the changes recorded so far.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the version of an object, locked until the end of the transaction.
    pub fn version_locked(&mut self, object: &VersionedObject) -> Result<Option<Version>> {
        let (statements, id) = statements_of(object);
        let arguments: Vec<Value<'_>> = id.map(Value::Text).into_iter().collect();
        self.fetch_optional(statements.read_locked, &arguments, |row| {
            row.take().map(Version::stored)
        })
    }

    /// Increments the version of an object; does nothing for a deleted one.
    pub fn raise_version(&mut self, object: &VersionedObject) -> Result<()> {
        let (statements, id) = statements_of(object);
        let arguments: Vec<Value<'_>> = id.map(Value::Text).into_iter().collect();
        self.execute(statements.raise, &arguments)?;
        Ok(())
    }
}
