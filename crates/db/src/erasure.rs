//! Reads the data about a user in one organization that is needed before their account is erased.

use domain::access::MemberRole;
use domain::id::{ClassId, UserId};

use super::{ReadTx, WriteTx};
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Locks the organization until the end of the transaction, so that changes of owners are serialized.
    HOLD_ORGANIZATION = "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    /// The active owners other than one user.
    OTHER_OWNERS = "SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.role = 'owner' AND m.user_id <> $2 AND m.is_active
            AND u.is_active";
    ROLE = "SELECT role FROM members WHERE organization_id = $1 AND user_id = $2";
    CLASSES = "SELECT class_id FROM class_enrollments WHERE organization_id = $1 AND student_id = $2 ORDER BY class_id";
    GROUPS = "SELECT COUNT(*) FROM group_members WHERE organization_id = $1 AND class_id = $2 AND user_id = $3";
}

impl ReadTx<'_> {
    /// Returns the role of a user in the organization, if they are a member.
    pub fn member_role(&mut self, user: &UserId) -> Result<Option<MemberRole>> {
        self.fetch_optional(&ROLE, args![user], |row| row.get::<MemberRole>("role"))
    }

    /// Lists the classes in which a student is enrolled.
    pub fn classes_of_student(&mut self, user: &UserId) -> Result<Vec<ClassId>> {
        self.fetch_all(&CLASSES, args![user], |row| row.get("class_id"))
    }

    /// Counts the groups of a student in a class.
    pub fn count_groups_of_student(&mut self, class: &ClassId, user: &UserId) -> Result<i64> {
        self.fetch_one(&GROUPS, args![class, user], |row| row.only())
    }

    /// Counts the other owners who can sign in.
    pub fn other_owner_count(&mut self, user: &UserId) -> Result<i64> {
        self.fetch_one(&OTHER_OWNERS, args![user], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Locks the organization until the end of the transaction. Every removal of an owner takes this lock.
    pub fn lock_owner_changes(&mut self) -> Result<()> {
        self.fetch_one(&HOLD_ORGANIZATION, args![], |row| row.get::<String>("id"))
            .map(drop)
    }
}
