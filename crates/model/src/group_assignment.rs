//! Group assignments: one group on one topic, the unit of submission. What the group reads, how far it is, and when it is late.
//! These are the only places where `isShared`, an override, or the group of a file decides what somebody sees.

use serde::Deserialize;

use crate::assignment::{Assignment, LatePolicy};
use crate::edit::{Changed, Edit, optional_text};
use crate::file::AssignmentAttachment;
use crate::id::{AssignmentId, GroupAssignmentId, GroupId, OrganizationId, SubmissionId};
use crate::refusal::Refusal;
use crate::text::Description;
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// How far a group is with a topic.
    GroupAssignmentStatus {
        /// Nothing was written yet.
        NotStarted = "NOT_STARTED",
        /// There is a document.
        InProgress = "IN_PROGRESS",
        /// Work is handed in.
        Submitted = "SUBMITTED",
        /// The teacher gave the work back for revision.
        Returned = "RETURNED",
        /// The grade is out.
        Graded = "GRADED",
    }
}

words! {
    /// What a submission overview is asked for: a status, or what cuts across them.
    SubmissionState {
        /// Nothing was written yet.
        NotStarted = "NOT_STARTED",
        /// There is a document.
        InProgress = "IN_PROGRESS",
        /// Work is handed in.
        Submitted = "SUBMITTED",
        /// The teacher gave the work back for revision.
        Returned = "RETURNED",
        /// The grade is out.
        Graded = "GRADED",
        /// The current submission came late.
        Late = "LATE",
        /// Work is handed in and its grade is not out.
        Ungraded = "UNGRADED",
    }
}

/// What happens to a group assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A document was made or saved in the room, linked to this topic or to none.
    Worked,
    /// A document was submitted.
    Submitted,
    /// A submitted document was taken back.
    Unsubmitted {
        /// Whether other submitted documents remain.
        others_remain: bool,
    },
    /// A grade was published, or a published one changed.
    GradePublished,
    /// The grade was withdrawn.
    GradeWithdrawn,
    /// The teacher gave the work back for revision.
    Returned,
}

impl GroupAssignmentStatus {
    /// The status of a new link: work may already lie in the room.
    pub const fn at_attachment(has_linked_document: bool) -> Self {
        if has_linked_document {
            Self::InProgress
        } else {
            Self::NotStarted
        }
    }

    /// The status after a step, or why the step is refused.
    pub const fn after(self, step: Step) -> Result<Self, Refusal> {
        match step {
            Step::Worked => Ok(if matches!(self, Self::NotStarted) {
                Self::InProgress
            } else {
                self
            }),
            Step::Submitted => match self {
                Self::Graded => Err(Refusal::GradePublished),
                Self::NotStarted | Self::InProgress | Self::Submitted | Self::Returned => Ok(Self::Submitted),
            },
            Step::Unsubmitted { others_remain } => match self {
                Self::Submitted => Ok(if others_remain {
                    Self::Submitted
                } else {
                    Self::InProgress
                }),
                Self::Graded => Err(Refusal::GradePublished),
                Self::NotStarted | Self::InProgress | Self::Returned => Err(Refusal::NotSubmitted),
            },
            Step::GradePublished => self.with_submission(Self::Graded),
            Step::GradeWithdrawn => self.with_submission(Self::Submitted),
            Step::Returned => self.with_submission(Self::Returned),
        }
    }

    const fn with_submission(self, next: Self) -> Result<Self, Refusal> {
        if self.has_submission() {
            Ok(next)
        } else {
            Err(Refusal::NotSubmitted)
        }
    }

    /// Whether a submission is current in this status.
    pub const fn has_submission(self) -> bool {
        matches!(self, Self::Submitted | Self::Graded)
    }
}

/// A group at work on a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAssignment {
    /// Its id.
    pub id: GroupAssignmentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The topic.
    pub assignment_id: AssignmentId,
    /// The group.
    pub group_id: GroupId,
    /// How far the group is.
    pub status: GroupAssignmentStatus,
    /// The active submission; there is one exactly while the status says so.
    pub current_submission_id: Option<SubmissionId>,
    /// The group's own task text; kept, but not read, while the topic is shared. Only staff see it as such.
    pub description_override: Option<Description>,
    /// More time for this group.
    pub late_allowed_until: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a PATCH on the link of one group may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupAssignmentEdit {
    /// The group's own task text; empty means none.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub description_override: Edit<Description>,
    /// More time for this group.
    #[serde(default)]
    #[garde(skip)]
    pub late_allowed_until: Edit<Timestamp>,
}

