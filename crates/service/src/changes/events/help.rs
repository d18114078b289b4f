//! Events of help requests. Only staff of the class receive the request; the group sees its own flag, and who is on the
//! way.

use domain::change::HelpChange;
use domain::details::GroupDetails;
use domain::realtime::Event;
use domain::user::Person;

use super::event_builder::EventBuilder;
use super::group::emit_updated;
use api_types::audience::Audience;
use api_types::event::{EventGroup, EventPerson, GroupHelp, GroupHelpClaimed, GroupHelpResolved, GroupUpdated};

pub fn emit(change: &HelpChange, builder: &mut EventBuilder<'_>) {
    match change {
        HelpChange::Requested { group, by, outcome: _ } => {
            emit_help_requested(group, Some(by), builder);
            let changed = ["needsHelp", "helpRequestedAt", "helpMessage", "helpWithdrawnAt"];
            emit_updated(group, &changed, builder);
        }
        HelpChange::Withdrawn { group, by: _ } => {
            let asked = group.group.help.requested_by().and_then(|user| member(group, user));
            emit_help_requested(group, asked, builder);
            emit_updated(group, &["helpWithdrawnAt"], builder);
        }
        HelpChange::Claimed { group, by } => {
            let asked = group.group.help.requested_by().and_then(|user| member(group, user));
            emit_help_requested(group, asked, builder);
            // The field of the group is for staff; its students have an event of their own.
            let header = EventBuilder::event(&group.group.class_id, Event::GroupUpdated);
            let payload = GroupUpdated {
                group: EventGroup::new(group, &Audience::Staff, builder.now()),
                changed: &["helpClaimedById"],
            };
            builder.emit_to_staff(&header, payload);
            let header = EventBuilder::event(&group.group.class_id, Event::HelpClaimed);
            let payload = GroupHelpClaimed {
                group_id: group.group.id.clone(),
                claimed_by: EventPerson::from(by),
            };
            builder.emit_to_members(&header, &group.group_context(), payload);
        }
        HelpChange::Resolved {
            group,
            by,
            message: _,
            note: _,
            waited_seconds,
        } => {
            let header = EventBuilder::event(&group.group.class_id, Event::GroupHelpResolved);
            let payload = GroupHelpResolved {
                group_id: group.group.id.clone(),
                needs_help: false,
                resolved_by: EventPerson::from(by),
                waited_seconds: *waited_seconds,
            };
            builder.emit_to_staff(&header, payload);
            emit_updated(group, &["needsHelp", "helpRequestedAt", "helpMessage"], builder);
        }
    }
}

fn emit_help_requested(group: &GroupDetails, requested_by: Option<&Person>, builder: &mut EventBuilder<'_>) {
    let (group, help) = (&group.group, &group.group.help);
    let header = EventBuilder::event(&group.class_id, Event::GroupHelp);
    let payload = GroupHelp {
        group_id: group.id.clone(),
        group_name: group.name.clone(),
        group_number: group.group_number,
        needs_help: true,
        help_message: help.message().cloned(),
        help_requested_at: help.requested_at(),
        help_withdrawn_at: help.withdrawn_at(),
        requested_by: requested_by.map(EventPerson::from),
        help_claimed_by_id: help.claimed_by().cloned(),
        course_id: group.course_id.clone(),
    };
    builder.emit_to_staff(&header, payload);
}

fn member<'g>(group: &'g GroupDetails, user: &domain::id::UserId) -> Option<&'g Person> {
    let found = group.members.iter().find(|member| member.user.id == *user);
    found.map(|member| &member.user)
}
