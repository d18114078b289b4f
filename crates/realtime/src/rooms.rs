//! The names of rooms. Only this module formats them, and clients never name one.

use domain::id::{OrganizationId, SessionId, UserId};
use domain::realtime::Room;

/// The name of a room.
pub fn name(room: &Room) -> String {
    match room {
        Room::User(user) => format!("user:{user}"),
        Room::Class(class) => format!("class:{class}"),
        Room::Staff(class) => format!("class:{class}:staff"),
        Room::Group(group) => format!("group:{group}"),
        Room::Document(document) => format!("document:{document}"),
        Room::Organization(organization) => format!("organization:{organization}"),
        Room::OrganizationStaff(organization) => format!("organization:{organization}:staff"),
        Room::OrganizationAdmins(organization) => format!("organization:{organization}:admins"),
    }
}

/// The names of the rooms of an event. For an event of an organization, a user's room contains only the sockets of the
/// user in that organization.
pub fn names(rooms: &[Room], organization: Option<&OrganizationId>) -> Vec<String> {
    rooms
        .iter()
        .map(|room| match (room, organization) {
            (Room::User(user), Some(organization)) => user_in(user, organization),
            _ => name(room),
        })
        .collect()
}

/// The sockets of a user in an organization.
pub fn user_in(user: &UserId, organization: &OrganizationId) -> String {
    format!("user:{user}@{organization}")
}

/// All sockets of a user from the first moment, to find, count and disconnect them. Events are not sent here, because the
/// session of a new socket may have ended: `user:…` contains a socket only after its session was checked again.
pub fn sockets_of(user: &UserId) -> String {
    format!("sockets:{user}")
}

/// The sockets of a session, from the first moment. Events are not sent here, as in [`sockets_of`].
pub fn session(session: &SessionId) -> String {
    format!("session:{session}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{ClassId, GroupId};

    #[test]
    fn rooms_have_the_documented_names() {
        let class = ClassId::new("c");
        assert_eq!(name(&Room::User(UserId::new("u"))), "user:u");
        assert_eq!(name(&Room::Class(class.clone())), "class:c");
        assert_eq!(name(&Room::Staff(class)), "class:c:staff");
        assert_eq!(name(&Room::Group(GroupId::new("g"))), "group:g");
    }

    #[test]
    fn user_room_is_limited_to_sockets_of_the_organization() {
        let rooms = [Room::User(UserId::new("u")), Room::Group(GroupId::new("g"))];
        let north = OrganizationId::new("north");
        assert_eq!(names(&rooms, Some(&north)), ["user:u@north", "group:g"]);
        assert_eq!(names(&rooms, None), ["user:u", "group:g"]);
    }
}
