//! Adds, removes and moves members of groups. Only students who are enrolled in the class can be members.

use api_macros::body;
use domain::change::GroupChange;
use domain::domain_error::DomainError;
use domain::group::{Group, GroupMember, GroupRole};
use domain::id::{GroupId, GroupMemberId, SubmissionId, UserId};
use domain::list::{List, not_empty};
use domain::user::Person;

use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::groups::VisibleGroup;

/// The students to add to a group.
#[body]
pub struct NewMembers {
    /// Students of the class.
    #[serde(alias = "memberIds", alias = "userIds")]
    #[garde(dive, custom(not_empty))]
    pub student_ids: List<UserId>,
}

/// The target of a move.
#[body]
pub struct Move {
    /// Another group of the same class.
    pub to_group_id: GroupId,
    /// Only report what would change. Equivalent to the query parameter `dryRun`.
    #[serde(default)]
    pub dry_run: bool,
}

/// The result of adding members.
#[derive(Debug, Clone)]
pub struct AddedMembers {
    /// The group after the change.
    pub group: VisibleGroup,
    /// New members who are also in another group on one of the same topics.
    pub already_in_topic: Vec<UserId>,
}

/// The result of moving a member.
#[derive(Debug, Clone)]
pub struct MemberMove {
    /// The former group.
    pub from: VisibleGroup,
    /// The new group.
    pub to: VisibleGroup,
    /// Submissions that the member took part in. They stay with the former group.
    pub kept_submissions: Vec<SubmissionId>,
}

/// Adds students of the class to a group; those who are members already are unchanged.
pub fn add(tx: &mut WriteTx<'_>, id: &GroupId, new: &NewMembers) -> Result<AddedMembers> {
    let details = tx.lock_writable_group(id)?;
    let present = details.member_ids();
    let coming: Vec<UserId> = new
        .student_ids
        .iter()
        .filter(|user| !present.contains(user))
        .cloned()
        .collect();
    let users = join(tx, &details.group, present.len(), &coming)?;
    let group = tx.group(id)?;
    if !users.is_empty() {
        let group = Box::new(group.details.clone());
        tx.record(GroupChange::MembersAdded { group, users });
    }
    let mut already_in_topic = tx.members_of_same_topics(id)?;
    already_in_topic.retain(|user| new.student_ids.contains(user));
    Ok(AddedMembers {
        group,
        already_in_topic,
    })
}

/// Inserts memberships of students who are not in the group yet. The caller holds the lock of the class.
pub(super) fn join(tx: &mut WriteTx<'_>, group: &Group, present: usize, coming: &[UserId]) -> Result<Vec<Person>> {
    if coming.is_empty() {
        return Ok(Vec::new());
    }
    let enrolled = tx.enrolled(&group.class_id)?;
    let mut strangers = Vec::new();
    for user in coming.iter().filter(|user| !enrolled.contains_key(*user)) {
        // Ids of users outside the organization are not found, like ids that do not exist.
        if !tx.is_member(user)? {
            return Err(Error::NotFound);
        }
        strangers.push(user.clone());
    }
    if !strangers.is_empty() {
        return Err(DomainError::StudentNotEnrolled { users: strangers }.into());
    }
    Group::room_for(present + coming.len())?;
    let students = coming.iter().filter_map(|user| enrolled.get(user));
    let mut joined = Vec::with_capacity(coming.len());
    for student in students {
        let member = GroupMember {
            id: GroupMemberId::new(clock::new_id()),
            group_id: group.id.clone(),
            user: student.person.clone(),
            email: student.email.clone(),
            role: GroupRole::Member,
            joined_at: tx.now(),
        };
        tx.insert_group_member(&group.class_id, &member)?;
        joined.push(student.person.clone());
    }
    Ok(joined)
}

/// Removes a student from a group.
pub fn remove(tx: &mut WriteTx<'_>, id: &GroupId, user: &UserId) -> Result<VisibleGroup> {
    let details = tx.lock_writable_group(id)?;
    let member = details.members.into_iter().find(|member| member.user.id == *user);
    let user = member.ok_or(Error::NotFound)?.user;
    tx.delete_group_member(id, &user.id)?;
    let group = tx.group(id)?;
    tx.record(GroupChange::MemberRemoved {
        group: Box::new(group.details.clone()),
        user,
    });
    Ok(group)
}

/// Moves a student to another group of the class. Submissions stay with the former group.
pub fn move_to(tx: &mut WriteTx<'_>, id: &GroupId, user: &UserId, wanted: &Move) -> Result<MemberMove> {
    let from = tx.lock_writable_group(id)?;
    let member = from.members.iter().find(|member| member.user.id == *user);
    let member = member.ok_or(Error::NotFound)?.clone();
    let to = tx.group(&wanted.to_group_id)?.details;
    if to.group.class_id != from.group.class_id {
        return Err(DomainError::ClassMismatch.into());
    }
    if to.group.id == from.group.id {
        return Err(Error::invalid("toGroupId", "same", "must be another group"));
    }
    let is_there = to.members.iter().any(|other| other.user.id == *user);
    if !is_there {
        Group::room_for(to.members.len() + 1)?;
    }
    tx.delete_group_member(id, user)?;
    let arrival = GroupMember {
        id: GroupMemberId::new(clock::new_id()),
        group_id: to.group.id.clone(),
        role: GroupRole::Member,
        joined_at: tx.now(),
        ..member.clone()
    };
    tx.insert_group_member(&to.group.class_id, &arrival)?;
    let (from, to) = (tx.group(id)?, tx.group(&to.group.id)?);
    tx.record(GroupChange::MemberMoved {
        from: Box::new(from.details.clone()),
        to: Box::new(to.details.clone()),
        user: member.user,
    });
    Ok(MemberMove {
        from,
        to,
        kept_submissions: tx.submissions_with(id, user)?,
    })
}
