//! Group assignments: the link between one group and one topic, the unit of submission. Determines the effective task
//! text, status and lateness. `isShared`, an override and the group of a file affect visibility only here.

use api_macros::{patch, view};
use std::borrow::Cow;

use crate::access::Viewer;
use crate::assignment::{Assignment, LatePolicy};
use crate::domain_error::DomainError;
use crate::file::AssignmentAttachment;
use crate::id::{AssignmentId, GroupAssignmentId, GroupId, OrganizationId, SubmissionId};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::publication::TopicPublication;
use crate::string_enum::string_enum;
use crate::text::Description;
use crate::time::Timestamp;

string_enum! {
    /// Progress of a group on a topic.
    GroupAssignmentStatus {
        /// There is no document yet.
        NotStarted = "NOT_STARTED",
        /// There is a document.
        InProgress = "IN_PROGRESS",
        /// Work was submitted.
        Submitted = "SUBMITTED",
        /// The work was returned for revision.
        Returned = "RETURNED",
        /// The grade is published.
        Graded = "GRADED",
    }
}

string_enum! {
    /// Filter of a submission overview: a status, or a state that is independent of it.
    SubmissionState {
        /// There is no document yet.
        NotStarted = "NOT_STARTED",
        /// There is a document.
        InProgress = "IN_PROGRESS",
        /// Work was submitted.
        Submitted = "SUBMITTED",
        /// The work was returned for revision.
        Returned = "RETURNED",
        /// The grade is published.
        Graded = "GRADED",
        /// The current submission was late.
        Late = "LATE",
        /// Work was submitted and its grade is not published.
        Ungraded = "UNGRADED",
    }
}

/// Event that affects the status of a group assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusTransition {
    /// A document linked to this topic or to none was created or saved in the work room.
    Worked,
    /// A document was submitted.
    Submitted,
    /// A submitted document was withdrawn.
    Unsubmitted {
        /// Whether other submitted documents remain.
        others_remain: bool,
    },
    /// A submission without documents was removed.
    RecordRemoved {
        /// Whether the group has a document for the topic.
        has_document: bool,
    },
    /// A grade was published, or a published grade changed.
    GradePublished,
    GradeWithdrawn,
    /// The work was returned for revision.
    Returned,
}

impl GroupAssignmentStatus {
    /// Returns the status of a new link; documents may already exist.
    pub const fn at_attachment(has_linked_document: bool) -> Self {
        if has_linked_document {
            Self::InProgress
        } else {
            Self::NotStarted
        }
    }

    /// Returns the status after an event, or rejects the event.
    pub const fn after(self, step: StatusTransition) -> Result<Self, DomainError> {
        match step {
            StatusTransition::Worked => Ok(if matches!(self, Self::NotStarted) {
                Self::InProgress
            } else {
                self
            }),
            StatusTransition::Submitted => match self {
                Self::Graded => Err(DomainError::GradePublished),
                Self::NotStarted | Self::InProgress | Self::Submitted | Self::Returned => Ok(Self::Submitted),
            },
            StatusTransition::Unsubmitted { others_remain } => match self {
                Self::Submitted => Ok(if others_remain {
                    Self::Submitted
                } else {
                    Self::InProgress
                }),
                Self::Graded => Err(DomainError::GradePublished),
                Self::NotStarted | Self::InProgress | Self::Returned => Err(DomainError::NotSubmitted),
            },
            StatusTransition::RecordRemoved { has_document } => match self {
                Self::Submitted => Ok(Self::at_attachment(has_document)),
                Self::Graded => Err(DomainError::GradePublished),
                Self::NotStarted | Self::InProgress | Self::Returned => Err(DomainError::NotSubmitted),
            },
            StatusTransition::GradePublished => self.with_submission(Self::Graded),
            StatusTransition::GradeWithdrawn => self.with_submission(Self::Submitted),
            StatusTransition::Returned => self.with_submission(Self::Returned),
        }
    }

    const fn with_submission(self, next: Self) -> Result<Self, DomainError> {
        if self.has_submission() {
            Ok(next)
        } else {
            Err(DomainError::NotSubmitted)
        }
    }

    /// Returns whether there is a current submission in this status.
    pub const fn has_submission(self) -> bool {
        matches!(self, Self::Submitted | Self::Graded)
    }
}

