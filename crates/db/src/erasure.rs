//! What has to be known of a person's part in one school before he is erased.

use model::access::MemberRole;
use model::id::{ClassId, UserId};

use super::{Scope, Work};
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Takes the organization for this unit: who owns it is decided one after the other.
    HOLD_ORGANIZATION = "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    /// Owners besides one person who can act as such.
    OTHER_OWNERS = "SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.role = 'owner' AND m.user_id <> $2 AND m.is_active
            AND u.is_active";
    /// The role of a member.
    ROLE = "SELECT role FROM members WHERE organization_id = $1 AND user_id = $2";
    /// The classes a student is in.
    CLASSES = "SELECT class_id FROM class_enrollments WHERE organization_id = $1 AND student_id = $2 ORDER BY class_id";
    /// The groups of a class a student is in.
    GROUPS = "SELECT COUNT(*) FROM group_members WHERE organization_id = $1 AND class_id = $2 AND user_id = $3";
}

impl Scope<'_> {
    /// The role of a person here, if he is a member.
    pub fn member_role(&mut self, user: &UserId) -> Result<Option<MemberRole>> {
        self.maybe(&ROLE, args![user], |row| row.parse(MemberRole::parse))
    }

    /// The classes a student is in.
    pub fn classes_of_student(&mut self, user: &UserId) -> Result<Vec<ClassId>> {
        self.many(&CLASSES, args![user], |row| row.take())
    }

    /// In how many groups of a class a student is.
    pub fn count_groups_of_student(&mut self, class: &ClassId, user: &UserId) -> Result<i64> {
        self.one(&GROUPS, args![class, user], |row| row.take())
    }

    /// How many others own the organization and may sign in.
    pub fn owners_besides(&mut self, user: &UserId) -> Result<i64> {
        self.one(&OTHER_OWNERS, args![user], |row| row.take())
    }
}

impl Work<'_> {
    /// Holds the organization until this unit ends: who takes an owner away comes through here.
    pub fn hold_organization_of_owners(&mut self) -> Result<()> {
        self.one(&HOLD_ORGANIZATION, args![], |row| row.take::<String>())
            .map(drop)
    }
}
