//! Events of homerooms. Staff see all homerooms, students their own.

use model::change::homeroom::HomeroomChange;
use model::homeroom::Homeroom;
use model::id::UserId;
use model::news::{Event, EventAction, Room};

use super::telling::{Telling, names};
use api_types::event::HomeroomUpdated;

pub fn tell(change: &HomeroomChange, telling: &mut Telling<'_>) {
    match change {
        HomeroomChange::Created { homeroom } => updated(homeroom, EventAction::Created, &[], &[], telling),
        HomeroomChange::Updated {
            homeroom,
            changed,
            students,
        } => updated(homeroom, EventAction::Updated, &names(changed), students, telling),
        HomeroomChange::Deleted {
            homeroom,
            students,
            classes: _,
        } => updated(homeroom, EventAction::Deleted, &[], students, telling),
        HomeroomChange::StudentsAdded { homeroom, students } => {
            let students: Vec<_> = students.iter().map(|student| student.id.clone()).collect();
            updated(homeroom, EventAction::Updated, &["students"], &students, telling);
        }
        HomeroomChange::StudentRemoved { homeroom, student } => {
            let students = std::slice::from_ref(&student.id);
            updated(homeroom, EventAction::Updated, &["students"], students, telling);
        }
    }
}

fn updated(homeroom: &Homeroom, action: EventAction, changed: &[&str], students: &[UserId], telling: &mut Telling<'_>) {
    let mut rooms = vec![telling.organization_staff()];
    rooms.extend(students.iter().cloned().map(Room::User));
    let rest = HomeroomUpdated {
        homeroom_id: homeroom.id.clone(),
        action,
        changed,
    };
    telling.tell(&Telling::event_without_class(Event::HomeroomUpdated), rooms, rest);
}
