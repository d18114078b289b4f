//! Events of subjects, which all members of an organization see.

use domain::change::SubjectChange;
use domain::realtime::{Event, EventAction};
use domain::subject::Subject;

use super::event_builder::{EventBuilder, names};
use api_types::event::SubjectUpdated;

pub fn emit(change: &SubjectChange, builder: &mut EventBuilder<'_>) {
    match change {
        SubjectChange::Created { subject } => emit_updated(subject, EventAction::Created, &[], builder),
        SubjectChange::Updated { subject, changed } => {
            emit_updated(subject, EventAction::Updated, &names(changed), builder);
        }
        SubjectChange::Deleted { subject } => emit_updated(subject, EventAction::Deleted, &[], builder),
    }
}

fn emit_updated(subject: &Subject, action: EventAction, changed: &[&str], builder: &mut EventBuilder<'_>) {
    let payload = SubjectUpdated {
        subject_id: subject.id.clone(),
        action,
        changed,
    };
    let header = EventBuilder::event_without_class(Event::SubjectUpdated);
    builder.emit(&header, vec![builder.organization()], payload);
}
