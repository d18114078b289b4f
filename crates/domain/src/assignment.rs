//! Assignments (topics): the task, its single deadline, and the fields a bulk edit may change. The link between one
//! group and one assignment is [`crate::group_assignment`].

use crate::from_fields;
use api_macros::{body, patch, view};
use serde::Deserialize;

use crate::collation::sort_key;
use crate::course::Course;
use crate::domain_error::DomainError;
use crate::group::{ActiveTopic, Group, GroupLabel};
use crate::id::{AssignmentId, AttachmentId, ClassId, CourseId, GroupId, OrganizationId, UserId};
use crate::list::List;
use crate::number::{Points, RequiredSubmissions};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::publication::TopicPublication;
use crate::string_enum::string_enum;
use crate::text::{Description, GradeScale, ShortName, Title};
use crate::time::Timestamp;
use crate::zone::DateOrTime;

string_enum! {
    /// Status of a topic.
    AssignmentStatus {
        /// Groups can work on the topic.
        Active = "ACTIVE",
        /// Work is over: the documents stay locked until a teacher reopens the topic.
        Finished = "FINISHED",
    }
}

string_enum! {
    /// How submissions after the deadline are handled.
    LatePolicy {
        /// They are accepted and marked late.
        Allow = "ALLOW",
        /// They are rejected.
        Block = "BLOCK",
    }
}

string_enum! {
    /// Sort order of a list of topics. A leading `-` means descending.
    AssignmentOrder {
        Deadline = "deadline",
        DeadlineDescending = "-deadline",
        Title = "title",
        TitleDescending = "-title",
        CreatedAt = "createdAt",
        CreatedAtDescending = "-createdAt",
    }
}

/// When and by whom a topic was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentCompletion {
    pub at: Timestamp,
    /// `None` once the user has been erased.
    pub by: Option<UserId>,
}

/// A topic: one task with its deadline, assigned to groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub id: AssignmentId,
    pub organization_id: OrganizationId,
    pub class_id: ClassId,
    /// The course of the topic; `None` for topics created before courses existed.
    pub course_id: Option<CourseId>,
    pub title: Title,
    /// The task text.
    pub description: Description,
    /// The single deadline of the topic.
    pub deadline: Timestamp,
    /// How long the work takes, such as "2 lessons".
    pub working_time: Option<ShortName>,
    /// Number of documents a group has to submit.
    pub required_submissions: RequiredSubmissions,
    /// True if all groups share one task text and one set of files; false if each group may have its own.
    pub is_shared: bool,
    /// Set while the topic is finished.
    pub finished: Option<AssignmentCompletion>,
    /// Maximum number of points of a grade.
    pub max_points: Option<Points>,
    /// The grade scale of the topic.
    pub grade_scale: Option<GradeScale>,
    pub late_policy: LatePolicy,
    /// When students see the topic; a group link may have an exception.
    pub publication: TopicPublication,
    pub created_by_id: UserId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a topic that a PATCH request may change.
