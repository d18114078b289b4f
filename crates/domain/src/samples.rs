//! Fixtures for the tests of this crate: Ada teaches class 7b, Ben is a student in it.

use crate::assignment::Assignment;
use crate::course::Course;
use crate::document::Document;
use crate::group::Group;
use crate::group_assignment::GroupAssignment;
use crate::id::{
    AssignmentId, ClassId, CourseId, DocumentId, GroupAssignmentId, GroupId, OrganizationId, SubjectId, UserId,
    WorkRoomId,
};
use crate::number::GroupNumber;
use crate::text::{Description, DocumentTitle, Name, ShortName, Title};
use crate::time::Timestamp;

/// Returns a timestamp, in seconds since 1970.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

pub fn ada() -> UserId {
    UserId::new("ada")
}

pub fn ben() -> UserId {
    UserId::new("ben")
}

fn school() -> OrganizationId {
    OrganizationId::new("school")
}

fn class() -> ClassId {
    ClassId::new("7b")
}

/// A course of 7b with a subject named after it.
pub fn course(id: &str) -> Course {
    let subject = SubjectId::new(format!("subject of {id}"));
    Course::new(CourseId::new(id), school(), class(), subject, Name::stored(id), at(0))
}

/// A group of 7b without a course.
pub fn group(id: &str) -> Group {
    let room = WorkRoomId::new(format!("room of {id}"));
    Group {
        name: ShortName::stored(id),
        ..Group::new(
            GroupId::new(id),
            school(),
            class(),
            room,
            GroupNumber::stored(1),
            ada(),
            at(0),
        )
    }
}

/// A shared topic of 7b, due at second 1000.
pub fn assignment(id: &str, course: Option<&str>) -> Assignment {
    let title = Title::stored(id);
    Assignment {
        course_id: course.map(CourseId::new),
        description: Description::stored("for all"),
        ..Assignment::new(AssignmentId::new(id), school(), class(), title, at(1000), ada(), at(0))
    }
}

/// The link of a group to a topic, before any work.
pub fn link(group: &str, assignment: &str) -> GroupAssignment {
    let id = GroupAssignmentId::new(format!("{group} on {assignment}"));
    GroupAssignment::new(id, school(), AssignmentId::new(assignment), GroupId::new(group), at(0))
}

/// A draft that Ben created in the room of a group.
pub fn document(id: &str, group: &str) -> Document {
    let (room, title) = (WorkRoomId::new(format!("room of {group}")), DocumentTitle::stored(id));
    Document::new(
        DocumentId::new(id),
        school(),
        room,
        GroupId::new(group),
        title,
        ben(),
        at(0),
    )
}
