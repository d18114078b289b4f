//! The help flag of a group: students raise it, staff claim and resolve it. While it is up its time never moves.

use garde::Validate;
use model::change::help::HelpChange;
use model::group::Group;
use model::help::Raise;
use model::id::GroupId;
use model::rate::Limit;
use model::text::{HelpMessage, Note};
use model::user::Person;
use model::whole::WholeGroup;
use serde::Deserialize;
use utoipa::ToSchema;

use super::rates;
use common::error::{Error, Result};
use db::Work;

/// A call for help.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// What it is about; a repeat without a message keeps the one there is.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub message: Option<HelpMessage>,
}

/// A call that was handled.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Handled {
    /// A remark for the log.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub note: Option<Note>,
}

/// Raises the flag of a group the caller is in; while it is up only the message changes. The group's rate is counted
/// when it is known to be his: nobody uses up the calls of others.
pub fn raise(work: &mut Work<'_>, id: &GroupId, call: &Call, limit: Option<Limit>) -> Result<Group> {
    let whole = work.group_to_help(id)?;
    rates::take(work, &format!("help:{id}"), limit)?;
    whole.class.status.writable()?;
    let (by, mut group) = (acting(work)?, whole.group);
    let raised = group.help.raise(&by.id, call.message.clone(), work.now());
    let whole = write(work, group)?;
    work.record(HelpChange::Requested {
        group: Box::new(whole.clone()),
        by,
        is_first: raised == Raise::First,
    });
    Ok(whole.group)
}

/// Says that the caller is on the way; nothing happens where nobody calls.
pub fn claim(work: &mut Work<'_>, id: &GroupId) -> Result<Group> {
    let mut group = to_handle(work, id)?;
    let by = acting(work)?;
    if !group.help.claim(&by.id) {
        return Ok(group);
    }
    let whole = write(work, group)?;
    work.record(HelpChange::Claimed {
        group: Box::new(whole.clone()),
        by,
    });
    Ok(whole.group)
}

/// Lowers the flag; a calm group stays calm and nothing is told.
pub fn resolve(work: &mut Work<'_>, id: &GroupId, handled: &Handled) -> Result<Group> {
    let mut group = to_handle(work, id)?;
    let by = acting(work)?;
    let message = group.help.message().cloned();
    let Some(waited_seconds) = group.help.resolve(&by.id, work.now()) else {
        return Ok(group);
    };
    let whole = write(work, group)?;
    work.record(HelpChange::Resolved {
        group: Box::new(whole.clone()),
        by,
        message,
        note: handled.note.clone(),
        waited_seconds,
    });
    Ok(whole.group)
}

/// The group whose call the caller may handle: he manages its class.
fn to_handle(work: &mut Work<'_>, id: &GroupId) -> Result<Group> {
    let class = work.group(id)?.whole.group.class_id;
    work.managed_class(&class)?.writable()?;
    Ok(work.group_to_help(id)?.group)
}

fn write(work: &mut Work<'_>, mut group: Group) -> Result<WholeGroup> {
    group.updated_at = work.now();
    work.update_help(&group)?;
    work.whole_group(&group.id)
}

/// The person who acts, as events name him.
fn acting(work: &Work<'_>) -> Result<Person> {
    let actor = work.actor();
    Ok(Person {
        id: actor.user.clone().ok_or(Error::Unauthenticated)?,
        name: actor.name.clone(),
        image: None,
    })
}
