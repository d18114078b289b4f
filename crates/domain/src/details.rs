//! Entities together with the related data that a response or an event shows. The database layer loads them; visibility
//! is decided elsewhere.

use api_macros::view;
use std::borrow::Cow;

use crate::assignment::Assignment;
use crate::class::{Class, ClassLabel};
use crate::course::{Course, CourseLabel};
use crate::document::Document;
use crate::domain_error::DomainError;
use crate::feedback::Feedback;
use crate::file::{AssignmentAttachment, GroupAttachment};
use crate::grade::Grade;
use crate::group::{Group, GroupContext, GroupMember};
use crate::group_assignment::{GroupAssignment, can_view_file, effective_description};
use crate::homeroom::HomeroomLabel;
use crate::id::{GroupId, UserId};
use crate::schedule::Schedule;
use crate::subject::SubjectLabel;
use crate::submission::{Submission, SubmissionDocument};
use crate::text::Description;
use crate::time::Timestamp;
use crate::user::Person;

/// A class with its users, subjects and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassDetails {
    pub class: Class,
    /// The owner.
    pub teacher: Person,
    pub co_teachers: Vec<Person>,
    pub subjects: Vec<SubjectLabel>,
    pub homeroom: Option<HomeroomLabel>,
    /// Visible to staff only.
    pub counts: ClassCounts,
}

/// Number of objects in a class.
#[view(Copy, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Number of enrolled students.
    pub students: i64,
    /// Number of groups.
    pub groups: i64,
    /// Number of courses.
    pub courses: i64,
    /// Number of topics.
    pub assignments: i64,
}

/// A course with its class, subject and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseDetails {
    pub course: Course,
    pub class: ClassLabel,
    pub subject: SubjectLabel,
    pub counts: CourseCounts,
}

/// Number of objects in a course.
#[view(Copy, Default, PartialEq, Eq)]
pub struct CourseCounts {
    /// Number of groups.
    pub groups: i64,
    /// Number of topics.
    pub assignments: i64,
    /// Number of topics that are not finished.
    pub active_assignments: i64,
}

/// A group with its members, topics and attachments.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDetails {
    pub group: Group,
    pub class: ClassLabel,
    pub course: Option<CourseLabel>,
    pub subject: Option<SubjectLabel>,
    pub members: Vec<GroupMember>,
    /// The topics of the group.
    pub links: Vec<GroupAssignmentDetails>,
    pub attachments: Vec<GroupAttachment>,
}

impl GroupDetails {
    pub fn group_context(&self) -> GroupContext {
        self.group.group_context(self.class.status)
    }

    pub fn member_ids(&self) -> Vec<UserId> {
        self.members.iter().map(|member| member.user.id.clone()).collect()
    }
}

/// A topic with its class, course, groups and attachments.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentDetails {
    pub assignment: Assignment,
    pub class: ClassLabel,
    /// The timetable of the class.
    pub schedule: Option<Schedule>,
    /// Whether the topic has a rubric that the viewer can see before their grade is published.
    pub has_rubric: bool,
    pub course: Option<CourseLabel>,
    /// Shared attachments and those of single groups; [`can_view_file`] decides which of them a group sees.
    pub attachments: Vec<AssignmentAttachment>,
    /// The groups of the topic.
    pub links: Vec<GroupAssignmentDetails>,
}

impl AssignmentDetails {
    pub fn group_ids(&self) -> Vec<GroupId> {
        self.links.iter().map(|details| details.link.group_id.clone()).collect()
    }

    /// Returns the groups for which the topic is published.
    pub fn published_groups(&self, now: Timestamp) -> Vec<GroupId> {
        let published = self.links.iter().filter(|details| details.is_published(now));
        published.map(|details| details.link.group_id.clone()).collect()
    }

    /// Rejects finishing a topic that one of its groups cannot see yet.
    pub fn published(&self, now: Timestamp) -> Result<(), DomainError> {
        if self.links.is_empty() && !self.assignment.publication.is_published(now) {
            return Err(DomainError::AssignmentNotPublished);
        }
        self.links
            .iter()
            .try_for_each(|details| details.link.published(&self.assignment, now))
    }
}

/// The link of a group to a topic, with the topic and the group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupAssignmentDetails {
    pub link: GroupAssignment,
    pub assignment: Assignment,
    pub group_context: GroupContext,
    /// All attachments of the topic; the group sees [`Self::effective_attachments`].
    pub attachments: Vec<AssignmentAttachment>,
    /// Number of documents in the current submission.
    pub submitted_count: i64,
    pub current_submission: Option<SubmissionDetails>,
}

impl GroupAssignmentDetails {
    /// Returns the task text that the group reads; every response with a link contains it.
    pub fn effective_description(&self) -> Cow<'_, Description> {
        effective_description(&self.assignment, &self.link)
    }

    /// Returns the attachments that the group sees.
    pub fn effective_attachments(&self) -> impl Iterator<Item = &AssignmentAttachment> {
        self.attachments
            .iter()
            .filter(|file| can_view_file(&self.assignment, &self.link, file))
    }

    /// Returns whether the students of the group may know of the topic.
    pub fn is_published(&self, now: Timestamp) -> bool {
        self.link.is_published(&self.assignment, now)
    }

    /// Returns whether the group submitted the required number of documents.
    pub fn is_complete(&self) -> bool {
        self.submitted_count >= self.assignment.required_submissions.get()
    }
}

/// A submission with its document copies, grade and feedback.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmissionDetails {
    pub submission: Submission,
    /// Copies of the submitted documents.
    pub documents: Vec<SubmissionDocument>,
    /// Must be filtered for students with [`Grade::for_student`] or [`Grade::for_group`].
    pub grade: Option<Grade>,
    /// Must be filtered for students with [`Feedback::visible_to_students`].
    pub feedback: Vec<Feedback>,
}

/// A document with its last editor and the grade of its current submission.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentDetails {
    pub document: Document,
    pub last_editor: Option<Person>,
    /// Grade of the submission it is part of. Must be filtered for students with [`Grade::for_group`].
    pub grade: Option<Grade>,
}
