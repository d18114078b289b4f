//! Where an object is at home: the organization of an id, for a SUPER_ADMIN who works without one (contract 5).

use super::Platform;
use super::sessions::{OrganizationFacts, organization};
use crate::args;
use crate::sql::Sql;
use crate::statements;
use common::error::Result;

/// Says for each noun, as paths spell it, in which table its ids are.
macro_rules! homes {
    ($($statement:ident: $($noun:literal)|+ in $table:literal;)+) => {
        statements! {
            $(
                /// The organization of an object of this noun.
                $statement = concat!("SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM ", $table,
                    " x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1 AND o.deleted_at IS NULL");
            )+
            /// The organization itself.
            ORGANIZATION = "SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM organizations o
                WHERE o.id = $1 AND o.deleted_at IS NULL";
            /// The organization of a person: the one that made the account, else the one he has belonged to longest.
            PERSON = "SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM members x
                JOIN organizations o ON o.id = x.organization_id JOIN users u ON u.id = x.user_id
                WHERE x.user_id = $1 AND o.deleted_at IS NULL
                ORDER BY CASE WHEN u.home_organization_id = o.id THEN 0 ELSE 1 END, x.created_at, o.id LIMIT 1";
        }

        /// The nouns whose ids tell an organization.
        static NOUNS: &[(&str, &Sql)] = &[$($(($noun, &$statement),)+)+ ("users", &PERSON)];
    };
}

homes! {
    SUBJECT: "subjects" in "subjects";
    HOMEROOM: "homerooms" in "homerooms";
    CLASS: "classes" in "classes";
    COURSE: "courses" in "courses";
    GROUP: "groups" | "group" in "groups";
    ASSIGNMENT: "assignments" in "assignments";
    WORK_ROOM: "workrooms" in "work_rooms";
    DOCUMENT: "documents" in "documents";
    LATE_TEXT: "late-texts" in "late_texts";
    GROUP_ASSIGNMENT: "group-assignments" in "group_assignments";
    SUBMISSION: "submissions" in "submissions";
    MESSAGE: "messages" in "direct_messages";
    FEEDBACK: "feedback" in "feedback";
    MEMBER: "members" in "members";
    INVITATION: "invitations" in "invitations";
    JOB: "jobs" in "jobs";
    MAIL_DOMAIN: "domains" in "mail_domains";
}

/// An object whose home is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// The organization named outright.
    Organization(String),
    /// An object by its noun, as paths spell it, and its id.
    Object(&'static str, String),
}

impl Home {
    /// An object, if objects of this noun tell an organization.
    pub fn object(noun: &str, id: &str) -> Option<Self> {
        let (noun, _) = NOUNS.iter().find(|(known, _)| *known == noun)?;
        Some(Self::Object(noun, storable(id)))
    }

    /// An organization that is named outright.
    pub fn organization(id: &str) -> Self {
        Self::Organization(storable(id))
    }
}

/// No text of the database holds a NUL; an id with one names nothing.
fn storable(id: &str) -> String {
    id.replace('\0', "\u{fffd}")
}

impl Platform<'_> {
    /// The organization an object is at home in; nothing for an unknown one.
    pub fn home_of(&mut self, home: &Home) -> Result<Option<OrganizationFacts>> {
        let (statement, id) = match home {
            Home::Organization(id) => (Some(&ORGANIZATION), id),
            Home::Object(noun, id) => {
                let known = NOUNS.iter().find(|(known, _)| known == noun);
                (known.map(|(_, statement)| *statement), id)
            }
        };
        let Some(statement) = statement else { return Ok(None) };
        // PostgreSQL knows no text with a NUL in it, and no id has one.
        if id.contains('\0') {
            return Ok(None);
        }
        let found = self.connection.maybe(statement, args![id], organization)?;
        Ok(found.flatten())
    }
}
