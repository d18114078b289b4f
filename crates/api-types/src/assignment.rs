//! Topics in responses, and their outline for teachers of other classes (docs/api-contract.md#permissions). For
//! students a topic contains only the data of their own group, without counts and without task texts of other groups.

use api_macros::view;
use domain::assignment::{Assignment, AssignmentStatus, LatePolicy};
use domain::course::CourseLabel;
use domain::details::{AssignmentDetails, GroupAssignmentDetails};
use domain::file::AssignmentAttachment;
use domain::from_fields;
use domain::group_assignment::{Statistics, can_view_file};
use domain::id::{AssignmentId, ClassId, CourseId, OrganizationId, UserId};
use domain::number::{Points, RequiredSubmissions};
use domain::schedule::Schedule;
use domain::text::{Description, GradeScale, ShortName, Title};
use domain::time::Timestamp;

use super::attachment::AssignmentAttachmentView;
use super::audience::{Audience, FullTag, OutlineTag, StaffOnly};
use super::group_assignment::{GroupAssignmentOfTopicView, GroupAssignmentView};

/// A topic with its attachments and groups.
#[view]
pub struct AssignmentView {
    #[schema(inline)]
    view: FullTag,
    #[serde(flatten)]
    fields: AssignmentFieldsView,
    /// For students, only their own group.
    group_assignments: Vec<GroupAssignmentView>,
}

/// A topic in a list, with its attachments and the progress of its groups.
#[view]
pub struct AssignmentListItemView {
    #[schema(inline)]
    view: FullTag,
    #[serde(flatten)]
    fields: AssignmentFieldsView,
    /// For students, only their own group.
    group_assignments: Vec<GroupAssignmentOfTopicView>,
}

/// A topic with its attachments, without its groups.
#[view]
pub struct AssignmentFieldsView {
    id: AssignmentId,
    title: Title,
    /// The task text shared by all groups. The text that a group reads is `effectiveDescription` of its group
    /// assignment.
    description: Description,
    deadline: Timestamp,
    /// How long the work takes, such as "2 lessons".
    working_time: Option<ShortName>,
    required_submissions: RequiredSubmissions,
    class_id: ClassId,
    course_id: Option<CourseId>,
    /// True if all groups share one task text and one set of attachments.
    is_shared: bool,
    status: AssignmentStatus,
    finished_at: Option<Timestamp>,
    finished_by_id: Option<UserId>,
    max_points: Option<Points>,
    grade_scale: Option<GradeScale>,
    late_policy: LatePolicy,
    /// Whether the topic has a rubric; false for students if its criteria are not shown to them.
    has_rubric: bool,
    /// Staff only: whether the topic is a draft, which students do not see.
    is_draft: StaffOnly<bool>,
    /// Staff only: students see the topic from this time; null without a time.
    publish_at: StaffOnly<Option<Timestamp>>,
    created_by_id: UserId,
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
    class: AssignmentClassView,
    course: Option<CourseLabel>,
    /// For students, only the attachments their group sees.
    attachments: Vec<AssignmentAttachmentView>,
    /// Staff only: progress of the groups.
    stats: StaffOnly<AssignmentStatsView>,
}

/// The class of a topic.
#[view]
pub struct AssignmentClassView {
    id: ClassId,
    name: String,
    /// Weekly timetable, in the time zone of the school.
    schedule: Option<Schedule>,
}

/// Progress of the groups of a topic. The five status counts add up to `groups`.
#[view(Copy)]
pub struct AssignmentStatsView {
    groups: i64,
    not_started: i64,
    in_progress: i64,
    submitted: i64,
    returned: i64,
    graded: i64,
    /// Groups whose current submission was late.
    late: i64,
}

impl AssignmentView {
    /// Returns the topic as visible to the audience. `details` must already be restricted to what the caller may see.
    pub fn new(details: &AssignmentDetails, audience: &Audience) -> Self {
        let link = |link| GroupAssignmentView::new(link, audience);
        Self {
            view: FullTag::Full,
            fields: AssignmentFieldsView::new(details, audience),
            group_assignments: details.links.iter().map(link).collect(),
        }
    }

