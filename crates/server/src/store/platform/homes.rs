//! Where an object is at home: the organization of an id, for a SUPER_ADMIN who works without one (contract 5).

use model::id::OrganizationId;

use super::Platform;
use super::sessions::{OrganizationFacts, organization};
use crate::args;
use crate::error::Result;
use crate::statements;
use crate::store::sql::Sql;

statements! {
    /// The organization itself.
    ORGANIZATION = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM organizations o WHERE o.id = $1";
    /// The organization of a subject.
    SUBJECT = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM subjects x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a class.
    CLASS = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM classes x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a course.
    COURSE = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM courses x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a group.
    GROUP = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM groups x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a topic.
    ASSIGNMENT = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM assignments x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a work room.
    WORK_ROOM = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM work_rooms x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a document.
    DOCUMENT = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM documents x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
    /// The organization of a job.
    JOB = "SELECT o.id, o.status, CAST(NULL AS TEXT) FROM jobs x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1";
}

/// An object whose home is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// The organization named outright.
    Organization(String),
    /// An object by its noun, as the path spells it, and its id.
    Object(&'static str, String),
}

impl Platform<'_> {
    /// The organization an object is at home in; nothing for an unknown one.
    pub fn home_of(&mut self, home: &Home) -> Result<Option<OrganizationFacts>> {
        let (statement, id): (&'static Sql, &str) = match home {
            Home::Organization(id) => (&ORGANIZATION, id),
            Home::Object("subjects", id) => (&SUBJECT, id),
            Home::Object("classes", id) => (&CLASS, id),
            Home::Object("courses", id) => (&COURSE, id),
            Home::Object("groups" | "group", id) => (&GROUP, id),
            Home::Object("assignments", id) => (&ASSIGNMENT, id),
            Home::Object("workrooms", id) => (&WORK_ROOM, id),
            Home::Object("documents", id) => (&DOCUMENT, id),
            Home::Object("jobs", id) => (&JOB, id),
            Home::Object(..) => return Ok(None),
        };
        let found = self
            .connection
            .maybe(statement, args![OrganizationId::new(id)], organization)?;
        Ok(found.flatten())
    }
}
