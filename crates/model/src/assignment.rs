//! Assignments (topics): the task, its one deadline, and what a bulk edit may touch.
//! The link of one group to one assignment is [`crate::group_assignment`].

use serde::{Deserialize, Serialize};

use crate::collation::sort_key;
use crate::course::Course;
use crate::edit::{Changed, Edit, not_null, optional_text};
use crate::group::{ActiveTopic, Group, GroupLabel};
use crate::id::{AssignmentId, AttachmentId, ClassId, CourseId, GroupId, OrganizationId, UserId};
use crate::list::List;
use crate::number::{Points, RequiredSubmissions};
use crate::refusal::Refusal;
use crate::text::{Description, GradeScale, Title};
use crate::time::Timestamp;
use crate::word::words;
use crate::zone::DateOrTime;

words! {
    /// Whether work on an assignment goes on.
    AssignmentStatus {
        /// It does.
        Active = "ACTIVE",
        /// It is over: the documents are locked until a teacher reopens it.
        Finished = "FINISHED",
    }
}

words! {
    /// What happens to work after the deadline.
    LatePolicy {
        /// It is taken and marked late.
        Allow = "ALLOW",
        /// It is refused.
        Block = "BLOCK",
    }
}

words! {
    /// How a list of assignments is sorted.
    AssignmentOrder {
        /// The nearest deadline first.
        Deadline = "deadline",
        /// The farthest deadline first.
        DeadlineDescending = "-deadline",
        /// By title.
        Title = "title",
        /// By title, backwards.
        TitleDescending = "-title",
        /// The oldest first.
        CreatedAt = "createdAt",
        /// The newest first.
        CreatedAtDescending = "-createdAt",
    }
}

/// When and by whom an assignment was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// When.
    pub at: Timestamp,
    /// By whom; unknown once the person is erased.
    pub by: Option<UserId>,
}

/// A topic: one task with its deadline, given to groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Its id.
    pub id: AssignmentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its class.
    pub class_id: ClassId,
    /// Its course; topics from before courses have none.
    pub course_id: Option<CourseId>,
    /// The name of the topic.
    pub title: Title,
    /// The task text.
    pub description: Description,
    /// The only deadline there is.
    pub deadline: Timestamp,
    /// How many documents a group has to submit.
    pub required_submissions: RequiredSubmissions,
    /// One text and one set of files for all groups, or room for each group's own.
    pub is_shared: bool,
    /// Set while the topic is finished.
    pub finished: Option<Finish>,
    /// The most points a grade may have.
    pub max_points: Option<Points>,
    /// The scale of the grades.
    pub grade_scale: Option<GradeScale>,
    /// What happens after the deadline.
    pub late_policy: LatePolicy,
    /// Who made it.
    pub created_by_id: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a PATCH may change.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentEdit {
    /// New title.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub title: Edit<Title>,
    /// New task text.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub description: Edit<Description>,
    /// New deadline; one in the past is allowed.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub deadline: Edit<Timestamp>,
    /// How many documents a group has to submit.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub required_submissions: Edit<RequiredSubmissions>,
    /// The most points a grade may have.
    #[serde(default)]
    #[garde(dive)]
    pub max_points: Edit<Points>,
    /// The scale of the grades.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub grade_scale: Edit<GradeScale>,
    /// What happens after the deadline.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub late_policy: Edit<LatePolicy>,
    /// One text for all groups or one for each.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub is_shared: Edit<bool>,
    /// Another course; all groups move along.
    #[serde(default)]
    #[garde(skip)]
    pub course_id: Edit<CourseId>,
    /// Own texts of some groups; groups that are not named keep theirs. They stand in the links of the groups, so
    /// [`Assignment::edit`] leaves them to the caller.
    #[serde(default)]
    #[garde(custom(not_null), custom(each_text))]
    pub groups: Edit<List<OwnText>>,
}

/// The own text of one group of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnText {
    /// The group.
    #[garde(skip)]
    pub group_id: GroupId,
    /// Its text; absent leaves the text alone, null and empty mean none.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub description_override: Edit<Description>,
}

/// Each text keeps its limits and no group comes twice.
pub fn own_texts(texts: &List<OwnText>, (): &()) -> garde::Result {
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

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "garde hands the context over like this"
)]
fn each_text(texts: &Edit<List<OwnText>>, (): &()) -> garde::Result {
    texts.value().map_or(Ok(()), |texts| own_texts(texts, &()))
}

/// A bulk edit: it knows only what all groups of a topic share, so it cannot touch members, overrides or files of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedEdit {
    /// New title.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub title: Edit<Title>,
    /// New task text.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub description: Edit<Description>,
    /// New deadline.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub deadline: Edit<Timestamp>,
    /// New start date of every group of the topic ([`Group::start_on`]).
    #[serde(default)]
    #[garde(skip)]
    pub start_date: Edit<DateOrTime>,
    /// Staged files that become shared files.
    #[serde(default)]
    #[garde(dive)]
    pub add_attachment_ids: List<AttachmentId>,
    /// Shared files that go.
    #[serde(default)]
    #[garde(dive)]
    pub remove_attachment_ids: List<AttachmentId>,
}

impl AssignmentOrder {
    /// Whether the greatest comes first.
    pub fn is_falling(self) -> bool {
        self.as_str().starts_with('-')
    }
}