#[patch(PartialEq)]
pub struct AssignmentEdit {
    #[garde(dive, custom(not_null))]
    pub title: FieldPatch<Title>,
    /// New task text.
    #[garde(dive, custom(not_null))]
    pub description: FieldPatch<Description>,
    /// New deadline. A time in the past is allowed.
    #[garde(custom(not_null))]
    pub deadline: FieldPatch<Timestamp>,
    /// How long the work takes, such as "2 lessons".
    #[serde(default, deserialize_with = "optional_text")]
    pub working_time: FieldPatch<ShortName>,
    /// Number of documents a group has to submit.
    #[garde(dive, custom(not_null))]
    pub required_submissions: FieldPatch<RequiredSubmissions>,
    /// Maximum number of points of a grade.
    pub max_points: FieldPatch<Points>,
    /// Grade scale of the topic.
    #[serde(default, deserialize_with = "optional_text")]
    pub grade_scale: FieldPatch<GradeScale>,
    /// How submissions after the deadline are handled.
    #[garde(custom(not_null))]
    pub late_policy: FieldPatch<LatePolicy>,
    /// True if all groups share one task text and one set of files; false if each group may have its own.
    #[garde(custom(not_null))]
    pub is_shared: FieldPatch<bool>,
    /// True turns the topic into a draft, which students do not see; false publishes a draft.
    #[garde(custom(not_null))]
    pub is_draft: FieldPatch<bool>,
    /// Students see the topic from this time, at once if it has passed. Ends a draft; null removes the time.
    pub publish_at: FieldPatch<Timestamp>,
    /// Moves the topic to another course. All its groups move with it.
    pub course_id: FieldPatch<CourseId>,
    /// Task texts and exceptions from the publication of individual groups; groups that are not listed keep theirs.
    // They are stored in the group links, so `Assignment::edit` leaves them to the caller.
    #[garde(custom(not_null), custom(check_patched_descriptions))]
    pub groups: FieldPatch<List<GroupDescription>>,
}

/// The task text of one group of a topic, and its exception from the publication.
#[body(PartialEq, Eq, Hash)]
#[schema(as = OwnText)]
pub struct GroupDescription {
    pub group_id: GroupId,
    /// Text of this group. If absent, the text is unchanged; `null` or an empty string removes it.
    #[serde(default, deserialize_with = "optional_text")]
    pub description_override: FieldPatch<Description>,
    /// True shows the text of this group after the shared one; false, the default, shows it instead.
    #[garde(custom(not_null))]
    pub includes_shared_text: FieldPatch<bool>,
    /// True hides the topic from this group, even if it is published for the others. With false and without
    /// `publishAt`, the group follows the topic.
    #[garde(custom(not_null))]
    pub is_draft: FieldPatch<bool>,
    /// This group sees the topic from this time, even if the topic is a draft; null removes the time.
    pub publish_at: FieldPatch<Timestamp>,
}

/// Validates that each text respects its limits and that no group is listed twice.
pub fn check_group_descriptions(texts: &List<GroupDescription>, (): &()) -> garde::Result {
    use garde::Validate;
    let groups: std::collections::HashSet<&GroupId> = texts.iter().map(|text| &text.group_id).collect();
    if groups.len() < texts.len() {
        return Err(garde::Error::new("must not name the same group twice"));
    }
    texts
        .validate()
        .and_then(|()| texts.iter().try_for_each(Validate::validate))
        .map_err(|report| garde::Error::new(report.to_string().trim_end().replace('\n', "; ")))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "signature required by garde")]
fn check_patched_descriptions(texts: &FieldPatch<List<GroupDescription>>, (): &()) -> garde::Result {
    texts
        .value()
        .map_or(Ok(()), |texts| check_group_descriptions(texts, &()))
}

/// Bulk edit of a topic. Contains only fields that all groups share, so that it cannot change members, overrides or
/// files of a single group.
#[body(Default, PartialEq, Eq)]
#[schema(as = SharedEdit)]
pub struct BulkAssignmentEdit {
    #[garde(dive, custom(not_null))]
    pub title: FieldPatch<Title>,
    /// New task text.
    #[garde(dive, custom(not_null))]
    pub description: FieldPatch<Description>,
    #[garde(custom(not_null))]
    pub deadline: FieldPatch<Timestamp>,
    /// True turns the topic into a draft, which students do not see; false publishes a draft.
    #[garde(custom(not_null))]
    pub is_draft: FieldPatch<bool>,
    /// Students see the topic from this time, at once if it has passed. Ends a draft; null removes the time.
    pub publish_at: FieldPatch<Timestamp>,
    /// New start date of every group of the topic.
    // Applied by `Group::start_on`.
    pub start_date: FieldPatch<DateOrTime>,
    /// Ids of staged attachments to publish as shared attachments.
    #[serde(default)]
    pub add_attachment_ids: List<AttachmentId>,
    /// Ids of shared attachments to remove.
    #[serde(default)]
    pub remove_attachment_ids: List<AttachmentId>,
}

