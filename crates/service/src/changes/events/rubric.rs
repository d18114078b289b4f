//! Events of reusable rubrics: teachers receive those of shared rubrics, the owner and administrators all.

use domain::change::RubricChange;
use domain::realtime::{Event, EventAction, Room};
use domain::rubric::Rubric;

use super::event_builder::EventBuilder;
use api_types::event::RubricUpdated;

pub fn emit(change: &RubricChange, builder: &mut EventBuilder<'_>) {
    match change {
        RubricChange::Created { rubric } => emit_updated(rubric, EventAction::Created, rubric.is_shared, builder),
        RubricChange::Updated {
            rubric,
            changed: _,
            was_shared,
        } => emit_updated(rubric, EventAction::Updated, rubric.is_shared || *was_shared, builder),
        RubricChange::Deleted { rubric } => emit_updated(rubric, EventAction::Deleted, rubric.is_shared, builder),
    }
}

fn emit_updated(rubric: &Rubric, action: EventAction, is_shared: bool, builder: &mut EventBuilder<'_>) {
    let payload = RubricUpdated {
        rubric_id: rubric.id.clone(),
        action,
    };
    let rooms = if is_shared {
        vec![builder.organization_staff()]
    } else {
        vec![Room::User(rubric.owner_id.clone()), builder.organization_admins()]
    };
    let header = EventBuilder::event_without_class(Event::RubricUpdated);
    builder.emit(&header, rooms, payload);
}
