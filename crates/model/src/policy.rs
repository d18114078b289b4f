//! The clauses of the policy by name. Each stands in one place, and there it is written as `policy::holds(Clause::…, …)`; those
//! that are SQL are listed in the store (`store/clauses.rs`). A test of the whole service switches each off and demands
//! that the table of who may do what notices. Without the feature `switches`, which only dev-dependencies ask for, there is
//! nothing to switch: [`holds`] is its condition.

use crate::word::words;

words! {
    /// A condition without which somebody would see or change what is not his.
    Clause {
        /// A route admits only those it is for.
        RoleOfRoute = "ROLE_OF_ROUTE",
        /// Rows of another organization are nobody's.
        Tenant = "TENANT",
        /// Students know only the classes in which they are enrolled.
        EnrolledInClass = "ENROLLED_IN_CLASS",
        /// Students see nothing of a class that is being prepared.
        ClassNoDraft = "CLASS_NO_DRAFT",
        /// Teachers see the inside of their own classes alone.
        TeacherOfClass = "TEACHER_OF_CLASS",
        /// Teachers change their own classes alone.
        ManagesClass = "MANAGES_CLASS",
        /// Only its owner chooses who else teaches a class.
        OwnsClass = "OWNS_CLASS",
        /// Only admins hand a class over.
        HandsClassOver = "HANDS_CLASS_OVER",
        /// An archived class takes nothing.
        ClassWritable = "CLASS_WRITABLE",
        /// Students see their own groups alone.
        MemberOfGroup = "MEMBER_OF_GROUP",
        /// Students see a group only once it has started.
        GroupStarted = "GROUP_STARTED",
        /// A group gets the shared files and its own alone.
        FileOfGroup = "FILE_OF_GROUP",
        /// A file that waits for a bulk edit is nobody's yet.
        FilePublished = "FILE_PUBLISHED",
        /// A locked document refuses everything.
        DocumentUnlocked = "DOCUMENT_UNLOCKED",
        /// Only a draft takes other content.
        DocumentDraft = "DOCUMENT_DRAFT",
        /// Students delete only documents that they made.
        DocumentAuthor = "DOCUMENT_AUTHOR",
        /// Students see a grade once it is out.
        GradePublished = "GRADE_PUBLISHED",
        /// Students read only feedback that is out and for them.
        FeedbackForStudents = "FEEDBACK_FOR_STUDENTS",
        /// Only its author changes a message.
        MessageAuthor = "MESSAGE_AUTHOR",
        /// A direct message is for its sender and those it names.
        MessageAddressed = "MESSAGE_ADDRESSED",
        /// People act only on those below them.
        Rank = "RANK",
        /// Admins change only accounts that are their school's alone.
        AccountAtHome = "ACCOUNT_AT_HOME",
    }
}

/// The condition of a clause.
#[cfg(not(feature = "switches"))]
#[inline]
pub const fn holds(_: Clause, condition: bool) -> bool {
    condition
}

/// The clauses that are switched off, a bit for each.
#[cfg(not(feature = "switches"))]
#[inline]
pub const fn off() -> u64 {
    0
}

/// Whether a clause is in force.
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

    /// The condition of a clause; true whatever it says while the clause is switched off.
    pub fn holds(clause: Clause, condition: bool) -> bool {
        condition || !is_in_force(clause)
    }

    /// Whether a clause is in force.
    pub fn is_in_force(clause: Clause) -> bool {
        off() & bit(clause) == 0
    }

    /// The clauses that are switched off, a bit for each.
    pub fn off() -> u64 {
        OFF.load(Ordering::SeqCst)
    }

    /// Switches a clause on or off, for the whole process.
    pub fn switch(clause: Clause, on: bool) {
        if on {
            OFF.fetch_and(!bit(clause), Ordering::SeqCst);
        } else {
            OFF.fetch_or(bit(clause), Ordering::SeqCst);
        }
    }
}