impl AssignmentOrder {
    /// Returns whether the order is descending.
    pub fn is_descending(self) -> bool {
        self.as_str().starts_with('-')
    }
}

impl Assignment {
    /// Returns a new published topic outside of a course, with one text for all groups and without optional properties.
    pub fn new(
        id: AssignmentId,
        organization_id: OrganizationId,
        class_id: ClassId,
        title: Title,
        deadline: Timestamp,
        created_by_id: UserId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            class_id,
            course_id: None,
            title,
            description: Description::stored(""),
            deadline,
            working_time: None,
            required_submissions: RequiredSubmissions::stored(1),
            is_shared: true,
            finished: None,
            max_points: None,
            grade_scale: None,
            late_policy: LatePolicy::Allow,
            publication: TopicPublication::default(),
            created_by_id,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the key by which a list in this order is sorted, ascending.
    pub fn sort_key(&self, order: AssignmentOrder) -> (Timestamp, String, AssignmentId) {
        use AssignmentOrder as Order;
        let (moment, title) = match order {
            Order::Deadline | Order::DeadlineDescending => (self.deadline, String::new()),
            Order::CreatedAt | Order::CreatedAtDescending => (self.created_at, String::new()),
            Order::Title | Order::TitleDescending => (Timestamp::from_millis(0), sort_key(self.title.as_str())),
        };
        (moment, title, self.id.clone())
    }

    pub const fn status(&self) -> AssignmentStatus {
        if self.finished.is_some() {
            AssignmentStatus::Finished
        } else {
            AssignmentStatus::Active
        }
    }

    pub const fn is_active(&self) -> bool {
        self.finished.is_none()
    }

    /// Rejects changes to a finished topic: it accepts no edits, groups or submissions.
    pub const fn writable(&self) -> Result<(), DomainError> {
        if self.is_active() {
            Ok(())
        } else {
            Err(DomainError::AssignmentFinished)
        }
    }

    /// Finishes the topic and returns whether its status changed. Finishing it again keeps the first timestamp.
    pub fn finish(&mut self, teacher: &UserId, now: Timestamp) -> bool {
        let is_changed = self.is_active();
        if is_changed {
            self.finished = Some(AssignmentCompletion {
                at: now,
                by: Some(teacher.clone()),
            });
            self.updated_at = now;
        }
        is_changed
    }

    /// Reopens the topic and returns whether its status changed. Rejected if one of its groups moved to another course
    /// in the meantime.
    pub fn reopen<'g>(
        &mut self,
        groups: impl IntoIterator<Item = &'g GroupLabel>,
        now: Timestamp,
    ) -> Result<bool, DomainError> {
        if self.is_active() {
            return Ok(false);
        }
        // The class of a group always equals that of its topics; its course may have changed while this topic was
        // finished.
        let mismatched: Vec<GroupId> = groups
            .into_iter()
            .filter(|group| group.course_id != self.course_id)
            .map(|group| group.id.clone())
            .collect();
        if !mismatched.is_empty() {
            return Err(DomainError::CourseMismatch { groups: mismatched });
        }
        self.finished = None;
        self.updated_at = now;
        Ok(true)
    }

