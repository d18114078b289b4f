//! Resolves the organization of an entity, for a SUPER_ADMIN without an active organization
//! (docs/api-contract.md#super_admin-without-an-active-organization).

use super::PlatformTx;
use super::sessions::{OrganizationFacts, organization};
use crate::sql::Sql;
use crate::{args, fragments, statements};
use common::error::Result;

fragments! {
    SELECT_ORGANIZATION = "SELECT o.id AS active_id, o.status AS active_status, CAST(NULL AS TEXT) AS active_metadata,
            CAST(NULL AS TEXT) AS member_role,
            FALSE AS is_password_foreign";
    OF_ROW = "JOIN organizations o ON o.id = x.organization_id WHERE x.id = $1 AND o.deleted_at IS NULL";
}

statements! {
    SUBJECT = "{SELECT_ORGANIZATION} FROM subjects x {OF_ROW}";
    HOMEROOM = "{SELECT_ORGANIZATION} FROM homerooms x {OF_ROW}";
    CLASS = "{SELECT_ORGANIZATION} FROM classes x {OF_ROW}";
    COURSE = "{SELECT_ORGANIZATION} FROM courses x {OF_ROW}";
    GROUP = "{SELECT_ORGANIZATION} FROM groups x {OF_ROW}";
    ASSIGNMENT = "{SELECT_ORGANIZATION} FROM assignments x {OF_ROW}";
    WORK_ROOM = "{SELECT_ORGANIZATION} FROM work_rooms x {OF_ROW}";
    DOCUMENT = "{SELECT_ORGANIZATION} FROM documents x {OF_ROW}";
    LATE_TEXT = "{SELECT_ORGANIZATION} FROM late_texts x {OF_ROW}";
    DELETION = "{SELECT_ORGANIZATION} FROM deletion_archives x {OF_ROW}";
    GROUP_ASSIGNMENT = "{SELECT_ORGANIZATION} FROM group_assignments x {OF_ROW}";
    SUBMISSION = "{SELECT_ORGANIZATION} FROM submissions x {OF_ROW}";
    MESSAGE = "{SELECT_ORGANIZATION} FROM direct_messages x {OF_ROW}";
    FEEDBACK = "{SELECT_ORGANIZATION} FROM feedback x {OF_ROW}";
    MEMBER = "{SELECT_ORGANIZATION} FROM members x {OF_ROW}";
    INVITATION = "{SELECT_ORGANIZATION} FROM invitations x {OF_ROW}";
    JOB = "{SELECT_ORGANIZATION} FROM jobs x {OF_ROW}";
    API_TOKEN = "{SELECT_ORGANIZATION} FROM api_tokens x {OF_ROW}";
    MAIL_DOMAIN = "{SELECT_ORGANIZATION} FROM mail_domains x {OF_ROW}";
    SIGN_ON_PROVIDER = "{SELECT_ORGANIZATION} FROM sign_on_providers x {OF_ROW}";
    ROSTER_SOURCE = "{SELECT_ORGANIZATION} FROM roster_sources x {OF_ROW}";
    RUBRIC = "{SELECT_ORGANIZATION} FROM rubrics x {OF_ROW}";
    SNIPPET = "{SELECT_ORGANIZATION} FROM text_snippets x {OF_ROW}";
    ORGANIZATION = "{SELECT_ORGANIZATION} FROM organizations o WHERE o.id = $1 AND o.deleted_at IS NULL";
    /// The organization of a user: the one that created the account, otherwise the one of the oldest membership.
    USER = "{SELECT_ORGANIZATION} FROM members x
        JOIN organizations o ON o.id = x.organization_id JOIN users u ON u.id = x.user_id
        WHERE x.user_id = $1 AND o.deleted_at IS NULL
        ORDER BY CASE WHEN u.home_organization_id = o.id THEN 0 ELSE 1 END, x.created_at, o.id LIMIT 1";
}

/// The resources whose ids determine an organization, by their name in URL paths.
static RESOURCES: &[(&str, &Sql)] = &[
    ("subjects", &SUBJECT),
    ("homerooms", &HOMEROOM),
    ("classes", &CLASS),
    ("courses", &COURSE),
    ("groups", &GROUP),
    ("group", &GROUP),
    ("assignments", &ASSIGNMENT),
    ("workrooms", &WORK_ROOM),
    ("documents", &DOCUMENT),
    ("late-texts", &LATE_TEXT),
    ("deletions", &DELETION),
    ("group-assignments", &GROUP_ASSIGNMENT),
    ("submissions", &SUBMISSION),
    ("messages", &MESSAGE),
    ("feedback", &FEEDBACK),
    ("members", &MEMBER),
    ("invitations", &INVITATION),
    ("jobs", &JOB),
    ("domains", &MAIL_DOMAIN),
    ("api-tokens", &API_TOKEN),
    ("sign-on", &SIGN_ON_PROVIDER),
    ("rosters", &ROSTER_SOURCE),
    ("rubrics", &RUBRIC),
    ("snippets", &SNIPPET),
    ("users", &USER),
];

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
        let found = self.fetch_optional(statement, args![id], organization)?;
        Ok(found.flatten())
    }
}
