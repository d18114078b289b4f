//! Resolves the organization of an entity, for a SUPER_ADMIN without an active organization
//! (docs/api-contract.md#super_admin-without-an-active-organization).

use super::PlatformTx;
use super::sessions::{OrganizationFacts, organization};
use crate::args;
use crate::sql::Sql;
use crate::statements;
use common::error::Result;

/// Maps each resource name, as in URL paths, to its table.
macro_rules! resource_tables {
    ($($statement:ident: $($name:literal)|+ in $table:literal;)+) => {
        statements! {
            $(
                /// The organization of an entity of this resource.
                $statement = concat!("SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM ", $table,
                    " x JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1 AND o.deleted_at IS NULL");
            )+
            ORGANIZATION = "SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM organizations o
                WHERE o.id = $1 AND o.deleted_at IS NULL";
            /// The organization of a user: the one that created the account, otherwise the one of the oldest
            /// membership.
            USER = "SELECT o.id, o.status, CAST(NULL AS TEXT), FALSE FROM members x
                JOIN organizations o ON o.id = x.organization_id JOIN users u ON u.id = x.user_id
                WHERE x.user_id = $1 AND o.deleted_at IS NULL
                ORDER BY CASE WHEN u.home_organization_id = o.id THEN 0 ELSE 1 END, x.created_at, o.id LIMIT 1";
        }

        /// The resources whose ids determine an organization.
        static RESOURCES: &[(&str, &Sql)] = &[$($(($name, &$statement),)+)+ ("users", &USER)];
    };
}

resource_tables! {
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

/// A reference to an entity whose organization is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceRef {
    /// An explicitly given organization.
    Organization(String),
    /// An entity by resource name, as in URL paths, and id.
    Object(&'static str, String),
}

impl ResourceRef {
    /// Returns the reference, if ids of this resource determine an organization.
    pub fn object(name: &str, id: &str) -> Option<Self> {
        let (name, _) = RESOURCES.iter().find(|(known, _)| *known == name)?;
        Some(Self::Object(name, replace_nul(id)))
    }

    pub fn organization(id: &str) -> Self {
        Self::Organization(replace_nul(id))
    }
}

/// Database texts cannot contain NUL; an id with one matches nothing.
fn replace_nul(id: &str) -> String {
    id.replace('\0', "\u{fffd}")
}

impl PlatformTx<'_> {
    /// Returns the organization of an entity; `None` if it does not exist.
    pub fn find_resource_tenant(&mut self, resource: &ResourceRef) -> Result<Option<OrganizationFacts>> {
        let (statement, id) = match resource {
            ResourceRef::Organization(id) => (Some(&ORGANIZATION), id),
            ResourceRef::Object(name, id) => {
                let known = RESOURCES.iter().find(|(known, _)| known == name);
                (known.map(|(_, statement)| *statement), id)
            }
        };
        let Some(statement) = statement else { return Ok(None) };
        // PostgreSQL text cannot contain NUL, and no id does.
        if id.contains('\0') {
            return Ok(None);
        }
        let found = self.connection.fetch_optional(statement, args![id], organization)?;
        Ok(found.flatten())
    }
}
