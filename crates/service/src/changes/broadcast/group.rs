//! Events of groups and their members. Sockets are moved between rooms before an event is emitted, so that new
//! members receive it and former members do not.

use model::change::group::GroupChange;
use model::group::Place;
use model::id::UserId;
use model::news::{Event, GroupDeletionReason, Room};
use model::user::Person;
use model::whole::WholeGroup;

use super::telling::{Telling, names};
use api_types::event::{
    EventGroup, EventPerson, GroupCreated, GroupDeleted, GroupMembership, GroupRemoved, GroupUpdated,
};

pub fn tell(change: &GroupChange, telling: &mut Telling<'_>) {
    match change {
        GroupChange::Created { group } => created(group, telling),
        GroupChange::Updated { group, before, changed } => moved(group, before, &names(changed), telling),
        GroupChange::Deleted {
            group: _,
            place,
            members,
            documents: _,
            submissions: _,
            files: _,
        } => removed(place, members, GroupDeletionReason::Deleted, telling),
        GroupChange::MembersAdded { group, users } => {
            for user in users {
                added(group, user, telling);
            }
            updated(group, &["members"], telling);
        }
        GroupChange::MemberRemoved { group, user } => {
            left(group, user, telling);
            updated(group, &["members"], telling);
        }
        GroupChange::MemberMoved { from, to, user } => {
            left(from, user, telling);
            added(to, user, telling);
            updated(from, &["members"], telling);
            updated(to, &["members"], telling);
        }
        GroupChange::AttachmentAdded { group, attachment: _ }
        | GroupChange::AttachmentRemoved { group, attachment: _ } => {
            updated(group, &["attachments"], telling);
        }
    }
}

fn created(group: &WholeGroup, telling: &mut Telling<'_>) {
    let (place, now) = (group.place(), telling.now());
    if place.is_open(now) {
        telling.resync_users(&group.member_ids(), Vec::new());
    }
    telling.tell_group(&place, Event::GroupCreated, |audience| GroupCreated {
        group: EventGroup::new(group, audience, now),
        course_id: group.group.course_id.clone(),
        subject_id: group.group.subject_id.clone(),
    });
}

/// Notifies the group about its new state.
pub fn updated(group: &WholeGroup, changed: &[&str], telling: &mut Telling<'_>) {
    let now = telling.now();
    telling.tell_group(&group.place(), Event::GroupUpdated, |audience| GroupUpdated {
        group: EventGroup::new(group, audience, now),
        changed,
    });
}

/// The fields of a group changed, and possibly its visibility to students.
pub fn moved(group: &WholeGroup, before: &Place, changed: &[&str], telling: &mut Telling<'_>) {
    let (place, members) = (group.place(), group.member_ids());
    match (before.is_open(telling.now()), place.is_open(telling.now())) {
        (false, true) => telling.resync_users(&members, Vec::new()),
        (true, false) => {
            telling.resync_users(&members, vec![Room::Group(place.group.id.clone())]);
            for member in &members {
                lost(&place, member, telling);
            }
        }
        (true, true) | (false, false) => {}
    }
    updated(group, changed, telling);
}

/// A group was deleted. The event is emitted before its room is dissolved.
pub fn removed(place: &Place, members: &[UserId], reason: GroupDeletionReason, telling: &mut Telling<'_>) {
    let rest = GroupDeleted {
        group_id: place.group.id.clone(),
        course_id: place.group.course_id.clone(),
        reason,
    };
    telling.tell_group_alike(place, Event::GroupDeleted, rest);
    telling.resync_users(members, vec![Room::Group(place.group.id.clone())]);
}

fn added(group: &WholeGroup, user: &Person, telling: &mut Telling<'_>) {
    let place = group.place();
    let mut rooms = place.rooms(telling.now());
    if place.is_open(telling.now()) {
        telling.resync_users([&user.id], Vec::new());
        rooms.push(Room::User(user.id.clone()));
    }
    let told = Telling::event(&place.class, Event::GroupMemberAdded);
    telling.tell(&told, rooms, membership(group, user));
}

/// A user left the group; `group` is its state without them.
pub fn left(group: &WholeGroup, user: &Person, telling: &mut Telling<'_>) {
    let place = group.place();
    telling.resync_users([&user.id], vec![Room::Group(place.group.id.clone())]);
    if place.is_open(telling.now()) {
        lost(&place, &user.id, telling);
    }
    telling.tell_group_alike(&place, Event::GroupMemberRemoved, membership(group, user));
}

fn membership(group: &WholeGroup, user: &Person) -> GroupMembership {
    GroupMembership {
        group_id: group.group.id.clone(),
        user: EventPerson::from(user),
        member_ids: group.member_ids(),
    }
}

/// Notifies a student that a group is not visible any more, without the reason.
fn lost(place: &Place, user: &UserId, telling: &mut Telling<'_>) {
    let told = Telling::event(&place.class, Event::GroupRemoved);
    let group_id = place.group.id.clone();
    telling.tell(&told, vec![Room::User(user.clone())], GroupRemoved { group_id });
}
