//! Events of organizations. When an organization is closed, the sockets of its members are closed.

use domain::change::OrganizationChange;
use domain::realtime::{ConnectionTarget, Event, KillReason, Room};

use super::event_builder::{EventBuilder, names};
use api_types::event::OrganizationUpdated;

pub fn emit(change: &OrganizationChange, builder: &mut EventBuilder<'_>) {
    match change {
        OrganizationChange::Suspended {
            organization: _,
            sessions,
        }
        | OrganizationChange::Deleted {
            organization: _,
            sessions,
        } => builder.close_each(sessions, KillReason::OrganizationClosed),
        // Sockets that connected during the suspension have no rooms.
        OrganizationChange::Activated {
            organization: _,
            sessions,
        } => builder.resync(
            sessions.iter().cloned().map(ConnectionTarget::Session).collect(),
            Vec::new(),
        ),
        OrganizationChange::Updated { organization, changed } => {
            if changed.has("metadata") {
                // Staff who need a second factor from now on receive no more events.
                let staff = Room::OrganizationStaff(organization.id.clone());
                builder.resync(vec![ConnectionTarget::Room(staff)], Vec::new());
            }
            let header = EventBuilder::event_without_class(Event::OrganizationUpdated);
            let payload = OrganizationUpdated {
                changed: &names(changed),
            };
            builder.emit(&header, vec![builder.organization()], payload);
        }
        OrganizationChange::Created { .. }
        | OrganizationChange::Imported { .. }
        | OrganizationChange::Purged { .. } => {}
    }
}

/// Notifies administrators that one of their lists changed.
pub fn list_changed(list: &str, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event_without_class(Event::OrganizationUpdated);
    let payload = OrganizationUpdated { changed: &[list] };
    builder.emit(&header, vec![builder.organization_admins()], payload);
}
