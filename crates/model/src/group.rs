//! Groups: who sees them and when, and the rule that ties a group's course to its active topics.
//! Visibility is decided here and nowhere else; the store keeps a twin of it in SQL, compared by a test.

use serde::{Deserialize, Serialize};

use crate::access::Viewer;
use crate::assignment::Assignment;
use crate::class::ClassStatus;
use crate::course::Course;
use crate::edit::{Changed, Edit, not_null, optional_text};
use crate::help::HelpFlag;
use crate::id::{
    AssignmentId, ClassId, CourseId, GroupId, GroupMemberId, OrganizationId, SubjectId, UserId, WorkRoomId,
};
use crate::news::Room;
use crate::number::{GroupNumber, RequiredDocuments};
use crate::refusal::Refusal;
use crate::text::ShortName;
use crate::time::Timestamp;
use crate::user::Person;
use crate::word::words;
use crate::zone::DateOrTime;

/// The most members of a group.
pub const MEMBERS_MAX: usize = 50;

/// Some students of a class who work together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its class.
    pub class_id: ClassId,
    /// Its one work room.
    pub work_room_id: WorkRoomId,
    /// Its name.
    pub name: ShortName,
    /// Its number, unique within the class.
    pub group_number: GroupNumber,
    /// A name the group likes better.
    pub display_name: Option<ShortName>,
    /// Students do not see the group before this moment.
    pub start_date: Option<Timestamp>,
    /// How many documents are asked for.
    pub required_documents: RequiredDocuments,
    /// Its subject; that of the course when there is one.
    pub subject_id: Option<SubjectId>,
    /// Its course; groups from before courses have none.
    pub course_id: Option<CourseId>,
    /// Its raised hand.
    pub help: HelpFlag,
    /// Who made it.
    pub created_by_id: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a PATCH may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupEdit {
    /// New name.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<ShortName>,
    /// New number.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub group_number: Edit<GroupNumber>,
    /// New display name.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub display_name: Edit<ShortName>,
    /// New start date.
    #[serde(default)]
    #[garde(skip)]
    pub start_date: Edit<DateOrTime>,
    /// How many documents are asked for.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub required_documents: Edit<RequiredDocuments>,
    /// Another subject; with a course it must be the course's.
    #[serde(default)]
    #[garde(skip)]
    pub subject_id: Edit<SubjectId>,
    /// Another course.
    #[serde(default)]
    #[garde(skip)]
    pub course_id: Edit<CourseId>,
}

/// An active topic that a group works on: not finished, and still attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveTopic {
    /// The assignment.
    pub assignment_id: AssignmentId,
    /// Its course.
    pub course_id: Option<CourseId>,
}

/// Where a group stands: all that is needed to say who hears of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The group, as others mention it.
    pub group: GroupLabel,
    /// Its class.
    pub class: ClassId,
    /// The status of the class.
    pub class_status: ClassStatus,
    /// When the group opens to its students.
    pub start_date: Option<Timestamp>,
}

impl Place {
    /// Whether the members of the group may know of it now.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.class_status != ClassStatus::Draft && self.start_date.is_none_or(|start| start <= now)
    }

    /// The rooms that hear of the group: always the staff, its students only while it is open.
    pub fn rooms(&self, now: Timestamp) -> Vec<Room> {
        let mut rooms = vec![Room::Staff(self.class.clone())];
        if self.is_open(now) {
            rooms.push(Room::Group(self.group.id.clone()));
        }
        rooms
    }
}

impl Group {
    /// Rule 5: students see only their own groups, and those only once they have started and the class is no draft.
    /// Admins and the teachers of the class see all.
    pub fn visible_to(
        &self,
        viewer: &Viewer,
        is_member: bool,
        manages_class: bool,
        class_status: ClassStatus,
        now: Timestamp,
    ) -> bool {
        match viewer {
            Viewer::Admin => true,
            Viewer::Teacher(_) => manages_class,
            Viewer::Student(_) => is_member && self.place(class_status).is_open(now),
        }
    }

    /// Whether the start date still hides the group from its students.
    pub fn is_hidden(&self, now: Timestamp) -> bool {
        self.start_date.is_some_and(|start| start > now)
    }

    /// Where the group stands, given the status of its class.
    pub fn place(&self, class_status: ClassStatus) -> Place {
        Place {
            group: self.label(),
            class: self.class_id.clone(),
            class_status,
            start_date: self.start_date,
        }
    }

    /// The course the group will have when it is attached to a topic. A group without course and without active topics
    /// takes the course of the topic; otherwise both must agree, and no course counts as one of its own.
    pub fn course_for(&self, assignment: &Assignment, active: &[ActiveTopic]) -> Result<Option<CourseId>, Refusal> {
        if self.class_id != assignment.class_id {
            return Err(Refusal::ClassMismatch);
        }
        let is_free = self.course_id.is_none() && active.is_empty();
        if is_free || self.course_id == assignment.course_id {
            Ok(assignment.course_id.clone())
        } else {
            Err(self.course_mismatch())
        }
    }

    /// Refuses a group whose course differs from that of a topic that is active or about to be.
    pub fn assert_course(&self, assignment: &Assignment) -> Result<(), Refusal> {
        if self.class_id != assignment.class_id {
            Err(Refusal::ClassMismatch)
        } else if self.course_id == assignment.course_id {
            Ok(())
        } else {
            Err(self.course_mismatch())
        }
    }

