//! Classes and who belongs to them: who manages a class or learns in it moves between rooms before anything is told.

use model::change::class::ClassChange;
use model::change::removed::Removed;
use model::class::{Class, ClassStatus};
use model::edit::Changed;
use model::id::UserId;
use model::news::{Event, Party, Room};
use model::user::Person;
use model::whole::WholeClass;
use serde_json::json;

use super::telling::{Telling, names};
use super::{course, group};
use crate::views::class::ClassView;

pub fn tell(change: &ClassChange, telling: &mut Telling<'_>) {
    match change {
        ClassChange::Created { class, copied_from: _ } => {
            let mut parties = vec![telling.admins(), Party::User(class.teacher.id.clone())];
            parties.extend(class.co_teachers.iter().map(|person| Party::User(person.id.clone())));
            telling.resync(parties, Vec::new());
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
            shown(class, &["coTeachers"], telling);
        }
        ClassChange::Enrolled { class, students } => {
            telling.resync_users(students.iter().map(|person| &person.id), Vec::new());
            for student in students {
                membership(class, &student.id, "ENROLLED", telling);
            }
        }
        ClassChange::Unenrolled { class, student, left } => unenrolled(class, student, left, telling),
        // Clients show it when they read the roster; nobody's rooms or rights depend on it.
        ClassChange::EnrollmentUpdated {
            class: _,
            student: _,
            completed_at: _,
        } => {}
    }
}

fn updated(class: &WholeClass, changed: &Changed, students: &[UserId], telling: &mut Telling<'_>) {
    if let Some(former) = former_teacher(changed) {
        telling.resync_users([&former], rooms(&class.class));
        telling.resync_users([&class.class.teacher_id], Vec::new());
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
            // They may not hear which class this is about, but that there is something to fetch.
            let told = Telling::event_without_class(Event::SyncRequired);
            let sockets = students.iter().map(|student| Room::User(student.clone())).collect();
            telling.tell(&told, sockets, json!({}));
        }
    }
    shown(class, &names(changed), telling);
}

/// Students are in the class's room only while it is no draft, so it may always be told there.
fn shown(class: &WholeClass, changed: &[&str], telling: &mut Telling<'_>) {
    let told = Telling::event(&class.class.id, Event::ClassUpdated);
    let rest = json!({"class": ClassView::summary(class.clone()), "changed": changed});
    telling.tell(&told, rooms(&class.class), rest);
}

fn deleted(class: &Class, removed: &Removed, students: &[UserId], telling: &mut Telling<'_>) {
    course::went(&class.id, removed, "DELETED", telling);
    for gone in &removed.courses {
        let told = Telling::event(&class.id, Event::CourseDeleted);
        telling.tell_staff(&told, course::deleted(&json!(gone.id), &Removed::default()));
    }
    for student in students {
        membership(class, student, "REMOVED", telling);
    }
    let everybody = rooms(class);
    telling.resync(everybody.iter().cloned().map(Party::Room).collect(), everybody);
}

fn unenrolled(class: &Class, student: &Person, left: &[model::whole::WholeGroup], telling: &mut Telling<'_>) {
    telling.resync_users([&student.id], vec![Room::Class(class.id.clone())]);
    for whole in left {
        group::left(whole, student, telling);
        group::updated(whole, &["members"], telling);
    }
    membership(class, &student.id, "REMOVED", telling);
}

/// Tells the staff of a class, and the student unless it is a draft, who came or went.
pub fn membership(class: &Class, user: &UserId, action: &str, telling: &mut Telling<'_>) {
    let mut rooms = vec![Room::Staff(class.id.clone())];
    if class.status != ClassStatus::Draft {
        rooms.push(Room::User(user.clone()));
    }
    let told = Telling::event(&class.id, Event::ClassMembership);
    telling.tell(
        &told,
        rooms,
        json!({"classId": class.id, "userId": user, "action": action}),
    );
}

fn rooms(class: &Class) -> Vec<Room> {
    vec![Room::Class(class.id.clone()), Room::Staff(class.id.clone())]
}

fn former_teacher(changed: &Changed) -> Option<UserId> {
    let change = changed.iter().find(|change| change.field == "teacherId")?;
    change.from.as_str().map(UserId::new)
}
