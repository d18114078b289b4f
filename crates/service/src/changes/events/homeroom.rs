//! Events of homerooms. Staff see all homerooms, students their own.

use domain::change::HomeroomChange;
use domain::homeroom::Homeroom;
use domain::id::UserId;
use domain::realtime::{Event, EventAction, Room};

use super::event_builder::{EventBuilder, names};
use api_types::event::HomeroomUpdated;

pub fn emit(change: &HomeroomChange, builder: &mut EventBuilder<'_>) {
    match change {
        HomeroomChange::Created { homeroom } => emit_updated(homeroom, EventAction::Created, &[], &[], builder),
        HomeroomChange::Updated {
            homeroom,
            changed,
            students,
        } => emit_updated(homeroom, EventAction::Updated, &names(changed), students, builder),
        HomeroomChange::Deleted {
            homeroom,
            students,
            classes: _,
        } => emit_updated(homeroom, EventAction::Deleted, &[], students, builder),
        HomeroomChange::StudentsAdded { homeroom, students } => {
            let students: Vec<_> = students.iter().map(|student| student.id.clone()).collect();
            emit_updated(homeroom, EventAction::Updated, &["students"], &students, builder);
        }
        HomeroomChange::StudentRemoved { homeroom, student } => {
            let students = std::slice::from_ref(&student.id);
            emit_updated(homeroom, EventAction::Updated, &["students"], students, builder);
        }
    }
}

fn emit_updated(
    homeroom: &Homeroom,
    action: EventAction,
    changed: &[&str],
    students: &[UserId],
    builder: &mut EventBuilder<'_>,
) {
    let mut rooms = vec![builder.organization_staff()];
    rooms.extend(students.iter().cloned().map(Room::User));
    let payload = HomeroomUpdated {
        homeroom_id: homeroom.id.clone(),
        action,
        changed,
    };
    builder.emit(
        &EventBuilder::event_without_class(Event::HomeroomUpdated),
        rooms,
        payload,
    );
}
