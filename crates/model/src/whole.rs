//! Nouns with everything around them that an answer or an event shows. The store fills them, views and changes read them;
//! nothing here decides who may see which part.

use crate::assignment::Assignment;
use crate::class::{Class, ClassLabel};
use crate::course::{Course, CourseLabel};
use crate::document::Document;
use crate::feedback::Feedback;
use crate::file::{AssignmentAttachment, GroupAttachment};
use crate::grade::Grade;
use crate::group::{Group, GroupMember, Place};
use crate::group_assignment::{GroupAssignment, effective_description, sees_file};
use crate::homeroom::HomeroomLabel;
use crate::id::{GroupId, UserId};
use crate::subject::SubjectLabel;
use crate::submission::{Submission, SubmissionDocument};
use crate::text::Description;
use crate::user::Person;

/// A class with its people, its subjects and its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeClass {
    /// The class.
    pub class: Class,
    /// Its owner.
    pub teacher: Person,
    /// Its co-teachers.
    pub co_teachers: Vec<Person>,
    /// Its subjects.
    pub subjects: Vec<SubjectLabel>,
    /// Its homeroom.
    pub homeroom: Option<HomeroomLabel>,
    /// How much is in it; only staff see this.
    pub counts: ClassCounts,
}

/// How much is in a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassCounts {
    /// Enrolled students.
    pub students: i64,
    /// Groups.
    pub groups: i64,
    /// Courses.
    pub courses: i64,
    /// Topics.
    pub assignments: i64,
}

/// A course with its class, its subject and its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeCourse {
    /// The course.
    pub course: Course,
    /// Its class.
    pub class: ClassLabel,
    /// Its subject.
    pub subject: SubjectLabel,
    /// How much is in it.
    pub counts: CourseCounts,
}

/// How much is in a course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseCounts {
    /// Groups.
    pub groups: i64,
    /// Topics.
    pub assignments: i64,
    /// Topics that are not finished.
    pub active_assignments: i64,
}

/// A group with its members, its topics and its files.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGroup {
    /// The group.
    pub group: Group,
    /// Its class.
    pub class: ClassLabel,
    /// Its course.
    pub course: Option<CourseLabel>,
    /// Its subject.
    pub subject: Option<SubjectLabel>,
    /// Its members.
    pub members: Vec<GroupMember>,
    /// Its topics.
    pub links: Vec<WholeGroupAssignment>,
    /// Its files.
    pub attachments: Vec<GroupAttachment>,
}

impl WholeGroup {
    /// Where the group stands.
    pub fn place(&self) -> Place {
        self.group.place(self.class.status)
    }

    /// The users in the group.
    pub fn member_ids(&self) -> Vec<UserId> {
        self.members.iter().map(|member| member.user.id.clone()).collect()
    }
}

/// A topic with its class, its course, its groups and its files.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeAssignment {
    /// The topic.
    pub assignment: Assignment,
    /// Its class.
    pub class: ClassLabel,
    /// Its course.
    pub course: Option<CourseLabel>,
    /// Its files, shared ones and those of single groups; who sees which is asked of [`sees_file`].
    pub attachments: Vec<AssignmentAttachment>,
    /// Its groups.
    pub links: Vec<WholeGroupAssignment>,
}

impl WholeAssignment {
    /// The groups of the topic.
    pub fn group_ids(&self) -> Vec<GroupId> {
        self.links.iter().map(|whole| whole.link.group_id.clone()).collect()
    }
}

/// The link of a group to a topic with both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGroupAssignment {
    /// The link.
    pub link: GroupAssignment,
    /// The topic.
    pub assignment: Assignment,
    /// The group and where it stands.
    pub place: Place,
    /// The files of the topic; the group sees [`Self::effective_attachments`].
    pub attachments: Vec<AssignmentAttachment>,
    /// How many documents are in the current submission.
    pub submitted_count: i64,
    /// The current submission.
    pub current_submission: Option<WholeSubmission>,
}

impl WholeGroupAssignment {
    /// The task text that the group reads; every answer with a link carries it.
    pub fn effective_description(&self) -> &Description {
        effective_description(&self.assignment, &self.link)
    }

    /// The files that the group sees.
    pub fn effective_attachments(&self) -> impl Iterator<Item = &AssignmentAttachment> {
        self.attachments
            .iter()
            .filter(|file| sees_file(&self.assignment, &self.link, file))
    }

    /// Whether the group handed in as much as was asked for.
    pub fn is_complete(&self) -> bool {
        self.submitted_count >= self.assignment.required_submissions.get()
    }
}

/// A submission with its copies, its grade and what was said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeSubmission {
    /// The submission.
    pub submission: Submission,
    /// The copies of its documents.
    pub documents: Vec<SubmissionDocument>,
    /// Its grade; students see it through [`Grade::for_student`] or [`Grade::for_group`] only.
    pub grade: Option<Grade>,
    /// Feedback on it; students see what [`Feedback::visible_to_students`] says.
    pub feedback: Vec<Feedback>,
}

/// A document with its last author and the grade of its current submission.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeDocument {
    /// The document.
    pub document: Document,
    /// Who wrote last.
    pub last_editor: Option<Person>,
    /// The grade of the submission it is in; students see it through [`Grade::for_group`] only.
    pub grade: Option<Grade>,
}
