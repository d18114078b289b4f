//! Events of classes and their members. Users who join or leave a class are moved between rooms before an event is
//! emitted.

use domain::change::{CascadeDeletion, ClassChange};
use domain::class::{Class, ClassStatus};
use domain::details::ClassDetails;
use domain::id::UserId;
use domain::patch::FieldDiff;
use domain::realtime::{ConnectionTarget, Event, GroupDeletionReason, MembershipAction, MembershipRole, Room};
use domain::user::Person;

use super::event_builder::{EventBuilder, names};
use super::{course, group};
use api_types::event::{ClassEvent, ClassMembership, EmptyPayload, EventClass};

pub fn emit(change: &ClassChange, builder: &mut EventBuilder<'_>) {
    match change {
        // The class has no students yet; those of a copied class are enrolled by separate changes.
        ClassChange::Created { class, copied_from: _ } => emit_created(class, builder),
        ClassChange::Updated {
            class,
            changed,
            students,
        } => emit_updated(class, changed, students, builder),
        ClassChange::Deleted {
            class,
            removed,
            students,
            teachers: _,
        } => emit_deleted(class, removed, students, builder),
        ClassChange::TeachersChanged { class, added, removed } => {
            let gone = removed.iter().map(|person| &person.id);
            builder.resync_users(gone, rooms(&class.class));
            builder.resync_users(added.iter().map(|person| &person.id), Vec::new());
            for person in removed {
                emit_teacher_membership(&class.class, &person.id, MembershipAction::Removed, builder);
            }
            for person in added {
                emit_teacher_membership(&class.class, &person.id, MembershipAction::Added, builder);
            }
            emit_class_updated(class, &["coTeachers"], builder);
        }
        ClassChange::Enrolled { class, students } => {
            builder.resync_users(students.iter().map(|person| &person.id), Vec::new());
            for person in students {
                emit_student_membership(class, &person.id, MembershipAction::Enrolled, builder);
            }
        }
        ClassChange::Unenrolled { class, student, left } => emit_unenrolled(class, student, left, builder),
        // Only staff see the completion date.
        ClassChange::EnrollmentUpdated {
            class,
            student,
            completed_at: _,
        } => {
            let header = EventBuilder::event(&class.id, Event::ClassMembership);
            let payload = ClassMembership {
                user_id: student.id.clone(),
                role: MembershipRole::Student,
                action: MembershipAction::Updated,
            };
            builder.emit_to_staff(&header, payload);
        }
    }
}

/// A class exists. Its students are notified separately.
pub fn emit_created(class: &ClassDetails, builder: &mut EventBuilder<'_>) {
    let mut parties = vec![builder.admins(), ConnectionTarget::User(class.class.teacher_id.clone())];
    let co_teachers = class.co_teachers.iter();
    parties.extend(co_teachers.map(|person| ConnectionTarget::User(person.id.clone())));
    builder.resync(parties, Vec::new());
    let header = EventBuilder::event(&class.class.id, Event::ClassCreated);
    builder.emit_to_staff(&header, class_event(class, &[]));
}

fn emit_updated(class: &ClassDetails, changed: &FieldDiff, students: &[UserId], builder: &mut EventBuilder<'_>) {
    if let Some(former) = former_teacher(changed) {
        builder.resync_users([&former], rooms(&class.class));
        builder.resync_users([&class.class.teacher_id], Vec::new());
        // A former owner who stays as a co-teacher keeps the same access.
        if class.co_teachers.iter().all(|person| person.id != former) {
            emit_teacher_membership(&class.class, &former, MembershipAction::Removed, builder);
        }
        emit_teacher_membership(&class.class, &class.class.teacher_id, MembershipAction::Added, builder);
    }
    if changed.has("status") {
        let is_draft = class.class.status == ClassStatus::Draft;
        let leave = if is_draft {
            vec![Room::Class(class.class.id.clone())]
        } else {
            Vec::new()
        };
        builder.resync_users(students, leave);
        if is_draft {
            // Students must not learn which class changed, only that they have to refetch.
            let header = EventBuilder::event_without_class(Event::SyncRequired);
            let sockets = students.iter().map(|student| Room::User(student.clone())).collect();
            builder.emit(&header, sockets, EmptyPayload {});
        }
    }
    emit_class_updated(class, &names(changed), builder);
}

/// Notifies the room of the class. Students are in it only if the class is not a draft.
fn emit_class_updated(class: &ClassDetails, changed: &[&str], builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&class.class.id, Event::ClassUpdated);
    builder.emit(&header, rooms(&class.class), class_event(class, changed));
}

fn class_event<'a>(class: &ClassDetails, changed: &'a [&'a str]) -> ClassEvent<'a> {
    ClassEvent {
        class: EventClass::from(class),
        changed,
    }
}

fn emit_deleted(class: &Class, removed: &CascadeDeletion, students: &[UserId], builder: &mut EventBuilder<'_>) {
    course::emit_deleted_objects(&class.id, removed, GroupDeletionReason::Deleted, builder);
    for gone in &removed.courses {
        let header = EventBuilder::event(&class.id, Event::CourseDeleted);
        builder.emit_to_staff(&header, course::deleted_payload(&gone.id, &CascadeDeletion::default()));
    }
    for person in students {
        emit_student_membership(class, person, MembershipAction::Removed, builder);
    }
    let all_rooms = rooms(class);
    builder.emit(
        &EventBuilder::event(&class.id, Event::ClassDeleted),
        all_rooms.clone(),
        EmptyPayload {},
    );
    builder.resync(
        all_rooms.iter().cloned().map(ConnectionTarget::Room).collect(),
        all_rooms,
    );
}

fn emit_unenrolled(
    class: &Class,
    student: &Person,
    left: &[domain::details::GroupDetails],
    builder: &mut EventBuilder<'_>,
) {
    builder.resync_users([&student.id], vec![Room::Class(class.id.clone())]);
    group::emit_left(left, student, builder);
    self::emit_student_membership(class, &student.id, MembershipAction::Removed, builder);
}

/// Notifies staff, and the student unless the class is a draft, about a change of an enrolment.
pub fn emit_student_membership(class: &Class, user: &UserId, action: MembershipAction, builder: &mut EventBuilder<'_>) {
    let is_shown = class.status != ClassStatus::Draft;
    emit_membership(class, user, (MembershipRole::Student, action), is_shown, builder);
}

/// Notifies staff and the teacher who was added or removed.
fn emit_teacher_membership(class: &Class, user: &UserId, action: MembershipAction, builder: &mut EventBuilder<'_>) {
    emit_membership(class, user, (MembershipRole::Teacher, action), true, builder);
}

fn emit_membership(
    class: &Class,
    user: &UserId,
    (role, action): (MembershipRole, MembershipAction),
    is_shown: bool,
    builder: &mut EventBuilder<'_>,
) {
    let mut rooms = vec![Room::Staff(class.id.clone())];
    if is_shown {
        rooms.push(Room::User(user.clone()));
    }
    let header = EventBuilder::event(&class.id, Event::ClassMembership);
    let payload = ClassMembership {
        user_id: user.clone(),
        role,
        action,
    };
    builder.emit(&header, rooms, payload);
}

fn rooms(class: &Class) -> Vec<Room> {
    vec![Room::Class(class.id.clone()), Room::Staff(class.id.clone())]
}

fn former_teacher(changed: &FieldDiff) -> Option<UserId> {
    let change = changed.iter().find(|change| change.field == "teacherId")?;
    change.from.as_str().map(UserId::new)
}
