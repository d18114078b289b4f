//! Deletes courses, topics, groups and classes with their children by explicit statements, children first, each scoped
//! to the organization. No foreign key cascades, so a table that is missing here causes an error instead of orphans.
//! The data for log and events is read before the deletion; the deletion itself contains no business rules.

mod deletion_plan;
mod read;

use domain::change::CascadeDeletion;
use domain::deleted_object::DeletedNoun;
use domain::details::GroupDetails;
use domain::id::{AssignmentId, ClassId, CourseId, GroupAssignmentId, GroupId, UserId};

use self::deletion_plan::{ArchivedRows, DeletionPlan};
use super::groups::GroupFilter;
use super::sql::NamedStatements;
use super::{ReadTx, WriteTx};
use crate::{args, statements};
use common::error::{Error, Result};
use common::failpoint;

statements! {
    /// Deletes a course. Its groups and topics are already deleted.
    DELETE_COURSE = "DELETE FROM courses WHERE organization_id = $1 AND id = $2";
    /// Deletes the courses of a class. Their groups and topics are already deleted.
    DELETE_COURSES = "DELETE FROM courses WHERE organization_id = $1 AND class_id = $2";
    DELETE_ENROLLMENTS = "DELETE FROM class_enrollments WHERE organization_id = $1 AND class_id = $2";
    DELETE_CLASS_SUBJECTS = "DELETE FROM class_subjects WHERE organization_id = $1 AND class_id = $2";
    DELETE_CLASS_TEACHERS = "DELETE FROM class_teachers WHERE organization_id = $1 AND class_id = $2";
    /// Detaches announcements from a class; their sender keeps them.
    FREE_ANNOUNCEMENTS = "UPDATE direct_messages SET class_id = NULL WHERE organization_id = $1 AND class_id = $2";
    /// Deletes a class whose children are already deleted.
    DELETE_CLASS = "DELETE FROM classes WHERE organization_id = $1 AND id = $2";
    /// The groups of a student in a class.
    GROUPS_OF_STUDENT = "SELECT group_id FROM group_members WHERE organization_id = $1 AND class_id = $2
        AND user_id = $3";
    /// Removes a student from all groups of a class.
    LEAVE_GROUPS = "DELETE FROM group_members WHERE organization_id = $1 AND class_id = $2 AND user_id = $3";
    /// Removes a student from a class.
    LEAVE_CLASS = "DELETE FROM class_enrollments WHERE organization_id = $1 AND class_id = $2 AND student_id = $3";
    SUBMISSIONS_OF_LINK = "SELECT COUNT(*) FROM submissions WHERE organization_id = $1 AND group_assignment_id = $2";
}

/// The statements of this file and of every kind of deletion, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("cascade", STATEMENTS.to_vec()),
        ("cascade::read", read::STATEMENTS.to_vec()),
        ("cascade::course", deletion_plan::COURSE.statements()),
        ("cascade::topic", deletion_plan::TOPIC.statements()),
        ("cascade::group", deletion_plan::GROUP.statements()),
        ("cascade::link", deletion_plan::LINK.statements()),
        ("cascade::class", deletion_plan::CLASS.statements()),
        ("cascade::archived_class", archived(&deletion_plan::ARCHIVED_CLASS)),
        ("cascade::archived_course", archived(&deletion_plan::ARCHIVED_COURSE)),
        ("cascade::archived_group", archived(&deletion_plan::ARCHIVED_GROUP)),
        ("cascade::archived_topic", archived(&deletion_plan::ARCHIVED_TOPIC)),
        (
            "cascade::archived_document",
            archived(&deletion_plan::ARCHIVED_DOCUMENT),
        ),
    ]
}

fn archived(rows: &'static deletion_plan::ArchivedRows) -> NamedStatements {
    rows.iter().map(|(table, statement)| (table.name, statement)).collect()
}