/// The link between a group and a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAssignment {
    pub id: GroupAssignmentId,
    pub organization_id: OrganizationId,
    pub assignment_id: AssignmentId,
    pub group_id: GroupId,
    pub status: GroupAssignmentStatus,
    /// The current submission; set exactly while `status` implies one.
    pub current_submission_id: Option<SubmissionId>,
    /// The group's own task text. Kept but not used while the topic is shared. Only staff see it as an override.
    pub description_override: Option<Description>,
    /// Whether the group reads the shared text and then its own. By default its own text replaces the shared one.
    pub includes_shared_text: bool,
    /// Extended deadline of this group.
    pub late_allowed_until: Option<Timestamp>,
    /// Exception of this group from the publication of the topic; by default the group follows the topic.
    pub publication: TopicPublication,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a group assignment that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct GroupAssignmentEdit {
    /// The group's own task text; an empty text removes it.
    #[serde(default, deserialize_with = "optional_text")]
    pub description_override: FieldPatch<Description>,
    /// True shows the own task text after the shared one; false shows it instead.
    #[garde(custom(not_null))]
    pub includes_shared_text: FieldPatch<bool>,
    /// Extended deadline of this group.
    pub late_allowed_until: FieldPatch<Timestamp>,
    /// True hides the topic from this group, even if it is published for the others. With false and without
    /// `publishAt`, the group follows the topic.
    #[garde(custom(not_null))]
    pub is_draft: FieldPatch<bool>,
    /// This group sees the topic from this time, even if the topic is a draft; null removes the time.
    pub publish_at: FieldPatch<Timestamp>,
}

/// Lateness of a submission. Determined at submission time and not changed afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Whether the deadline of the group had passed.
    pub is_late: bool,
    /// Seconds after the deadline of the group: at least one if late, otherwise zero.
    pub late_by_seconds: i64,
}

/// Returns the task text that a group reads: that of the topic, its own, or both as separate paragraphs.
pub fn effective_description<'a>(assignment: &'a Assignment, link: &'a GroupAssignment) -> Cow<'a, Description> {
    let shared = &assignment.description;
    let own = link.description_override.as_ref().filter(|text| !text.is_empty());
    match own {
        Some(_) if assignment.is_shared => Cow::Borrowed(shared),
        Some(own) if link.includes_shared_text && !shared.is_empty() => Cow::Owned(Description::stored(format!(
            "{}\n\n{}",
            shared.as_str().trim_end(),
            own.as_str()
        ))),
        Some(own) => Cow::Borrowed(own),
        None => Cow::Borrowed(shared),
    }
}

/// Returns whether a group sees a file of its topic: the shared ones, and its own unless the topic is shared.
pub fn can_view_file(assignment: &Assignment, link: &GroupAssignment, file: &AssignmentAttachment) -> bool {
    file.assignment_id == assignment.id
        && file.staged_at.is_none()
        && file
            .group_assignment_id
            .as_ref()
            .is_none_or(|owner| !assignment.is_shared && *owner == link.id)
}

/// Returns whether a file is in use. While the topic is shared, files of single groups are ignored but not deleted;
/// staged files are not in use yet.
pub const fn is_effective(assignment: &Assignment, file: &AssignmentAttachment) -> bool {
    file.staged_at.is_none() && (file.group_assignment_id.is_none() || !assignment.is_shared)
}