/// How late a submission is; decided when it is handed in and kept from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Whether it came after the group's limit.
    pub is_late: bool,
    /// Seconds after the limit, at least one when late, else zero.
    pub late_by_seconds: i64,
}

/// The task text that a group reads.
pub fn effective_description<'a>(assignment: &'a Assignment, link: &'a GroupAssignment) -> &'a Description {
    let own = link.description_override.as_ref().filter(|text| !text.is_empty());
    match own {
        Some(own) if !assignment.is_shared => own,
        _ => &assignment.description,
    }
}

/// Whether a group sees a file of its topic: the shared ones, and its own while the topic is not shared.
pub fn sees_file(assignment: &Assignment, link: &GroupAssignment, file: &AssignmentAttachment) -> bool {
    file.assignment_id == assignment.id
        && file.staged_at.is_none()
        && file
            .group_assignment_id
            .as_ref()
            .is_none_or(|owner| !assignment.is_shared && *owner == link.id)
}

/// Whether a file counts at all: files of single groups are ignored, not deleted, while the topic is shared; staged ones
/// wait.
pub const fn is_effective(assignment: &Assignment, file: &AssignmentAttachment) -> bool {
    file.staged_at.is_none() && (file.group_assignment_id.is_none() || !assignment.is_shared)
}

impl GroupAssignment {
    /// The moment after which the group is late: its own grace, but never before the deadline.
    pub fn limit(&self, assignment: &Assignment) -> Timestamp {
        self.late_allowed_until
            .map_or(assignment.deadline, |grace| grace.max(assignment.deadline))
    }

    /// How late a submission at this moment is.
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

    /// Whether work may be handed in now, and how late it is.
    pub fn takes_submission(&self, assignment: &Assignment, now: Timestamp) -> Result<Lateness, Refusal> {
        assignment.writable()?;
        self.status.after(Step::Submitted)?;
        let lateness = self.lateness(assignment, now);
        if lateness.is_late && assignment.late_policy == LatePolicy::Block {
            return Err(Refusal::LateNotAllowed);
        }
        Ok(lateness)
    }

    /// Takes a step that does not change the current submission; answers whether the status changed.
    pub fn step(&mut self, step: Step, now: Timestamp) -> Result<bool, Refusal> {
        self.step_with(step, self.current_submission_id.clone(), now)
    }

    /// Takes a step; `submission` is what is current afterwards, if the new status has one.
    pub fn step_with(&mut self, step: Step, submission: Option<SubmissionId>, now: Timestamp) -> Result<bool, Refusal> {
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

    /// Applies a PATCH on the link of one group.
    pub fn edit(
        &mut self,
        edit: GroupAssignmentEdit,
        assignment: &Assignment,
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        let mut edited = self.clone();
        let mut changed = Changed::new();
        let text = edit.description_override.clear_if_empty();
        changed.edit_nullable("descriptionOverride", &mut edited.description_override, text);
        changed.edit_nullable(
            "lateAllowedUntil",
            &mut edited.late_allowed_until,
            edit.late_allowed_until,
        );
        if !changed.is_empty() {
            assignment.writable()?;
            edited.updated_at = now;
            *self = edited;
        }
        Ok(changed)
    }

    /// A group with work handed in is detached only by force.
    pub const fn detachable(&self, has_submissions: bool, force: bool) -> Result<(), Refusal> {
        if has_submissions && !force {
            Err(Refusal::HasSubmission)
        } else {
            Ok(())
        }
    }
}

/// How far the groups of a topic are; the five statuses add up to the groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// All groups.
    pub groups: i64,
    /// Groups that have nothing yet.
    pub not_started: i64,
    /// Groups at work.
    pub in_progress: i64,
    /// Groups whose work waits for the teacher.
    pub submitted: i64,
    /// Groups whose work was given back.
    pub returned: i64,
    /// Groups whose grade is out.
    pub graded: i64,
    /// Groups whose current submission came late.
    pub late: i64,
    /// Groups that handed in and have no published grade.
    pub ungraded: i64,
}

impl Statistics {
    /// Counts one more group.
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