impl ReadTx<'_> {
    /// Counts the submissions of a link. A link with submissions is detached only with `force`.
    pub fn submissions_of_link(&mut self, id: &GroupAssignmentId) -> Result<i64> {
        self.fetch_one(&SUBMISSIONS_OF_LINK, args![id], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Deletes a course with its groups, topics, rooms, documents and submissions. The caller holds the lock of the
    /// class.
    pub fn delete_course(&mut self, id: &CourseId) -> Result<CascadeDeletion> {
        let removed = self.execute_plan(&deletion_plan::COURSE, id.as_str())?;
        self.execute(&DELETE_COURSE, args![id])?;
        Ok(removed)
    }

    /// Deletes a topic with its submissions and files. Rooms and documents remain, detached from the topic. The caller
    /// holds the lock of the class.
    pub fn delete_assignment(&mut self, id: &AssignmentId) -> Result<CascadeDeletion> {
        self.execute_plan(&deletion_plan::TOPIC, id.as_str())
    }

    /// Deletes a group with its room, documents and submissions. Its topics remain. The caller holds the lock of the
    /// class.
    pub fn delete_group(&mut self, id: &GroupId) -> Result<CascadeDeletion> {
        self.execute_plan(&deletion_plan::GROUP, id.as_str())
    }

    /// Detaches a group from a topic: deletes the link with its submissions and files and detaches the documents of the
    /// room from the topic. The caller holds the lock of the class and has checked `GroupAssignment::detachable`.
    pub fn detach_group(&mut self, id: &GroupAssignmentId) -> Result<CascadeDeletion> {
        self.execute_plan(&deletion_plan::LINK, id.as_str())
    }

    /// Deletes a class with all its content. Announcements to it remain with their sender. The caller holds the lock of
    /// the class.
    pub fn delete_class(&mut self, id: &ClassId) -> Result<CascadeDeletion> {
        let courses = self.deleted_courses(id)?;
        let mut removed = self.execute_plan(&deletion_plan::CLASS, id.as_str())?;
        removed.courses = courses;
        let rest = [
            &DELETE_COURSES,
            &DELETE_ENROLLMENTS,
            &DELETE_CLASS_SUBJECTS,
            &DELETE_CLASS_TEACHERS,
            &FREE_ANNOUNCEMENTS,
            &DELETE_CLASS,
        ];
        self.free_deleted_documents(id)?;
        for statement in rest {
            self.execute(statement, args![id])?;
        }
        Ok(removed)
    }

    /// Removes a student from a class and from all its groups. Returns these groups in their new state. Past
    /// submissions keep their recorded members. The caller holds the lock of the class.
    pub fn end_enrollment(&mut self, class: &ClassId, student: &UserId) -> Result<Vec<GroupDetails>> {
        let left: Vec<GroupId> =
            self.fetch_all(&GROUPS_OF_STUDENT, args![class, student], |row| row.get("group_id"))?;
        self.execute(&LEAVE_GROUPS, args![class, student])?;
        if self.execute_counted(&LEAVE_CLASS, args![class, student])? == 0 {
            return Err(Error::NotFound);
        }
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let filter = GroupFilter {
            class_id: Some(class.clone()),
            ..GroupFilter::default()
        };
        let groups = self.groups(&filter)?.into_iter();
        Ok(groups
            .map(|record| record.details)
            .filter(|details| left.contains(&details.group.id))
            .collect())
    }

    /// Locks what is deleted with an object, so that nothing is added to it from now on, and returns the queries of the
    /// rows that its archive contains.
    pub(super) fn lock_archived_rows(&mut self, noun: DeletedNoun, id: &str) -> Result<&'static ArchivedRows> {
        let (plan, rows) = match noun {
            DeletedNoun::Class => (&*deletion_plan::CLASS, &*deletion_plan::ARCHIVED_CLASS),
            DeletedNoun::Course => (&*deletion_plan::COURSE, &*deletion_plan::ARCHIVED_COURSE),
            DeletedNoun::Group => (&*deletion_plan::GROUP, &*deletion_plan::ARCHIVED_GROUP),
            DeletedNoun::Assignment => (&*deletion_plan::TOPIC, &*deletion_plan::ARCHIVED_TOPIC),
            // The caller holds the lock of the document.
            DeletedNoun::Document => return Ok(&*deletion_plan::ARCHIVED_DOCUMENT),
        };
        self.lock_plan(plan, id)?;
        Ok(rows)
    }

    fn lock_plan(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<()> {
        for (_, statement) in &plan.locks {
            self.fetch_all(statement, args![id], |_| Ok(()))?;
        }
        Ok(())
    }

    fn execute_plan(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<CascadeDeletion> {
        // Locks the parents: a concurrent insert of a child waits and then fails because its parent is gone.
        self.lock_plan(plan, id)?;
        let removed = self.read_deletion(plan, id)?;
        let now = self.now();
        self.execute(&plan.record_documents, args![id, now])?;
        failpoint::hit("deletion.listed");
        for (_, statement) in &plan.deletions_before {
            self.execute(statement, args![id])?;
        }
        self.execute(&plan.detach, args![id, now])?;
        for (_, statement) in &plan.deletions_after {
            self.execute(statement, args![id])?;
        }
        Ok(removed)
    }
}
