//! Events of help requests. Only staff of the class receive the request; the group sees its own flag.

use model::change::help::HelpChange;
use model::news::Event;
use model::user::Person;
use model::whole::WholeGroup;

use super::group::updated;
use super::telling::Telling;
use api_types::audience::Audience;
use api_types::event::{EventGroup, EventPerson, GroupHelp, GroupHelpResolved, GroupUpdated};

pub fn tell(change: &HelpChange, telling: &mut Telling<'_>) {
    match change {
        HelpChange::Requested { group, by, is_first: _ } => {
            call(group, Some(by), telling);
            updated(group, &["needsHelp", "helpRequestedAt", "helpMessage"], telling);
        }
        HelpChange::Claimed { group, by: _ } => {
            let asked = group.group.help.requested_by().and_then(|user| member(group, user));
            call(group, asked, telling);
            // Only staff see who claimed the request, so nothing changed for students.
            let told = Telling::event(&group.group.class_id, Event::GroupUpdated);
            let rest = GroupUpdated {
                group: EventGroup::new(group, &Audience::Staff, telling.now()),
                changed: &["helpClaimedById"],
            };
            telling.tell_staff(&told, rest);
        }
        HelpChange::Resolved {
            group,
            by,
            message: _,
            note: _,
            waited_seconds,
        } => {
            let told = Telling::event(&group.group.class_id, Event::GroupHelpResolved);
            let rest = GroupHelpResolved {
                group_id: group.group.id.clone(),
                needs_help: false,
                resolved_by: EventPerson::from(by),
                waited_seconds: *waited_seconds,
            };
            telling.tell_staff(&told, rest);
            updated(group, &["needsHelp", "helpRequestedAt", "helpMessage"], telling);
        }
    }
}

fn call(group: &WholeGroup, requested_by: Option<&Person>, telling: &mut Telling<'_>) {
    let (group, help) = (&group.group, &group.group.help);
    let told = Telling::event(&group.class_id, Event::GroupHelp);
    let rest = GroupHelp {
        group_id: group.id.clone(),
        group_name: group.name.clone(),
        group_number: group.group_number,
        needs_help: true,
        help_message: help.message().cloned(),
        help_requested_at: help.requested_at(),
        requested_by: requested_by.map(EventPerson::from),
        help_claimed_by_id: help.claimed_by().cloned(),
        course_id: group.course_id.clone(),
    };
    telling.tell_staff(&told, rest);
}

fn member<'g>(group: &'g WholeGroup, user: &model::id::UserId) -> Option<&'g Person> {
    let found = group.members.iter().find(|member| member.user.id == *user);
    found.map(|member| &member.user)
}
