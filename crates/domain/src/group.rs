//! Groups: who sees them and when, and the invariant that ties the course of a group to its active topics. Visibility
//! is decided here; the same rule exists in SQL, and a test compares the two.

use api_macros::{patch, view};
use serde::Deserialize;

use crate::access::Viewer;
use crate::account_email::AccountEmail;
use crate::assignment::Assignment;
use crate::class::ClassStatus;
use crate::course::Course;
use crate::domain_error::DomainError;
use crate::help::HelpFlag;
use crate::id::{
    AssignmentId, ClassId, CourseId, GroupId, GroupMemberId, OrganizationId, SubjectId, UserId, WorkRoomId,
};
use crate::number::{GroupNumber, RequiredDocuments};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::realtime::Room;
use crate::string_enum::string_enum;
use crate::text::ShortName;
use crate::time::Timestamp;
use crate::user::Person;
use crate::zone::DateOrTime;

/// Maximum number of members of a group.
pub const MEMBERS_MAX: usize = 50;

/// Students of a class who work together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub id: GroupId,
    pub organization_id: OrganizationId,
    pub class_id: ClassId,
    /// The work room of the group; there is exactly one.
    pub work_room_id: WorkRoomId,
    pub name: ShortName,
    /// Unique within the class.
    pub group_number: GroupNumber,
    /// A name chosen by the group.
    pub display_name: Option<ShortName>,
    /// Hidden from students before this time.
    pub start_date: Option<Timestamp>,
    /// The room or place where the group meets.
    pub meeting_place: Option<ShortName>,
    /// Number of documents the group has to create.
    pub required_documents: RequiredDocuments,
    /// Equals the subject of the course if the group has a course.
    pub subject_id: Option<SubjectId>,
    /// `None` for groups created before courses existed.
    pub course_id: Option<CourseId>,
    /// The help request of the group.
    pub help: HelpFlag,
    pub created_by_id: UserId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a group that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct GroupEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<ShortName>,
    /// New number; must be unique within the class.
    #[garde(dive, custom(not_null))]
    pub group_number: FieldPatch<GroupNumber>,
    /// New display name.
    #[serde(default, deserialize_with = "optional_text")]
    pub display_name: FieldPatch<ShortName>,
    /// New start date. Students do not see the group before.
    pub start_date: FieldPatch<DateOrTime>,
    /// New room or place where the group meets.
    #[serde(default, deserialize_with = "optional_text")]
    pub meeting_place: FieldPatch<ShortName>,
    /// Number of documents the group has to create.
    #[garde(dive, custom(not_null))]
    pub required_documents: FieldPatch<RequiredDocuments>,
    /// New subject. If the group has a course, it must be the subject of the course.
    pub subject_id: FieldPatch<SubjectId>,
    /// New course. Rejected while the group has an active topic in another course.
    pub course_id: FieldPatch<CourseId>,
}

/// An active topic of a group: attached and not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveTopic {
    pub assignment_id: AssignmentId,
    pub course_id: Option<CourseId>,
}

/// What the delivery of events about a group depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupContext {
    pub group: GroupLabel,
    pub class: ClassId,
    pub class_status: ClassStatus,
    /// When the group becomes visible to its students.
    pub start_date: Option<Timestamp>,
}

impl GroupContext {
    /// Returns whether the group is visible to its members at this time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.class_status != ClassStatus::Draft && self.start_date.is_none_or(|start| start <= now)
    }

    /// Returns the rooms that receive events about the group: always the staff, and its students only while it is
    /// visible to them.
    pub fn rooms(&self, now: Timestamp) -> Vec<Room> {
        let mut rooms = vec![Room::Staff(self.class.clone())];
        if self.is_open(now) {
            rooms.push(Room::Group(self.group.id.clone()));
        }
        rooms
    }
}