    /// Applies a PATCH, except for the course ([`Self::move_to`]) and the overrides.
    pub fn edit(&mut self, edit: AssignmentEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        changed.edit("title", &mut edited.title, edit.title)?;
        changed.edit("description", &mut edited.description, edit.description)?;
        changed.edit("deadline", &mut edited.deadline, edit.deadline)?;
        changed.edit_nullable("workingTime", &mut edited.working_time, edit.working_time);
        changed.edit(
            "requiredSubmissions",
            &mut edited.required_submissions,
            edit.required_submissions,
        )?;
        changed.edit_nullable("maxPoints", &mut edited.max_points, edit.max_points);
        changed.edit_nullable("gradeScale", &mut edited.grade_scale, edit.grade_scale);
        changed.edit("latePolicy", &mut edited.late_policy, edit.late_policy)?;
        changed.edit("isShared", &mut edited.is_shared, edit.is_shared)?;
        let publication = edited.publication.edited(&edit.is_draft, &edit.publish_at)?;
        edited.publication.write(publication, &mut changed);
        self.save_edited(edited, &changed, now)?;
        Ok(changed)
    }

    /// Applies the part of a bulk edit that is stored in the topic itself.
    pub fn edit_shared(&mut self, edit: &BulkAssignmentEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        self.writable()?;
        let edit = edit.clone();
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        changed.edit("title", &mut edited.title, edit.title)?;
        changed.edit("description", &mut edited.description, edit.description)?;
        changed.edit("deadline", &mut edited.deadline, edit.deadline)?;
        let publication = edited.publication.edited(&edit.is_draft, &edit.publish_at)?;
        edited.publication.write(publication, &mut changed);
        self.save_edited(edited, &changed, now)?;
        Ok(changed)
    }

    /// Moves the topic and all its groups to another course, or out of its course, and returns the groups that moved.
    /// Each group is passed with its active topics. The move is rejected as a whole if a group has another active topic
    /// that is not in the target course.
    pub fn move_to(
        &mut self,
        course: Option<&Course>,
        groups: &mut [(Group, Vec<ActiveTopic>)],
        now: Timestamp,
    ) -> Result<Vec<GroupId>, DomainError> {
        let wanted = course.map(|course| &course.id);
        if self.course_id.as_ref() == wanted {
            return Ok(Vec::new());
        }
        self.writable()?;
        if let Some(course) = course {
            course.belongs_to(&self.class_id)?;
            course.takes_new_work()?;
        }
        let is_held = |active: &[ActiveTopic]| {
            active
                .iter()
                .any(|topic| topic.assignment_id != self.id && topic.course_id.as_ref() != wanted)
        };
        let held: Vec<GroupId> = groups
            .iter()
            .filter(|(_, active)| is_held(active))
            .map(|(group, _)| group.id.clone())
            .collect();
        if !held.is_empty() {
            return Err(DomainError::CourseMismatch { groups: held });
        }
        self.course_id = wanted.cloned();
        self.updated_at = now;
        Ok(groups
            .iter_mut()
            .filter_map(|(group, _)| (!group.take_course(course, now).is_empty()).then(|| group.id.clone()))
            .collect())
    }

    /// Replaces the topic with the edited copy. Rejected if the topic is finished and the edit changes a field.
    fn save_edited(&mut self, mut edited: Self, changed: &FieldDiff, now: Timestamp) -> Result<(), DomainError> {
        if !changed.is_empty() {
            self.writable()?;
            if changed.has("publishAt") || changed.has("deadline") {
                edited.publication.check_deadline(edited.deadline, changed, now)?;
            }
            edited.updated_at = now;
            *self = edited;
        }
        Ok(())
    }

    pub fn label(&self) -> AssignmentLabel {
        from_fields!(&self => AssignmentLabel {
            id, deadline, is_shared, course_id, class_id,
            title: self.title.as_str().to_owned(),
            status: self.status(),
        })
    }
}

/// Summary of a topic, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct AssignmentLabel {
    pub id: AssignmentId,
    pub title: String,
    pub deadline: Timestamp,
    /// True if all groups share one task text and one set of files.
    pub is_shared: bool,
    #[schema(required = false)]
    pub course_id: Option<CourseId>,
    pub class_id: ClassId,
    pub status: AssignmentStatus,
}

#[cfg(test)]
#[path = "assignment_tests.rs"]
mod tests;
