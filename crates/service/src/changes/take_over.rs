//! Adds users to an organization that has email domains: accounts that can be taken over are taken over in the same
//! transaction, before the membership is inserted.

use crate::actions::take_over::take_over;
use adapters::mailer::Mailer;
use common::error::Result;
use db::platform::CrossTenantReason;
use db::{RequestContext, Store, WriteTx};
use realtime::bus::EventBus;

/// Runs `act` as one transaction in the organization of `context`, after taking over the accounts of these
/// addresses (lower case) where the rules allow it.
pub async fn perform_taking_over<T: Send + 'static>(
    (store, bus): (&Store, &EventBus),
    context: RequestContext,
    emails: Vec<String>,
    mail: Option<Mailer>,
    mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let look = store.read(context.clone(), move |tx| tx.due_take_overs(&emails));
    let due = look.await?;
    if due.is_empty() {
        return super::perform(store, bus, context, act).await;
    }
    super::perform_platform(store, bus, CrossTenantReason::TakeOver, move |tx| {
        for email in &due {
            take_over(tx, &context, email, mail.as_ref())?;
        }
        tx.write_in_tenant(context.clone(), |tx| act(tx))
    })
    .await
}
