//! Classes that follow a homeroom. [`follow`] makes the enrolments of following classes equal to the students of their
//! homerooms. Every action that changes who is in a homeroom, or which homeroom a class follows, calls it in its
//! transaction; see docs/api-contract.md#classes-that-follow-a-homeroom.

use domain::change::ClassChange;
use domain::class::{Class, EnrolledBy};
use domain::id::{HomeroomId, UserId};
use domain::user::Person;

use common::error::Result;
use db::WriteTx;
use db::homeroom_following::HomeroomLeaver;

/// Whose enrolments may have to change.
#[derive(Debug, Clone, Copy)]
pub enum FollowScope<'a> {
    /// Students joined or left a homeroom.
    Homeroom(&'a HomeroomId),
    /// A student was deactivated or activated, or a member became a student again.
    Student(&'a UserId),
    /// A class started to follow a homeroom, was activated again or was restored. The caller holds its lock.
    Class(&'a Class),
}

/// The students who joined and left classes.
#[derive(Debug, Clone, Default)]
pub struct FollowOutcome {
    pub joined: Vec<Person>,
    pub left: Vec<HomeroomLeaver>,
}

/// Enrols the students of homerooms in the classes that follow them, and unenrols those who left. Students without an
/// enrolment from the homeroom stay. Archived classes do not change. The enrolments grant teachers no rights over the
/// accounts, no matter who turns following on.
pub fn follow(tx: &mut WriteTx<'_>, scope: FollowScope<'_>) -> Result<FollowOutcome> {
    let classes = match scope {
        FollowScope::Homeroom(homeroom) => tx.lock_followers(homeroom)?,
        FollowScope::Student(student) => tx.lock_followers_of_student(student)?,
        FollowScope::Class(class) => {
            if let Some(homeroom) = &class.homeroom_id {
                tx.lock_homeroom_students(homeroom)?;
            }
            vec![class.clone()]
        }
    };
    let mut outcome = FollowOutcome::default();
    for class in classes.into_iter().filter(Class::is_following) {
        let Some(homeroom) = &class.homeroom_id else { continue };
        let left = tx.unenroll_leavers(&class.id, homeroom)?;
        let joined = tx.enroll_homeroom(&class.id, homeroom, EnrolledBy::Homeroom, true)?;
        for HomeroomLeaver { student, left } in &left {
            tx.record(ClassChange::Unenrolled {
                class: Box::new(class.clone()),
                student: student.clone(),
                left: left.clone(),
            });
        }
        if !joined.is_empty() {
            tx.record(ClassChange::Enrolled {
                class: Box::new(class),
                students: joined.clone(),
            });
        }
        outcome.joined.extend(joined);
        outcome.left.extend(left);
    }
    Ok(outcome)
}
