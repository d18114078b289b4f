//! Authorization clauses by name. Each clause is checked in one place, as `policy::holds(Clause::…, …)`; clauses
//! checked in SQL are listed in the module `clauses` of the database layer. A test of the whole service disables each
//! clause in turn and requires that the permission matrix detects it. Without the feature `switches`, which only
//! dev-dependencies enable, clauses cannot be disabled and [`holds`] returns its condition.

use crate::string_enum::string_enum;

string_enum! {
    /// A condition that prevents users from seeing or changing data of others.
    Clause {
        /// A route accepts only callers with the required access level.
        RoleOfRoute = "ROLE_OF_ROUTE",
        /// Rows of other organizations are invisible.
        Tenant = "TENANT",
        /// Students see only classes in which they are enrolled.
        EnrolledInClass = "ENROLLED_IN_CLASS",
        /// Students do not see draft classes.
        ClassNoDraft = "CLASS_NO_DRAFT",
        /// Teachers see the content of their own classes only.
        TeacherOfClass = "TEACHER_OF_CLASS",
        /// Teachers change their own classes only.
        ManagesClass = "MANAGES_CLASS",
        /// Only the owner of a class changes its co-teachers.
        OwnsClass = "OWNS_CLASS",
        /// Only admins change the owner of a class.
        HandsClassOver = "HANDS_CLASS_OVER",
        /// Writes to an archived class are rejected.
        ClassWritable = "CLASS_WRITABLE",
        /// Students see only their own groups.
        MemberOfGroup = "MEMBER_OF_GROUP",
        /// Students see a group only once it has started.
        GroupStarted = "GROUP_STARTED",
        /// A group sees only the shared files and its own.
        FileOfGroup = "FILE_OF_GROUP",
        /// Staged files are not visible to students.
        FilePublished = "FILE_PUBLISHED",
        /// Changes of a locked document are rejected.
        DocumentUnlocked = "DOCUMENT_UNLOCKED",
        /// Only a draft accepts new content.
        DocumentDraft = "DOCUMENT_DRAFT",
        /// Students delete only documents they created.
        DocumentAuthor = "DOCUMENT_AUTHOR",
        /// Students see a grade only once it is published.
        GradePublished = "GRADE_PUBLISHED",
        /// Students read only published feedback addressed to the group.
        FeedbackForStudents = "FEEDBACK_FOR_STUDENTS",
        /// Only its author changes a message.
        MessageAuthor = "MESSAGE_AUTHOR",
        /// A direct message is visible only to its sender and its recipients.
        MessageAddressed = "MESSAGE_ADDRESSED",
        /// Users act only on members of lower rank.
        RoleLevel = "RANK",
        /// Admins change only accounts that belong to their organization alone.
        AccountAtHome = "ACCOUNT_AT_HOME",
    }
}

/// Returns the condition of a clause.
#[cfg(not(feature = "switches"))]
#[inline]
pub const fn holds(_: Clause, condition: bool) -> bool {
    condition
}

/// Returns the disabled clauses as a bit set.
#[cfg(not(feature = "switches"))]
#[inline]
pub const fn off() -> u64 {
    0
}

/// Returns whether a clause is enabled.
#[cfg(not(feature = "switches"))]
#[inline]
pub const fn is_in_force(_: Clause) -> bool {
    true
}

#[cfg(feature = "switches")]
pub use switches::{holds, is_in_force, off, switch};

#[cfg(feature = "switches")]
mod switches {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Clause;

    static OFF: AtomicU64 = AtomicU64::new(0);

    const fn bit(clause: Clause) -> u64 {
        1 << clause as u64
    }

    /// Returns the condition of a clause, or true while the clause is disabled.
    pub fn holds(clause: Clause, condition: bool) -> bool {
        condition || !is_in_force(clause)
    }

    /// Returns whether a clause is enabled.
    pub fn is_in_force(clause: Clause) -> bool {
        off() & bit(clause) == 0
    }

    /// Returns the disabled clauses as a bit set.
    pub fn off() -> u64 {
        OFF.load(Ordering::SeqCst)
    }

    /// Enables or disables a clause for the whole process.
    pub fn switch(clause: Clause, on: bool) {
        if on {
            OFF.fetch_and(!bit(clause), Ordering::SeqCst);
        } else {
            OFF.fetch_or(bit(clause), Ordering::SeqCst);
        }
    }
}
