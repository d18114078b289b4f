//! The members of groups. Only students enrolled in the class can be members, which a foreign key enforces as well.

use std::collections::HashMap;

use domain::account_email::AccountEmail;
use domain::group::GroupMember;
use domain::id::{ClassId, GroupId, SubmissionId, UserId};
use domain::user::Person;

use crate::labels::{PERSON_COLUMNS, person};
use crate::{ReadTx, WriteTx, args, named, statements};
use common::error::Result;

statements! {
    ENROLLED = "SELECT {PERSON_COLUMNS}, u.email FROM class_enrollments e JOIN users u ON u.id = e.student_id
        WHERE e.organization_id = $1 AND e.class_id = $2";
    IS_MEMBER = "SELECT EXISTS (SELECT 1 FROM members WHERE organization_id = $1 AND user_id = $2)";
    /// Inserts a membership; does nothing if it exists.
    INSERT = "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, role, joined_at)
        VALUES ($1, :id, :class_id, :group_id, :user_id, :role, :joined_at)
        ON CONFLICT (group_id, user_id) DO NOTHING";
    DELETE = "DELETE FROM group_members WHERE organization_id = $1 AND group_id = $2 AND user_id = $3";
    /// The members of other groups that work on the same topics.
    IN_SAME_TOPICS = "SELECT DISTINCT m.user_id FROM group_assignments mine
        JOIN group_assignments other ON other.assignment_id = mine.assignment_id AND other.group_id <> mine.group_id
        JOIN group_members m ON m.group_id = other.group_id
        WHERE mine.organization_id = $1 AND mine.group_id = $2
        ORDER BY m.user_id";
    /// The submissions of a group with the members at the time of each.
    SUBMISSIONS = "SELECT s.id, s.member_ids FROM submissions s
        JOIN group_assignments ga ON ga.id = s.group_assignment_id
        WHERE s.organization_id = $1 AND ga.group_id = $2
        ORDER BY s.created_at, s.id";
}

/// A student with their email address.
#[derive(Debug, Clone)]
pub struct Student {
    pub person: Person,
    /// Visible to staff only.
    pub email: AccountEmail,
}

impl ReadTx<'_> {
    /// Returns the students enrolled in a class.
    pub fn enrolled(&mut self, class: &ClassId) -> Result<HashMap<UserId, Student>> {
        let students = self.fetch_all(&ENROLLED, args![class], |row| {
            let person = person(row)?;
            Ok((
                person.id.clone(),
                Student {
                    person,
                    email: row.get("email")?,
                },
            ))
        })?;
        Ok(students.into_iter().collect())
    }

    /// Returns whether a user belongs to the organization.
    pub fn is_member(&mut self, user: &UserId) -> Result<bool> {
        self.fetch_one(&IS_MEMBER, args![user], |row| row.only())
    }

    /// Lists the members of other groups that work on one of this group's topics.
    pub fn members_of_same_topics(&mut self, group: &GroupId) -> Result<Vec<UserId>> {
        self.fetch_all(&IN_SAME_TOPICS, args![group], |row| row.get("user_id"))
    }

    /// Lists the submissions of a group in which a user took part.
    pub fn submissions_with(&mut self, group: &GroupId, user: &UserId) -> Result<Vec<SubmissionId>> {
        let submissions = self.fetch_all(&SUBMISSIONS, args![group], |row| {
            Ok((row.get::<SubmissionId>("id")?, row.json::<Vec<UserId>>("member_ids")?))
        })?;
        let took_part = submissions.into_iter().filter(|(_, members)| members.contains(user));
        Ok(took_part.map(|(id, _)| id).collect())
    }
}

impl WriteTx<'_> {
    /// Inserts a membership; an existing one is kept unchanged. The caller holds the lock of the class.
    pub fn insert_group_member(&mut self, class: &ClassId, member: &GroupMember) -> Result<()> {
        self.execute_named(
            &INSERT,
            named![member =>
                id, group_id, role, joined_at,
                class_id: class,
                user_id: member.user.id,
            ],
        )
    }

    /// Deletes a membership; returns whether it existed.
    pub fn delete_group_member(&mut self, group: &GroupId, user: &UserId) -> Result<bool> {
        Ok(self.execute_counted(&DELETE, args![group, user])? > 0)
    }
}
