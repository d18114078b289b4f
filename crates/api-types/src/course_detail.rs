//! One course with what is in it (contract 3.3): summaries of its groups and topics, outlines for colleagues.

use model::assignment::{Assignment, AssignmentStatus, LatePolicy};
use model::id::{AssignmentId, ClassId, CourseId, OrganizationId, UserId};
use model::number::{Points, RequiredSubmissions};
use model::text::{Description, GradeScale, Title};
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::assignment::AssignmentOutlineView;
use super::audience::SummaryTag;
use super::course::CourseView;
use super::group::{GroupOutlineView, GroupSummaryView};

/// A course with its groups and its topics.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CourseDetail)]
pub struct CourseDetailView {
    #[serde(flatten)]
    course: CourseView,
    groups: Vec<CourseGroupView>,
    assignments: Vec<CourseAssignmentView>,
}

/// A group of a course as far as the caller may know it; `view` is the extent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = CourseGroup, discriminator(property_name = "view", mapping(
    ("SUMMARY" = "#/components/schemas/CourseGroupSummary"), ("OUTLINE" = "#/components/schemas/GroupOutline"))))]
pub enum CourseGroupView {
    /// For the staff of its class and administrators.
    Summary(Box<CourseGroupSummaryView>),
    /// For teachers of other classes.
    Outline(GroupOutlineView),
}

/// The fields of a group itself, for the staff of its class.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = CourseGroupSummary)]
pub struct CourseGroupSummaryView {
    #[schema(inline)]
    view: SummaryTag,
    #[serde(flatten)]
    group: GroupSummaryView,
}

impl From<GroupSummaryView> for CourseGroupSummaryView {
    fn from(group: GroupSummaryView) -> Self {
        Self {
            view: SummaryTag::Summary,
            group,
        }
    }
}

/// A topic of a course as far as the caller may know it; `view` is the extent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = CourseAssignment, discriminator(property_name = "view", mapping(
    ("SUMMARY" = "#/components/schemas/AssignmentSummary"), ("OUTLINE" = "#/components/schemas/AssignmentOutline"))))]
pub enum CourseAssignmentView {
    /// For the staff of its class and administrators.
    Summary(Box<AssignmentSummaryView>),
    /// For teachers of other classes.
    Outline(AssignmentOutlineView),
}

/// The fields of a topic itself, for the staff of its class.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AssignmentSummary)]
pub struct AssignmentSummaryView {
    #[schema(inline)]
    view: SummaryTag,
    id: AssignmentId,
    title: Title,
    description: Description,
    deadline: Timestamp,
    required_submissions: RequiredSubmissions,
    class_id: ClassId,
    #[schema(required)]
    course_id: Option<CourseId>,
    is_shared: bool,
    status: AssignmentStatus,
    #[schema(required)]
    finished_at: Option<Timestamp>,
    #[schema(required)]
    finished_by_id: Option<UserId>,
    #[schema(required)]
    max_points: Option<Points>,
    #[schema(required)]
    grade_scale: Option<GradeScale>,
    late_policy: LatePolicy,
    created_by_id: UserId,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How many groups work on it
    group_count: i64,
}

impl CourseDetailView {
    /// The course with its groups and its topics.
    pub fn new(course: CourseView, groups: Vec<CourseGroupView>, assignments: Vec<CourseAssignmentView>) -> Self {
        Self {
            course,
            groups,
            assignments,
        }
    }
}

impl AssignmentSummaryView {
    /// The fields of the topic and how many groups work on it.
    pub fn new(assignment: Assignment, group_count: i64) -> Self {
        let status = assignment.status();
        let (finished_at, finished_by_id) = match assignment.finished {
            Some(finish) => (Some(finish.at), finish.by),
            None => (None, None),
        };
        Self {
            view: SummaryTag::Summary,
            id: assignment.id,
            title: assignment.title,
            description: assignment.description,
            deadline: assignment.deadline,
            required_submissions: assignment.required_submissions,
            class_id: assignment.class_id,
            course_id: assignment.course_id,
            is_shared: assignment.is_shared,
            status,
            finished_at,
            finished_by_id,
            max_points: assignment.max_points,
            grade_scale: assignment.grade_scale,
            late_policy: assignment.late_policy,
            created_by_id: assignment.created_by_id,
            organization_id: assignment.organization_id,
            created_at: assignment.created_at,
            updated_at: assignment.updated_at,
            group_count,
        }
    }
}
