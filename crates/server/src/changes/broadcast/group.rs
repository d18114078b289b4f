//! Groups and who is in them. Sockets move before anything is told: newcomers hear of the group they joined, those who
//! left hear nothing of it any more.

use model::change::group::GroupChange;
use model::group::Place;
use model::id::UserId;
use model::news::{Event, Room};
use model::user::Person;
use model::whole::WholeGroup;
use serde_json::json;

use super::telling::{Telling, named, names};
use crate::views::group::GroupView;

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
        } => removed(place, members, "DELETED", telling),
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
    telling.tell_group(&place, Event::GroupCreated, |audience| {
        json!({
            "group": GroupView::event(group, audience, now),
            "courseId": group.group.course_id,
            "subjectId": group.group.subject_id,
        })
    });
}

/// The group as it is now.
pub fn updated(group: &WholeGroup, changed: &[&str], telling: &mut Telling<'_>) {
    let now = telling.now();
    telling.tell_group(
        &group.place(),
        Event::GroupUpdated,
        |audience| json!({"group": GroupView::event(group, audience, now), "changed": changed}),
    );
}

/// A group whose fields changed, and perhaps with them whether its students see it.
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

/// A group that is gone; told before its room is dissolved.
pub fn removed(place: &Place, members: &[UserId], reason: &str, telling: &mut Telling<'_>) {
    let rest = json!({"groupId": place.group.id, "courseId": place.group.course_id, "reason": reason});
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
    let rest = json!({"groupId": place.group.id, "user": named(user), "memberIds": group.member_ids()});
    telling.tell(&Telling::event(&place.class, Event::GroupMemberAdded), rooms, rest);
}

/// Somebody left the group, which `group` shows without him.
pub fn left(group: &WholeGroup, user: &Person, telling: &mut Telling<'_>) {
    let place = group.place();
    telling.resync_users([&user.id], vec![Room::Group(place.group.id.clone())]);
    if place.is_open(telling.now()) {
        lost(&place, &user.id, telling);
    }
    let rest = json!({"groupId": place.group.id, "user": named(user), "memberIds": group.member_ids()});
    telling.tell_group_alike(&place, Event::GroupMemberRemoved, rest);
}

/// Tells a student, to whom the group was visible, that it is not any more; not why.
fn lost(place: &Place, user: &UserId, telling: &mut Telling<'_>) {
    let told = Telling::event(&place.class, Event::GroupRemoved);
    telling.tell(
        &told,
        vec![Room::User(user.clone())],
        json!({"groupId": place.group.id}),
    );
}
