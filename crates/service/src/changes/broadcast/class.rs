//! Events of classes and their members. Users who join or leave a class are moved between rooms before an event is
//! emitted.

use model::change::class::ClassChange;
use model::change::removed::Removed;
use model::class::{Class, ClassStatus};
use model::edit::Changed;
use model::id::UserId;
use model::news::{Event, GroupDeletionReason, MembershipAction, MembershipRole, Party, Room};
use model::user::Person;
use model::whole::WholeClass;

use super::telling::{Telling, names};
use super::{course, group};
use api_types::event::{ClassEvent, ClassMembership, EmptyPayload, EventClass};

pub fn tell(change: &ClassChange, telling: &mut Telling<'_>) {
    match change {
        ClassChange::Created { class, copied_from: _ } => {
            let mut parties = vec![telling.admins(), Party::User(class.teacher.id.clone())];
            parties.extend(class.co_teachers.iter().map(|person| Party::User(person.id.clone())));
            telling.resync(parties, Vec::new());
            // The class has no students yet; those of a copied class are enrolled by separate changes.
            let told = Telling::event(&class.class.id, Event::ClassCreated);
            telling.tell_staff(&told, class_event(class, &[]));
        }
        ClassChange::Updated {
            class,
            changed,
            students,
        } => updated(class, changed, students, telling),
        ClassChange::Deleted {
            class,
            removed,
            students,
            teachers: _,
        } => deleted(class, removed, students, telling),
        ClassChange::TeachersChanged { class, added, removed } => {
            let gone = removed.iter().map(|person| &person.id);
            telling.resync_users(gone, rooms(&class.class));
            telling.resync_users(added.iter().map(|person| &person.id), Vec::new());
            for person in removed {
                teacher(&class.class, &person.id, MembershipAction::Removed, telling);
            }
            for person in added {
                teacher(&class.class, &person.id, MembershipAction::Added, telling);
            }
            shown(class, &["coTeachers"], telling);
        }
        ClassChange::Enrolled { class, students } => {
            telling.resync_users(students.iter().map(|person| &person.id), Vec::new());
            for person in students {
                student(class, &person.id, MembershipAction::Enrolled, telling);
            }
        }
        ClassChange::Unenrolled { class, student, left } => unenrolled(class, student, left, telling),
        // Only staff see the completion date.
        ClassChange::EnrollmentUpdated {
            class,
            student,
            completed_at: _,
        } => {
            let told = Telling::event(&class.id, Event::ClassMembership);
            let rest = ClassMembership {
                user_id: student.id.clone(),
                role: MembershipRole::Student,
                action: MembershipAction::Updated,
            };
            telling.tell_staff(&told, rest);
        }
    }
}

fn updated(class: &WholeClass, changed: &Changed, students: &[UserId], telling: &mut Telling<'_>) {
    if let Some(former) = former_teacher(changed) {
        telling.resync_users([&former], rooms(&class.class));
        telling.resync_users([&class.class.teacher_id], Vec::new());
        // A former owner who stays as a co-teacher keeps the same access.
        if class.co_teachers.iter().all(|person| person.id != former) {
            teacher(&class.class, &former, MembershipAction::Removed, telling);
        }
        teacher(&class.class, &class.class.teacher_id, MembershipAction::Added, telling);
    }
    if changed.has("status") {
        let is_draft = class.class.status == ClassStatus::Draft;
        let leave = if is_draft {
            vec![Room::Class(class.class.id.clone())]
        } else {
            Vec::new()
        };
        telling.resync_users(students, leave);
        if is_draft {
            // Students must not learn which class changed, only that they have to refetch.
            let told = Telling::event_without_class(Event::SyncRequired);
            let sockets = students.iter().map(|student| Room::User(student.clone())).collect();
            telling.tell(&told, sockets, EmptyPayload {});
        }
    }
    shown(class, &names(changed), telling);
}

/// Notifies the room of the class. Students are in it only if the class is not a draft.
fn shown(class: &WholeClass, changed: &[&str], telling: &mut Telling<'_>) {
    let told = Telling::event(&class.class.id, Event::ClassUpdated);
    telling.tell(&told, rooms(&class.class), class_event(class, changed));
}

fn class_event<'a>(class: &WholeClass, changed: &'a [&'a str]) -> ClassEvent<'a> {
    ClassEvent {
        class: EventClass::from(class),
        changed,
    }
}

fn deleted(class: &Class, removed: &Removed, students: &[UserId], telling: &mut Telling<'_>) {
    course::went(&class.id, removed, GroupDeletionReason::Deleted, telling);
    for gone in &removed.courses {
        let told = Telling::event(&class.id, Event::CourseDeleted);
        telling.tell_staff(&told, course::deleted(&gone.id, &Removed::default()));
    }
    for person in students {
        student(class, person, MembershipAction::Removed, telling);
    }
    let everybody = rooms(class);
    telling.tell(
        &Telling::event(&class.id, Event::ClassDeleted),
        everybody.clone(),
        EmptyPayload {},
    );
    telling.resync(everybody.iter().cloned().map(Party::Room).collect(), everybody);
}

fn unenrolled(class: &Class, student: &Person, left: &[model::whole::WholeGroup], telling: &mut Telling<'_>) {
    telling.resync_users([&student.id], vec![Room::Class(class.id.clone())]);
    for whole in left {
        group::left(whole, student, telling);
        group::updated(whole, &["members"], telling);
    }
    self::student(class, &student.id, MembershipAction::Removed, telling);
}

/// Notifies staff, and the student unless the class is a draft, about a change of an enrolment.
pub fn student(class: &Class, user: &UserId, action: MembershipAction, telling: &mut Telling<'_>) {
    let is_shown = class.status != ClassStatus::Draft;
    membership(class, user, (MembershipRole::Student, action), is_shown, telling);
}

/// Notifies staff and the teacher who was added or removed.
fn teacher(class: &Class, user: &UserId, action: MembershipAction, telling: &mut Telling<'_>) {
    membership(class, user, (MembershipRole::Teacher, action), true, telling);
}

fn membership(
    class: &Class,
    user: &UserId,
    (role, action): (MembershipRole, MembershipAction),
    is_shown: bool,
    telling: &mut Telling<'_>,
) {
    let mut rooms = vec![Room::Staff(class.id.clone())];
    if is_shown {
        rooms.push(Room::User(user.clone()));
    }
    let told = Telling::event(&class.id, Event::ClassMembership);
    let rest = ClassMembership {
        user_id: user.clone(),
        role,
        action,
    };
    telling.tell(&told, rooms, rest);
}

fn rooms(class: &Class) -> Vec<Room> {
    vec![Room::Class(class.id.clone()), Room::Staff(class.id.clone())]
}

fn former_teacher(changed: &Changed) -> Option<UserId> {
    let change = changed.iter().find(|change| change.field == "teacherId")?;
    change.from.as_str().map(UserId::new)
}