impl Group {
    /// Returns a new group with the default name, without members, course and optional properties.
    pub fn new(
        id: GroupId,
        organization_id: OrganizationId,
        class_id: ClassId,
        work_room_id: WorkRoomId,
        group_number: GroupNumber,
        created_by_id: UserId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            class_id,
            work_room_id,
            name: Self::default_name(group_number),
            group_number,
            display_name: None,
            start_date: None,
            meeting_place: None,
            required_documents: RequiredDocuments::stored(1),
            subject_id: None,
            course_id: None,
            help: HelpFlag::default(),
            created_by_id,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the name of a group that was created without a name.
    pub fn default_name(number: GroupNumber) -> ShortName {
        ShortName::stored(format!("Group {number}"))
    }

    /// Returns whether the viewer may see the group. Students see only their own groups, and only once the group has
    /// started and the class is not a draft; admins and the teachers of the class see all groups.
    pub fn visible_to(
        &self,
        viewer: &Viewer,
        is_member: bool,
        can_manage_class: bool,
        class_status: ClassStatus,
        now: Timestamp,
    ) -> bool {
        match viewer {
            Viewer::Admin => true,
            Viewer::Teacher(_) => can_manage_class,
            Viewer::Student(_) => is_member && self.group_context(class_status).is_open(now),
        }
    }

    /// Returns whether the start date still hides the group from its students.
    pub fn is_hidden(&self, now: Timestamp) -> bool {
        self.start_date.is_some_and(|start| start > now)
    }

    /// Returns the name that users see: the one chosen by the group, otherwise its own.
    pub fn shown_name(&self) -> &str {
        self.display_name.as_ref().unwrap_or(&self.name).as_str()
    }

    pub fn group_context(&self, class_status: ClassStatus) -> GroupContext {
        GroupContext {
            group: self.label(),
            class: self.class_id.clone(),
            class_status,
            start_date: self.start_date,
        }
    }

    /// Returns the course of the group after it is attached to a topic. A group without a course and without active
    /// topics takes the course of the topic. Otherwise both must be in the same course, or both in none.
    pub fn course_for(&self, assignment: &Assignment, active: &[ActiveTopic]) -> Result<Option<CourseId>, DomainError> {
        if self.class_id != assignment.class_id {
            return Err(DomainError::ClassMismatch);
        }
        let is_free = self.course_id.is_none() && active.is_empty();
        if is_free || self.course_id == assignment.course_id {
            Ok(assignment.course_id.clone())
        } else {
            Err(self.course_mismatch())
        }
    }

    /// Prepares the group for a topic: it takes the course and subject of the topic if it has none. `course` is the
    /// course of the topic, `active` are the other active topics of the group.
    pub fn attach(
        &mut self,
        assignment: &Assignment,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        assignment.writable()?;
        let wanted = self.course_for(assignment, active)?;
        debug_assert_eq!(
            course.map(|course| &course.id),
            assignment.course_id.as_ref(),
            "the topic's own course"
        );
        course.map_or(Ok(()), Course::takes_new_work)?;
        Ok(if self.course_id == wanted {
            FieldDiff::new()
        } else {
            self.take_course(course, now)
        })
    }

    /// Moves the group to another course, or out of its course. Rejected while an active topic is in another course.
    pub fn move_to(
        &mut self,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        let wanted = course.map(|course| &course.id);
        if self.course_id.as_ref() == wanted {
            return Ok(FieldDiff::new());
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

    /// Sets course and subject without checks; for [`Assignment::move_to`], which checks all groups at once.
    pub(crate) fn take_course(&mut self, course: Option<&Course>, now: Timestamp) -> FieldDiff {
        let mut changed = FieldDiff::new();
        changed.write("courseId", &mut self.course_id, course.map(|course| course.id.clone()));
        if let Some(course) = course {
            changed.write("subjectId", &mut self.subject_id, Some(course.subject_id.clone()));
        }
        self.touch(&changed, now);
        changed
    }

    /// Takes over a changed subject of the course.
    pub fn follow_subject(&mut self, course: &Course, now: Timestamp) -> FieldDiff {
        let mut changed = FieldDiff::new();
        if self.course_id.as_ref() == Some(&course.id) {
            changed.write("subjectId", &mut self.subject_id, Some(course.subject_id.clone()));
        }
        self.touch(&changed, now);
        changed
    }

    /// Applies a PATCH. `course` is the course that `edit.course_id` refers to, `active` are the active topics of the
    /// group.
    pub fn edit(
        &mut self,
        edit: GroupEdit,
        course: Option<&Course>,
        active: &[ActiveTopic],
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        changed.edit("name", &mut edited.name, edit.name)?;
        changed.edit("groupNumber", &mut edited.group_number, edit.group_number)?;
        changed.edit_nullable("displayName", &mut edited.display_name, edit.display_name);
        changed.edit_nullable(
            "startDate",
            &mut edited.start_date,
            edit.start_date.map(DateOrTime::moment),
        );
        changed.edit_nullable("meetingPlace", &mut edited.meeting_place, edit.meeting_place);
        changed.edit(
            "requiredDocuments",
            &mut edited.required_documents,
            edit.required_documents,
        )?;
        if !edit.course_id.is_unchanged() {
            debug_assert_eq!(
                edit.course_id.value(),
                course.map(|course| &course.id),
                "the course the edit names"
            );
            changed.extend(edited.move_to(course, active, now)?);
        }
        let subject = edit.subject_id.resolve(edited.subject_id.clone());
        if edited.course_id.is_some() && subject != edited.subject_id {
            return Err(DomainError::ClassMismatch);
        }
        changed.write("subjectId", &mut edited.subject_id, subject);
        edited.touch(&changed, now);
        *self = edited;
        Ok(changed)
    }

    /// Sets the start date that a bulk edit specifies for every group of a topic.
    pub fn start_on(&mut self, start_date: FieldPatch<Timestamp>, now: Timestamp) -> FieldDiff {
        let mut changed = FieldDiff::new();
        changed.edit_nullable("startDate", &mut self.start_date, start_date);
        self.touch(&changed, now);
        changed
    }

    /// Rejects more members than a group can have.
    pub fn room_for(members: usize) -> Result<(), DomainError> {
        DomainError::check_limit("members in a group", members, MEMBERS_MAX)
    }

    /// Returns the number of the next group of a class: one more than the highest.
    pub fn next_number(highest: Option<GroupNumber>) -> Result<GroupNumber, DomainError> {
        let limit = usize::try_from(GroupNumber::MAX).unwrap_or(usize::MAX);
        GroupNumber::try_from(highest.map_or(0, GroupNumber::get) + 1).map_err(|_| DomainError::LimitReached {
            what: "as the number of a group",
            limit,
        })
    }

    pub fn label(&self) -> GroupLabel {
        GroupLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            group_number: self.group_number.get(),
            display_name: self.display_name.as_ref().map(|name| name.as_str().to_owned()),
            course_id: self.course_id.clone(),
        }
    }

    fn course_mismatch(&self) -> DomainError {
        DomainError::CourseMismatch {
            groups: vec![self.id.clone()],
        }
    }

    fn touch(&mut self, changed: &FieldDiff, now: Timestamp) {
        if !changed.is_empty() {
            self.updated_at = now;
        }
    }
}

string_enum! {
    /// Role of a student in a group.
    GroupRole {
        Member = "MEMBER",
    }
}

/// Membership of a student in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    pub id: GroupMemberId,
    pub group_id: GroupId,
    pub user: Person,
    /// Visible to staff only.
    pub email: AccountEmail,
    pub role: GroupRole,
    pub joined_at: Timestamp,
}

/// Summary of a group, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct GroupLabel {
    pub id: GroupId,
    pub name: String,
    /// Number of the group, unique within the class.
    pub group_number: i64,
    /// A name chosen by the group.
    #[schema(required = false)]
    pub display_name: Option<String>,
    #[schema(required = false)]
    pub course_id: Option<CourseId>,
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
