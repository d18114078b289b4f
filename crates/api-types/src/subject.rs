//! Subjects in responses and events.

use api_macros::view;
use domain::id::{OrganizationId, SubjectId};
use domain::subject::Subject;
use domain::text::{Color, ShortName, SubjectCode, SubjectDescription};
use domain::time::Timestamp;

/// A school subject.
#[view]
pub struct SubjectView {
    id: SubjectId,
    name: ShortName,
    code: Option<SubjectCode>,
    color: Option<Color>,
    description: Option<SubjectDescription>,
    is_active: bool,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
}

view_from!(subject: Subject => SubjectView {
    id, name, code, color, description, is_active, organization_id, created_at, updated_at,
});
