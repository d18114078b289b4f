//! Events of groups and their members. Sockets are moved between rooms before an event is emitted, so that new
//! members receive it and former members do not.

use domain::change::GroupChange;
use domain::details::GroupDetails;
use domain::group::GroupContext;
use domain::id::UserId;
use domain::realtime::{Event, GroupDeletionReason, Room};
use domain::user::Person;

use super::event_builder::{EventBuilder, names};
use api_types::event::{
    EventGroup, EventPerson, GroupCreated, GroupDeleted, GroupMembership, GroupRemoved, GroupUpdated,
};

pub fn emit(change: &GroupChange, builder: &mut EventBuilder<'_>) {
    match change {
        GroupChange::Created { group } => emit_created(group, builder),
        GroupChange::Updated { group, before, changed } => emit_moved(group, before, &names(changed), builder),
        GroupChange::Deleted {
            group: _,
            group_context,
            members,
            documents: _,
            submissions: _,
            files: _,
        } => emit_removed(group_context, members, GroupDeletionReason::Deleted, builder),
        GroupChange::MembersAdded { group, users } => {
            for user in users {
                emit_member_added(group, user, builder);
            }
            emit_updated(group, &["members"], builder);
        }
        GroupChange::MemberRemoved { group, user } => {
            emit_member_removed(group, user, builder);
            emit_updated(group, &["members"], builder);
        }
        GroupChange::MemberMoved { from, to, user } => {
            emit_member_removed(from, user, builder);
            emit_member_added(to, user, builder);
            emit_updated(from, &["members"], builder);
            emit_updated(to, &["members"], builder);
        }
        GroupChange::AttachmentChanged {
            group,
            attachment: _,
            is_added: _,
        } => emit_updated(group, &["attachments"], builder),
    }
}

pub fn emit_created(group: &GroupDetails, builder: &mut EventBuilder<'_>) {
    let (group_context, now) = (group.group_context(), builder.now());
    if group_context.is_open(now) {
        builder.resync_users(&group.member_ids(), Vec::new());
    }
    builder.emit_to_group(&group_context, Event::GroupCreated, |audience| GroupCreated {
        group: EventGroup::new(group, audience, now),
        course_id: group.group.course_id.clone(),
        subject_id: group.group.subject_id.clone(),
    });
}

/// Notifies the group about its new state.
pub fn emit_updated(group: &GroupDetails, changed: &[&str], builder: &mut EventBuilder<'_>) {
    let now = builder.now();
    builder.emit_to_group(&group.group_context(), Event::GroupUpdated, |audience| GroupUpdated {
        group: EventGroup::new(group, audience, now),
        changed,
    });
}

/// The fields of a group changed, and possibly its visibility to students.
pub fn emit_moved(group: &GroupDetails, before: &GroupContext, changed: &[&str], builder: &mut EventBuilder<'_>) {
    let (group_context, members) = (group.group_context(), group.member_ids());
    match (before.is_open(builder.now()), group_context.is_open(builder.now())) {
        (false, true) => builder.resync_users(&members, Vec::new()),
        (true, false) => {
            builder.resync_users(&members, vec![Room::Group(group_context.group.id.clone())]);
            for member in &members {
                emit_access_lost(&group_context, member, builder);
            }
        }
        (true, true) | (false, false) => {}
    }
    emit_updated(group, changed, builder);
}

/// A group was deleted. The event is emitted before its room is dissolved.
pub fn emit_removed(
    group_context: &GroupContext,
    members: &[UserId],
    reason: GroupDeletionReason,
    builder: &mut EventBuilder<'_>,
) {
    let payload = GroupDeleted {
        group_id: group_context.group.id.clone(),
        course_id: group_context.group.course_id.clone(),
        reason,
    };
    builder.emit_to_whole_group(group_context, Event::GroupDeleted, payload);
    builder.resync_users(members, vec![Room::Group(group_context.group.id.clone())]);
}

fn emit_member_added(group: &GroupDetails, user: &Person, builder: &mut EventBuilder<'_>) {
    let group_context = group.group_context();
    let mut rooms = group_context.rooms(builder.now());
    if group_context.is_open(builder.now()) {
        builder.resync_users([&user.id], Vec::new());
        rooms.push(Room::User(user.id.clone()));
    }
    let header = EventBuilder::event(&group_context.class, Event::GroupMemberAdded);
    builder.emit(&header, rooms, membership(group, user));
}

/// A user left the group; `group` is its state without them.
pub fn emit_member_removed(group: &GroupDetails, user: &Person, builder: &mut EventBuilder<'_>) {
    let group_context = group.group_context();
    builder.resync_users([&user.id], vec![Room::Group(group_context.group.id.clone())]);
    if group_context.is_open(builder.now()) {
        emit_access_lost(&group_context, &user.id, builder);
    }
    builder.emit_to_whole_group(&group_context, Event::GroupMemberRemoved, membership(group, user));
}

/// A user left these groups; they are in their state without them.
pub fn emit_left(groups: &[GroupDetails], user: &Person, builder: &mut EventBuilder<'_>) {
    for group in groups {
        emit_member_removed(group, user, builder);
        emit_updated(group, &["members"], builder);
    }
}

fn membership(group: &GroupDetails, user: &Person) -> GroupMembership {
    GroupMembership {
        group_id: group.group.id.clone(),
        user: EventPerson::from(user),
        member_ids: group.member_ids(),
    }
}

/// Notifies a student that a group is not visible any more, without the reason.
fn emit_access_lost(group_context: &GroupContext, user: &UserId, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&group_context.class, Event::GroupRemoved);
    let group_id = group_context.group.id.clone();
    builder.emit(&header, vec![Room::User(user.clone())], GroupRemoved { group_id });
}