impl GroupAssignment {
    /// Returns the link of a group that has not started and has no text of its own.
    pub fn new(
        id: GroupAssignmentId,
        organization_id: OrganizationId,
        assignment_id: AssignmentId,
        group_id: GroupId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            assignment_id,
            group_id,
            status: GroupAssignmentStatus::NotStarted,
            current_submission_id: None,
            description_override: None,
            includes_shared_text: false,
            late_allowed_until: None,
            publication: TopicPublication::default(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns whether the topic is published for the group.
    pub fn is_published(&self, assignment: &Assignment, now: Timestamp) -> bool {
        assignment.publication.for_group(self.publication).is_published(now)
    }

    /// Returns whether the viewer may see the work of the group on the topic. `sees_group` is the result of
    /// [`crate::group::Group::visible_to`].
    pub fn visible_to(&self, viewer: &Viewer, sees_group: bool, assignment: &Assignment, now: Timestamp) -> bool {
        sees_group && (viewer.is_staff() || self.is_published(assignment, now))
    }

    /// Rejects work on a topic that the students of the group cannot see.
    pub fn published(&self, assignment: &Assignment, now: Timestamp) -> Result<(), DomainError> {
        if self.is_published(assignment, now) {
            Ok(())
        } else {
            Err(DomainError::AssignmentNotPublished)
        }
    }

    /// Rejects hiding the topic from the group after it has started on it. `was_published` is the state before the
    /// edit.
    pub fn check_still_published(
        &self,
        was_published: bool,
        assignment: &Assignment,
        now: Timestamp,
    ) -> Result<(), DomainError> {
        let has_started = self.status != GroupAssignmentStatus::NotStarted;
        if was_published && has_started && !self.is_published(assignment, now) {
            Err(DomainError::AssignmentStarted)
        } else {
            Ok(())
        }
    }

    /// Returns the effective deadline of the group: its extended deadline, but never before that of the topic.
    pub fn limit(&self, assignment: &Assignment) -> Timestamp {
        self.late_allowed_until
            .map_or(assignment.deadline, |grace| grace.max(assignment.deadline))
    }

    /// Returns the lateness of a submission at this time.
    pub fn lateness(&self, assignment: &Assignment, submitted_at: Timestamp) -> Lateness {
        let limit = self.limit(assignment);
        let is_late = submitted_at > limit;
        Lateness {
            is_late,
            late_by_seconds: if is_late {
                submitted_at.seconds_since(limit).max(1)
            } else {
                0
            },
        }
    }

    /// Rejects a submission that is not possible now, or returns its lateness.
    pub fn takes_submission(&self, assignment: &Assignment, now: Timestamp) -> Result<Lateness, DomainError> {
        assignment.writable()?;
        self.published(assignment, now)?;
        self.status.after(StatusTransition::Submitted)?;
        let lateness = self.lateness(assignment, now);
        if lateness.is_late && assignment.late_policy == LatePolicy::Block {
            return Err(DomainError::LateNotAllowed);
        }
        Ok(lateness)
    }

    /// Applies an event that does not change the current submission. Returns whether the status changed.
    pub fn apply_transition(&mut self, step: StatusTransition, now: Timestamp) -> Result<bool, DomainError> {
        self.apply_transition_with(step, self.current_submission_id.clone(), now)
    }

    /// Applies an event and returns whether anything changed. `submission` becomes the current submission if the new
    /// status has one.
    pub fn apply_transition_with(
        &mut self,
        step: StatusTransition,
        submission: Option<SubmissionId>,
        now: Timestamp,
    ) -> Result<bool, DomainError> {
        let status = self.status.after(step)?;
        let submission = if status.has_submission() { submission } else { None };
        debug_assert_eq!(
            status.has_submission(),
            submission.is_some(),
            "a submitted status names its submission"
        );
        let changed = status != self.status || submission != self.current_submission_id;
        if changed {
            self.status = status;
            self.current_submission_id = submission;
            self.updated_at = now;
        }
        Ok(changed)
    }

    pub fn edit(
        &mut self,
        edit: GroupAssignmentEdit,
        assignment: &Assignment,
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        let text = edit.description_override.null_if_empty();
        changed.edit_nullable("descriptionOverride", &mut edited.description_override, text);
        changed.edit(
            "includesSharedText",
            &mut edited.includes_shared_text,
            edit.includes_shared_text,
        )?;
        changed.edit_nullable(
            "lateAllowedUntil",
            &mut edited.late_allowed_until,
            edit.late_allowed_until,
        );
        let publication = edited.publication.edited(&edit.is_draft, &edit.publish_at)?;
        edited.publication.write(publication, &mut changed);
        if !changed.is_empty() {
            assignment.writable()?;
            if changed.has("publishAt") {
                edited
                    .publication
                    .check_deadline(edited.limit(assignment), &changed, now)?;
            }
            edited.check_still_published(self.is_published(assignment, now), assignment, now)?;
            edited.updated_at = now;
            *self = edited;
        }
        Ok(changed)
    }

    /// Rejects detaching a group with submissions, unless `force` is set.
    pub const fn detachable(&self, has_submissions: bool, force: bool) -> Result<(), DomainError> {
        if has_submissions && !force {
            Err(DomainError::HasSubmission)
        } else {
            Ok(())
        }
    }
}

/// Progress of the groups of a topic. The five status counts add up to `groups`.
#[view(Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    pub groups: i64,
    /// Groups without a document.
    pub not_started: i64,
    /// Groups with a document that have not submitted.
    pub in_progress: i64,
    /// Groups that submitted and are not graded.
    pub submitted: i64,
    /// Groups whose work was returned for revision.
    pub returned: i64,
    /// Groups whose grade is published.
    pub graded: i64,
    /// Groups whose current submission was late.
    pub late: i64,
    /// Groups that submitted and have no published grade.
    pub ungraded: i64,
}

impl Statistics {
    /// Adds one group to the counts.
    pub const fn count(&mut self, status: GroupAssignmentStatus, is_late: bool) {
        self.groups += 1;
        match status {
            GroupAssignmentStatus::NotStarted => self.not_started += 1,
            GroupAssignmentStatus::InProgress => self.in_progress += 1,
            GroupAssignmentStatus::Submitted => {
                self.submitted += 1;
                self.ungraded += 1;
            }
            GroupAssignmentStatus::Returned => self.returned += 1,
            GroupAssignmentStatus::Graded => self.graded += 1,
        }
        if is_late && status.has_submission() {
            self.late += 1;
        }
    }
}

#[cfg(test)]
#[path = "group_assignment_tests.rs"]
mod tests;
