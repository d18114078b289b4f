//! Help requests of a group: students raise and withdraw them, staff claim and resolve them. The time at which a request was
//! raised does not change while it is open.

use api_macros::body;
use domain::change::HelpChange;
use domain::details::GroupDetails;
use domain::group::Group;
use domain::id::GroupId;
use domain::rate::RateLimit;
use domain::text::{HelpMessage, Note};

use super::acting_user::acting_person;
use super::rates;
use common::error::Result;
use db::WriteTx;

/// A help request.
#[body]
pub struct HelpRequest {
    /// What the group needs help with. If absent in a repeated request, the earlier message is kept.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub message: Option<HelpMessage>,
}

/// The resolution of a help request.
#[body]
pub struct HelpResolution {
    /// A note for the activity log.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub note: Option<Note>,
}

/// Raises a help request for a group of the caller; if one is open, only the message changes. The rate limit of the
/// group is counted after the check that the caller is a member, so that other users cannot exhaust it.
pub fn request(tx: &mut WriteTx<'_>, id: &GroupId, call: &HelpRequest, limit: Option<RateLimit>) -> Result<Group> {
    let details = tx.lock_group_for_help(id)?;
    rates::consume(tx, &format!("help:{id}"), limit)?;
    details.class.status.writable()?;
    let (by, mut group) = (acting_person(tx)?, details.group);
    let raised = group.help.raise(&by.id, call.message.clone(), tx.now());
    let details = write(tx, group)?;
    tx.record(HelpChange::Requested {
        group: Box::new(details.clone()),
        by,
        outcome: raised,
    });
    Ok(details.group)
}

/// Marks the help request of a group of the caller as no longer needed; no effect if none is open. The flag stays set
/// until staff resolve it.
pub fn withdraw(tx: &mut WriteTx<'_>, id: &GroupId) -> Result<Group> {
    let details = tx.lock_group_for_help(id)?;
    details.class.status.writable()?;
    let (by, mut group) = (acting_person(tx)?, details.group);
    if !group.help.withdraw(tx.now()) {
        return Ok(group);
    }
    let details = write(tx, group)?;
    tx.record(HelpChange::Withdrawn {
        group: Box::new(details.clone()),
        by,
    });
    Ok(details.group)
}

/// Marks the help request as claimed by the caller; no effect if none is open.
pub fn claim(tx: &mut WriteTx<'_>, id: &GroupId) -> Result<Group> {
    let mut group = group_to_handle(tx, id)?;
    let by = acting_person(tx)?;
    if !group.help.claim(&by.id) {
        return Ok(group);
    }
    let details = write(tx, group)?;
    tx.record(HelpChange::Claimed {
        group: Box::new(details.clone()),
        by,
    });
    Ok(details.group)
}

/// Closes the help request; no effect and no event if none is open.
pub fn resolve(tx: &mut WriteTx<'_>, id: &GroupId, handled: &HelpResolution) -> Result<Group> {
    let mut group = group_to_handle(tx, id)?;
    let by = acting_person(tx)?;
    let message = group.help.message().cloned();
    let Some(waited_seconds) = group.help.resolve(&by.id, tx.now()) else {
        return Ok(group);
    };
    let details = write(tx, group)?;
    tx.record(HelpChange::Resolved {
        group: Box::new(details.clone()),
        by,
        message,
        note: handled.note.clone(),
        waited_seconds,
    });
    Ok(details.group)
}

/// Returns a group whose class the caller manages.
fn group_to_handle(tx: &mut WriteTx<'_>, id: &GroupId) -> Result<Group> {
    let class = tx.group(id)?.details.group.class_id;
    tx.managed_class(&class)?.writable()?;
    Ok(tx.lock_group_for_help(id)?.group)
}

fn write(tx: &mut WriteTx<'_>, mut group: Group) -> Result<GroupDetails> {
    group.updated_at = tx.now();
    tx.update_help(&group)?;
    tx.whole_group(&group.id)
}