impl Assignment {
    /// What a list in this order is sorted by, forwards.
    pub fn sort_key(&self, order: AssignmentOrder) -> (Timestamp, String, AssignmentId) {
        use AssignmentOrder as Order;
        let (moment, title) = match order {
            Order::Deadline | Order::DeadlineDescending => (self.deadline, String::new()),
            Order::CreatedAt | Order::CreatedAtDescending => (self.created_at, String::new()),
            Order::Title | Order::TitleDescending => (Timestamp::from_millis(0), sort_key(self.title.as_str())),
        };
        (moment, title, self.id.clone())
    }

    /// Whether work goes on.
    pub const fn status(&self) -> AssignmentStatus {
        if self.finished.is_some() {
            AssignmentStatus::Finished
        } else {
            AssignmentStatus::Active
        }
    }

    /// Whether work goes on.
    pub const fn is_active(&self) -> bool {
        self.finished.is_none()
    }

    /// A finished topic takes no edits, no groups and no submissions.
    pub const fn writable(&self) -> Result<(), Refusal> {
        if self.is_active() {
            Ok(())
        } else {
            Err(Refusal::AssignmentFinished)
        }
    }

    /// Finishes the topic; answers whether that is news. A repeat keeps the first moment.
    pub fn finish(&mut self, teacher: &UserId, now: Timestamp) -> bool {
        let is_news = self.is_active();
        if is_news {
            self.finished = Some(Finish {
                at: now,
                by: Some(teacher.clone()),
            });
            self.updated_at = now;
        }
        is_news
    }

    /// Reopens the topic; answers whether that is news. Refused when one of its groups moved to another course meanwhile.
    pub fn reopen<'g>(
        &mut self,
        groups: impl IntoIterator<Item = &'g GroupLabel>,
        now: Timestamp,
    ) -> Result<bool, Refusal> {
        if self.is_active() {
            return Ok(false);
        }
        // The class of a group never differs from that of its topics; its course may have changed while this one slept.
        let strayed: Vec<GroupId> = groups
            .into_iter()
            .filter(|group| group.course_id != self.course_id)
            .map(|group| group.id.clone())
            .collect();
        if !strayed.is_empty() {
            return Err(Refusal::CourseMismatch { groups: strayed });
        }
        self.finished = None;
        self.updated_at = now;
        Ok(true)
    }

    /// Applies a PATCH, except the course ([`Self::move_to`]) and the overrides.
    pub fn edit(&mut self, edit: AssignmentEdit, now: Timestamp) -> Result<Changed, Refusal> {
        let mut edited = self.clone();
        let mut changed = Changed::new();
        changed.edit("title", &mut edited.title, edit.title)?;
        changed.edit("description", &mut edited.description, edit.description)?;
        changed.edit("deadline", &mut edited.deadline, edit.deadline)?;
        changed.edit(
            "requiredSubmissions",
            &mut edited.required_submissions,
            edit.required_submissions,
        )?;
        changed.edit_nullable("maxPoints", &mut edited.max_points, edit.max_points);
        changed.edit_nullable("gradeScale", &mut edited.grade_scale, edit.grade_scale);
        changed.edit("latePolicy", &mut edited.late_policy, edit.late_policy)?;
        changed.edit("isShared", &mut edited.is_shared, edit.is_shared)?;
        self.keep(edited, &changed, now)?;
        Ok(changed)
    }

    /// Applies the part of a bulk edit that stands in the topic itself.
    pub fn edit_shared(&mut self, edit: &SharedEdit, now: Timestamp) -> Result<Changed, Refusal> {
        self.writable()?;
        let edit = edit.clone();
        let mut edited = self.clone();
        let mut changed = Changed::new();
        changed.edit("title", &mut edited.title, edit.title)?;
        changed.edit("description", &mut edited.description, edit.description)?;
        changed.edit("deadline", &mut edited.deadline, edit.deadline)?;
        self.keep(edited, &changed, now)?;
        Ok(changed)
    }

    /// Moves the topic and all its groups to another course, or out of its course. Each group comes with its active
    /// topics; a group with another active topic elsewhere holds everything back. Answers the groups that moved.
    pub fn move_to(
        &mut self,
        course: Option<&Course>,
        groups: &mut [(Group, Vec<ActiveTopic>)],
        now: Timestamp,
    ) -> Result<Vec<GroupId>, Refusal> {
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
            return Err(Refusal::CourseMismatch { groups: held });
        }
        self.course_id = wanted.cloned();
        self.updated_at = now;
        Ok(groups
            .iter_mut()
            .filter_map(|(group, _)| (!group.take_course(course, now).is_empty()).then(|| group.id.clone()))
            .collect())
    }

    /// Takes over an edited copy, unless the topic is finished and something would really change.
    fn keep(&mut self, mut edited: Self, changed: &Changed, now: Timestamp) -> Result<(), Refusal> {
        if !changed.is_empty() {
            self.writable()?;
            edited.updated_at = now;
            *self = edited;
        }
        Ok(())
    }

    /// The topic as others mention it.
    pub fn label(&self) -> AssignmentLabel {
        AssignmentLabel {
            id: self.id.clone(),
            title: self.title.as_str().to_owned(),
            deadline: self.deadline,
            is_shared: self.is_shared,
            course_id: self.course_id.clone(),
            class_id: self.class_id.clone(),
            status: self.status(),
        }
    }
}

/// The topic as others mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentLabel {
    /// Its id.
    pub id: AssignmentId,
    /// Its title.
    pub title: String,
    /// Its deadline.
    pub deadline: Timestamp,
    /// One text for all groups or one for each.
    pub is_shared: bool,
    /// Its course.
    pub course_id: Option<CourseId>,
    /// Its class.
    pub class_id: ClassId,
    /// Whether work goes on.
    pub status: AssignmentStatus,
}

#[cfg(test)]
#[path = "assignment_tests.rs"]
mod tests;
