//! The user who acts in a transaction.

use domain::id::UserId;
use domain::user::Person;

use common::error::{Error, Result};
use db::WriteTx;

/// Returns the id of the acting user; [`Error::Unauthenticated`] if the service itself acts.
pub(super) fn acting_user(tx: &WriteTx<'_>) -> Result<UserId> {
    tx.actor().user.clone().ok_or(Error::Unauthenticated)
}

/// Returns the acting user as shown in events.
pub(super) fn acting_person(tx: &WriteTx<'_>) -> Result<Person> {
    Ok(Person {
        id: acting_user(tx)?,
        name: tx.actor().name.clone(),
        image: None,
    })
}
