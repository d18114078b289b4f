//! The versions of objects (`ETag`): read with the object, incremented in the transaction that changes it.

use domain::change::Change;
use domain::version::{Version, VersionedObject};

use super::sql::{Sql, Value};
use super::{ReadTx, WriteTx};
use crate::{fragments, statements};
use common::error::Result;

fragments! {
    IS_MEMBER = "id = $2 AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)";
    OF_MEMBER = "SELECT row_version FROM users WHERE {IS_MEMBER}";
}

statements! {
    ORGANIZATION = "SELECT row_version FROM organizations WHERE id = $1";
    ORGANIZATION_LOCKED = "SELECT row_version FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    RAISE_ORGANIZATION = "UPDATE organizations SET row_version = row_version + 1 WHERE id = $1";
    USER = "{OF_MEMBER}";
    USER_LOCKED = "{OF_MEMBER} FOR NO KEY UPDATE";
    RAISE_USER = "UPDATE users SET row_version = row_version + 1 WHERE {IS_MEMBER}";
    SUBJECT = "SELECT row_version FROM subjects WHERE organization_id = $1 AND id = $2";
    SUBJECT_LOCKED = "SELECT row_version FROM subjects WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_SUBJECT = "UPDATE subjects SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    HOMEROOM = "SELECT row_version FROM homerooms WHERE organization_id = $1 AND id = $2";
    HOMEROOM_LOCKED = "SELECT row_version FROM homerooms WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_HOMEROOM = "UPDATE homerooms SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    CLASS = "SELECT row_version FROM classes WHERE organization_id = $1 AND id = $2";
    CLASS_LOCKED = "SELECT row_version FROM classes WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_CLASS = "UPDATE classes SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    COURSE = "SELECT row_version FROM courses WHERE organization_id = $1 AND id = $2";
    COURSE_LOCKED = "SELECT row_version FROM courses WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_COURSE = "UPDATE courses SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    GROUP = "SELECT row_version FROM groups WHERE organization_id = $1 AND id = $2";
    GROUP_LOCKED = "SELECT row_version FROM groups WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_GROUP = "UPDATE groups SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    ASSIGNMENT = "SELECT row_version FROM assignments WHERE organization_id = $1 AND id = $2";
    ASSIGNMENT_LOCKED = "SELECT row_version FROM assignments
            WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_ASSIGNMENT = "UPDATE assignments SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    DOCUMENT = "SELECT row_version FROM documents WHERE organization_id = $1 AND id = $2";
    DOCUMENT_LOCKED = "SELECT row_version FROM documents WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_DOCUMENT = "UPDATE documents SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    SUBMISSION = "SELECT row_version FROM submissions WHERE organization_id = $1 AND id = $2";
    SUBMISSION_LOCKED = "SELECT row_version FROM submissions
            WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_SUBMISSION = "UPDATE submissions SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
    FEEDBACK = "SELECT row_version FROM feedback WHERE organization_id = $1 AND id = $2";
    FEEDBACK_LOCKED = "SELECT row_version FROM feedback WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    RAISE_FEEDBACK = "UPDATE feedback SET row_version = row_version + 1 WHERE organization_id = $1 AND id = $2";
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
        self.fetch_optional(statements.read, &arguments, |row| {
            row.get("row_version").map(Version::stored)
        })
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
            row.get("row_version").map(Version::stored)
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
