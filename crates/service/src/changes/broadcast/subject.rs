//! Events of subjects, which all members of an organization see.

use model::change::subject::SubjectChange;
use model::news::{Event, EventAction};
use model::subject::Subject;

use super::telling::{Telling, names};
use api_types::event::SubjectUpdated;

pub fn tell(change: &SubjectChange, telling: &mut Telling<'_>) {
    match change {
        SubjectChange::Created { subject } => updated(subject, EventAction::Created, &[], telling),
        SubjectChange::Updated { subject, changed } => {
            updated(subject, EventAction::Updated, &names(changed), telling);
        }
        SubjectChange::Deleted { subject } => updated(subject, EventAction::Deleted, &[], telling),
    }
}

fn updated(subject: &Subject, action: EventAction, changed: &[&str], telling: &mut Telling<'_>) {
    let rest = SubjectUpdated {
        subject_id: subject.id.clone(),
        action,
        changed,
    };
    let told = Telling::event_without_class(Event::SubjectUpdated);
    telling.tell(&told, vec![telling.organization()], rest);
}