    pub fn id(&self) -> &AssignmentId {
        &self.fields.id
    }
}

impl AssignmentListItemView {
    /// Returns the topic in a list as visible to the audience. `details` must already be restricted to what the caller
    /// may see.
    pub fn new(details: &AssignmentDetails, audience: &Audience) -> Self {
        Self {
            view: FullTag::Full,
            fields: AssignmentFieldsView::new(details, audience),
            group_assignments: details.links.iter().map(GroupAssignmentOfTopicView::from).collect(),
        }
    }
}

impl AssignmentFieldsView {
    fn new(details: &AssignmentDetails, audience: &Audience) -> Self {
        let assignment = &details.assignment;
        let is_shown = |file: &&AssignmentAttachment| {
            audience.is_staff()
                || details
                    .links
                    .iter()
                    .any(|link| can_view_file(assignment, &link.link, file))
        };
        let file = |file| AssignmentAttachmentView::new(file, assignment, audience);
        from_fields!(&assignment => Self {
            id, title, description, deadline, working_time, required_submissions, class_id, course_id, is_shared,
            max_points, grade_scale, late_policy, created_by_id, organization_id, created_at, updated_at,
            status: assignment.status(),
            finished_at: assignment.finished.as_ref().map(|finish| finish.at),
            finished_by_id: assignment.finished.as_ref().and_then(|finish| finish.by.clone()),
            has_rubric: details.has_rubric,
            is_draft: audience.staff_only(assignment.publication.is_draft),
            publish_at: audience.staff_only(assignment.publication.publish_at),
            class: AssignmentClassView {
                id: details.class.id.clone(),
                name: details.class.name.clone(),
                schedule: details.schedule.clone(),
            },
            course: details.course.clone(),
            attachments: details.attachments.iter().filter(is_shown).map(file).collect(),
            stats: audience.staff_only(AssignmentStatsView::of(&details.links)),
        })
    }
}

impl AssignmentStatsView {
    fn of(links: &[GroupAssignmentDetails]) -> Self {
        let mut counted = Statistics::default();
        for details in links {
            let is_late = details
                .current_submission
                .as_ref()
                .is_some_and(|current| current.submission.lateness.is_late);
            counted.count(details.link.status, is_late);
        }
        from_fields!(counted => Self { groups, not_started, in_progress, submitted, returned, graded, late })
    }
}

/// The part of a topic that teachers of other classes may see.
#[view]
pub struct AssignmentOutlineView {
    #[schema(inline)]
    view: OutlineTag,
    id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    class_id: ClassId,
    course_id: Option<CourseId>,
    status: AssignmentStatus,
    /// Number of groups that work on the topic.
    group_count: i64,
}

impl AssignmentOutlineView {
    pub fn new(assignment: &Assignment, group_count: i64) -> Self {
        from_fields!(&assignment => Self {
            id, title, deadline, class_id, course_id,
            view: OutlineTag::Outline,
            status: assignment.status(),
            group_count: group_count,
        })
    }
}

/// A topic with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(discriminator(property_name = "view", mapping(
    ("FULL" = "#/components/schemas/Assignment"), ("OUTLINE" = "#/components/schemas/AssignmentOutline"))))]
pub enum KnownAssignmentView {
    /// The whole topic, for students of its groups, the staff of its class and admins.
    Full(Box<AssignmentView>),
    /// An outline, for teachers of other classes.
    Outline(AssignmentOutlineView),
}

/// A topic in a list with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(discriminator(property_name = "view", mapping(
    ("FULL" = "#/components/schemas/AssignmentListItem"), ("OUTLINE" = "#/components/schemas/AssignmentOutline"))))]
pub enum ListedAssignmentView {
    /// For students of its groups, the staff of its class and admins.
    Full(Box<AssignmentListItemView>),
    /// An outline, for teachers of other classes.
    Outline(AssignmentOutlineView),
}

/// A topic for which a document can be submitted.
#[view]
#[schema(as = SubmissionCandidate)]
pub struct CandidateView {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    /// Whether clients should preselect this topic. True for exactly one candidate.
    pub is_preselected: bool,
}
