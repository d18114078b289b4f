//! A course with its groups and topics: summaries for the staff of its class, outlines for other teachers.

use api_macros::view;
use domain::assignment::{Assignment, AssignmentStatus, LatePolicy};
use domain::from_fields;
use domain::id::{AssignmentId, ClassId, CourseId, OrganizationId, UserId};
use domain::number::{Points, RequiredSubmissions};
use domain::text::{Description, GradeScale, Title};
use domain::time::Timestamp;

use super::assignment::AssignmentOutlineView;
use super::audience::SummaryTag;
use super::course::CourseView;
use super::group::{GroupOutlineView, GroupSummaryView};

/// A course with its groups and topics.
#[view]
pub struct CourseDetailView {
    #[serde(flatten)]
    course: CourseView,
    groups: Vec<CourseGroupView>,
    assignments: Vec<CourseAssignmentView>,
}

/// A group of a course with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(discriminator(property_name = "view", mapping(
    ("SUMMARY" = "#/components/schemas/CourseGroupSummary"), ("OUTLINE" = "#/components/schemas/GroupOutline"))))]
pub enum CourseGroupView {
    /// For the staff of its class and admins.
    Summary(Box<CourseGroupSummaryView>),
    /// An outline, for teachers of other classes.
    Outline(GroupOutlineView),
}

/// The fields of a group without related objects, for the staff of its class.
#[view]
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

/// A topic of a course with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(discriminator(property_name = "view", mapping(
    ("SUMMARY" = "#/components/schemas/AssignmentSummary"), ("OUTLINE" = "#/components/schemas/AssignmentOutline"))))]
pub enum CourseAssignmentView {
    /// For the staff of its class and admins.
    Summary(Box<AssignmentSummaryView>),
    /// An outline, for teachers of other classes.
    Outline(AssignmentOutlineView),
}

/// The fields of a topic without related objects, for the staff of its class.
#[view]
pub struct AssignmentSummaryView {
    #[schema(inline)]
    view: SummaryTag,
    id: AssignmentId,
    title: Title,
    description: Description,
    deadline: Timestamp,
    required_submissions: RequiredSubmissions,
    class_id: ClassId,
    course_id: Option<CourseId>,
    is_shared: bool,
    status: AssignmentStatus,
    finished_at: Option<Timestamp>,
    finished_by_id: Option<UserId>,
    max_points: Option<Points>,
    grade_scale: Option<GradeScale>,
    late_policy: LatePolicy,
    /// Whether the topic is a draft, which students do not see.
    is_draft: bool,
    /// Students see the topic from this time; null without a time.
    publish_at: Option<Timestamp>,
    created_by_id: UserId,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Number of groups that work on the topic.
    group_count: i64,
}

impl CourseDetailView {
    pub fn new(course: CourseView, groups: Vec<CourseGroupView>, assignments: Vec<CourseAssignmentView>) -> Self {
        Self {
            course,
            groups,
            assignments,
        }
    }
}

impl AssignmentSummaryView {
    pub fn new(assignment: Assignment, group_count: i64) -> Self {
        let status = assignment.status();
        let (finished_at, finished_by_id) = match assignment.finished {
            Some(finish) => (Some(finish.at), finish.by),
            None => (None, None),
        };
        from_fields!(assignment => Self {
            id, title, description, deadline, required_submissions, class_id, course_id, is_shared, max_points,
            grade_scale, late_policy, created_by_id, organization_id, created_at, updated_at,
            view: SummaryTag::Summary,
            status: status,
            finished_at: finished_at,
            finished_by_id: finished_by_id,
            is_draft: assignment.publication.is_draft,
            publish_at: assignment.publication.publish_at,
            group_count: group_count,
        })
    }
}
