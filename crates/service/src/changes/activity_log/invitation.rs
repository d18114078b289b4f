//! Log entries of invitations. The details contain the invited address, and the erasure of a user removes it.

use domain::activity::{Action, Category};
use domain::change::InvitationChange;
use domain::invitation::Invitation;
use serde_json::{Value, json};

use super::LogEntry;

pub(super) fn entry(change: &InvitationChange) -> LogEntry {
    match change {
        InvitationChange::Created { invitation, is_sent } => {
            about(Action::Create, invitation, json!({"isSent": is_sent}))
        }
        InvitationChange::Renewed { invitation, is_sent } => {
            about(Action::Update, invitation, json!({"isSent": is_sent}))
        }
        InvitationChange::Accepted { invitation, by } => {
            about(Action::Update, invitation, json!({"acceptedBy": by.as_str()}))
        }
        InvitationChange::Rejected { invitation } => about(Action::Update, invitation, json!({})),
        InvitationChange::Canceled { invitation } => about(Action::Delete, invitation, json!({})),
    }
}

fn about(action: Action, invitation: &Invitation, more: Value) -> LogEntry {
    let mut details = json!({
        "email": invitation.email,
        "role": invitation.role,
        "status": invitation.status,
    });
    if let (Value::Object(details), Value::Object(more)) = (&mut details, more) {
        details.extend(more);
    }
    LogEntry::new(Category::User, action, "invitation", &invitation.id, "").details(details)
}