    /// Gets the group ready for a topic: it takes the topic's course and subject when it is free to. `course` is the
    /// course of the topic, `active` are the other active topics of the group.
    pub fn attach(
        &mut self,
        assignment: &Assignment,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        assignment.writable()?;
        let wanted = self.course_for(assignment, active)?;
        debug_assert_eq!(
            course.map(|course| &course.id),
            assignment.course_id.as_ref(),
            "the topic's own course"
        );
        course.map_or(Ok(()), Course::takes_new_work)?;
        Ok(if self.course_id == wanted {
            Changed::new()
        } else {
            self.take_course(course, now)
        })
    }

    /// Moves the group to another course, or out of its course; refused while an active topic is in another one.
    pub fn move_to(
        &mut self,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        let wanted = course.map(|course| &course.id);
        if self.course_id.as_ref() == wanted {
            return Ok(Changed::new());
        }
        if let Some(course) = course {
            course.belongs_to(&self.class_id)?;
            course.takes_new_work()?;
        }
        if active.iter().any(|topic| topic.course_id.as_ref() != wanted) {
            return Err(self.course_mismatch());
        }
        Ok(self.take_course(course, now))
    }

    /// Writes course and subject without asking; for [`Assignment::move_to`], which asks for all groups at once.
    pub(crate) fn take_course(&mut self, course: Option<&Course>, now: Timestamp) -> Changed {
        let mut changed = Changed::new();
        changed.write("courseId", &mut self.course_id, course.map(|course| course.id.clone()));
        if let Some(course) = course {
            changed.write("subjectId", &mut self.subject_id, Some(course.subject_id.clone()));
        }
        self.touch(&changed, now);
        changed
    }

    /// Follows the course of the group to another subject.
    pub fn follow_subject(&mut self, course: &Course, now: Timestamp) -> Changed {
        let mut changed = Changed::new();
        if self.course_id.as_ref() == Some(&course.id) {
            changed.write("subjectId", &mut self.subject_id, Some(course.subject_id.clone()));
        }
        self.touch(&changed, now);
        changed
    }

    /// Applies a PATCH. `course` is the loaded course that `edit.course_id` names, `active` are the active topics.
    pub fn edit(
        &mut self,
        edit: GroupEdit,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        let mut edited = self.clone();
        let mut changed = Changed::new();
        changed.edit("name", &mut edited.name, edit.name)?;
        changed.edit("groupNumber", &mut edited.group_number, edit.group_number)?;
        changed.edit_nullable("displayName", &mut edited.display_name, edit.display_name);
        changed.edit_nullable(
            "startDate",
            &mut edited.start_date,
            edit.start_date.map(DateOrTime::moment),
        );
        changed.edit(
            "requiredDocuments",
            &mut edited.required_documents,
            edit.required_documents,
        )?;
        if !edit.course_id.is_keep() {
            debug_assert_eq!(
                edit.course_id.value(),
                course.map(|course| &course.id),
                "the course the edit names"
            );
            changed.extend(edited.move_to(course, active, now)?);
        }
        let subject = edit.subject_id.resolve(edited.subject_id.clone());
        if edited.course_id.is_some() && subject != edited.subject_id {
            return Err(Refusal::ClassMismatch);
        }
        changed.write("subjectId", &mut edited.subject_id, subject);
        edited.touch(&changed, now);
        *self = edited;
        Ok(changed)
    }

    /// Writes the start date that a bulk edit sets for every group of a topic.
    pub fn start_on(&mut self, start_date: Edit<Timestamp>, now: Timestamp) -> Changed {
        let mut changed = Changed::new();
        changed.edit_nullable("startDate", &mut self.start_date, start_date);
        self.touch(&changed, now);
        changed
    }

    /// Refuses more members than a group can hold.
    pub const fn room_for(members: usize) -> Result<(), Refusal> {
        if members > MEMBERS_MAX {
            Err(Refusal::LimitReached {
                what: "members in a group",
                limit: MEMBERS_MAX,
            })
        } else {
            Ok(())
        }
    }

    /// The number of the next group of a class, after the highest one.
    pub fn next_number(highest: Option<GroupNumber>) -> Result<GroupNumber, Refusal> {
        let limit = usize::try_from(GroupNumber::MAX).unwrap_or(usize::MAX);
        GroupNumber::try_from(highest.map_or(0, GroupNumber::get) + 1).map_err(|_| Refusal::LimitReached {
            what: "as the number of a group",
            limit,
        })
    }

    /// The group as others mention it.
    pub fn label(&self) -> GroupLabel {
        GroupLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            group_number: self.group_number.get(),
            display_name: self.display_name.as_ref().map(|name| name.as_str().to_owned()),
            course_id: self.course_id.clone(),
        }
    }

    fn course_mismatch(&self) -> Refusal {
        Refusal::CourseMismatch {
            groups: vec![self.id.clone()],
        }
    }

    fn touch(&mut self, changed: &Changed, now: Timestamp) {
        if !changed.is_empty() {
            self.updated_at = now;
        }
    }
}

words! {
    /// What a student is in a group.
    GroupRole {
        /// One of the group.
        Member = "MEMBER",
    }
}

/// A student's place in a group, with what others may see of the student.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Its id.
    pub id: GroupMemberId,
    /// The group.
    pub group_id: GroupId,
    /// The student.
    pub user: Person,
    /// The student's address; only staff see it.
    pub email: String,
    /// Member or leader.
    pub role: GroupRole,
    /// Since when.
    pub joined_at: Timestamp,
}

/// The group as others mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupLabel {
    /// Its id.
    pub id: GroupId,
    /// Its name.
    pub name: String,
    /// Its number.
    pub group_number: i64,
    /// The name the group likes better.
    pub display_name: Option<String>,
    /// Its course.
    pub course_id: Option<CourseId>,
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
