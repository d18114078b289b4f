//! The raised hand: the call reaches the staff of the class and nobody else; the group sees its own flag.

use model::change::help::HelpChange;
use model::news::Event;
use model::user::Person;
use model::whole::WholeGroup;
use serde_json::{Value, json};

use super::group::updated;
use super::telling::{Telling, json_of, named};
use crate::views::audience::Audience;
use crate::views::group::GroupView;

pub fn tell(change: &HelpChange, telling: &mut Telling<'_>) {
    match change {
        HelpChange::Requested { group, by, is_first: _ } => {
            call(group, &named(by), telling);
            updated(group, &["needsHelp", "helpRequestedAt", "helpMessage"], telling);
        }
        HelpChange::Claimed { group, by: _ } => {
            let asked = group.group.help.requested_by().and_then(|user| member(group, user));
            call(group, &asked.map_or(Value::Null, named), telling);
            // Who is on the way is for the staff alone, so nothing changed for the students.
            let told = Telling::event(&group.group.class_id, Event::GroupUpdated);
            let view = GroupView::event(group, &Audience::Staff, telling.now());
            telling.tell_staff(&told, json!({"group": json_of(&view), "changed": ["helpClaimedById"]}));
        }
        HelpChange::Resolved {
            group,
            by,
            message: _,
            note: _,
            waited_seconds,
        } => {
            let told = Telling::event(&group.group.class_id, Event::GroupHelpResolved);
            let rest = json!({
                "groupId": group.group.id,
                "needsHelp": false,
                "resolvedBy": named(by),
                "waitedSeconds": waited_seconds,
            });
            telling.tell_staff(&told, rest);
            updated(group, &["needsHelp", "helpRequestedAt", "helpMessage"], telling);
        }
    }
}

fn call(group: &WholeGroup, requested_by: &Value, telling: &mut Telling<'_>) {
    let (group, help) = (&group.group, &group.group.help);
    let told = Telling::event(&group.class_id, Event::GroupHelp);
    let rest = json!({
        "groupId": group.id,
        "groupName": group.name,
        "groupNumber": group.group_number,
        "needsHelp": true,
        "helpMessage": help.message(),
        "helpRequestedAt": help.requested_at(),
        "requestedBy": requested_by,
        "helpClaimedById": help.claimed_by(),
        "courseId": group.course_id,
    });
    telling.tell_staff(&told, rest);
}

fn member<'g>(group: &'g WholeGroup, user: &model::id::UserId) -> Option<&'g Person> {
    let found = group.members.iter().find(|member| member.user.id == *user);
    found.map(|member| &member.user)
}
