//! Subjects in responses and events.

use domain::from_fields;
use domain::id::{OrganizationId, SubjectId};
use domain::subject::Subject;
use domain::text::{Color, ShortName, SubjectCode, SubjectDescription};
use domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A school subject.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Subject)]
pub struct SubjectView {
    id: SubjectId,
    name: ShortName,
    #[schema(required)]
    code: Option<SubjectCode>,
    #[schema(required)]
    color: Option<Color>,
    #[schema(required)]
    description: Option<SubjectDescription>,
    is_active: bool,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<Subject> for SubjectView {
    fn from(subject: Subject) -> Self {
        from_fields!(subject => Self {
            id, name, code, color, description, is_active, organization_id, created_at, updated_at,
        })
    }
}
