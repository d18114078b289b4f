//! Log entries of organizations, email domains and sign-ins.

use domain::activity::{Action, Category};
use domain::change::{
    ApiTokenChange, MailDomainChange, OrganizationChange, PasskeyEvent, RosterChange, RosterRunStep, SecondFactorEvent,
    SessionChange, SignOnChange,
};
use domain::organization::{Organization, OrganizationStatus};
use domain::roster_source::{RosterRunState, RosterSource};
use domain::sign_on::SignOnProvider;
use domain::user::Person;
use serde_json::json;

use super::{LogEntry, difference, difference_and, person};

pub(super) fn entry(change: &OrganizationChange) -> Option<LogEntry> {
    let entry = match change {
        OrganizationChange::Created { organization, owner } => {
            about(Action::Create, organization).details(json!({"owner": owner.as_ref().map(person)}))
        }
        OrganizationChange::Imported {
            organization,
            name,
            origin,
        } => LogEntry::new(Category::Tenant, Action::Import, "organization", organization, name).details(json!({
            "installation": origin.installation,
            "takenAt": origin.taken_at,
            "slug": origin.slug,
            "release": origin.release,
            "accounts": origin.accounts,
            "invited": origin.invited,
        })),
        OrganizationChange::Updated { organization, changed } => {
            about(Action::Update, organization).details(difference(changed))
        }
        OrganizationChange::Suspended { organization, sessions } => {
            status(organization, OrganizationStatus::Active, sessions.len())
        }
        OrganizationChange::Activated {
            organization,
            sessions: _,
        } => status(organization, OrganizationStatus::Suspended, 0),
        OrganizationChange::Deleted { organization, sessions } => {
            about(Action::Delete, organization).details(json!({"endedSessions": sessions.len()}))
        }
        // The log is deleted with the organization.
        OrganizationChange::Purged { files: _ } => return None,
    };
    Some(entry)
}

/// Returns the log entry of a change to an email domain, without the token.
pub(super) fn mail_domain(change: &MailDomainChange) -> LogEntry {
    let (action, domain) = match change {
        MailDomainChange::Added { domain } => (Action::Create, domain),
        MailDomainChange::Verified { domain }
        | MailDomainChange::Failing { domain }
        | MailDomainChange::Lost { domain } => (Action::Update, domain),
        MailDomainChange::Removed { domain } => (Action::Delete, domain),
    };
    let (id, name) = (&domain.id, domain.domain.as_str());
    let entry = LogEntry::new(Category::Tenant, action, "mailDomain", id, name);
    entry.details(json!({
        "status": domain.status,
        "method": domain.method,
        "recordMissingSince": domain.failing_since,
    }))
}

/// Returns the log entry of a change to an API token, without its secret.
pub(super) fn api_token(change: &ApiTokenChange) -> LogEntry {
    let (action, token) = match change {
        ApiTokenChange::Created { token } => (Action::Create, token),
        ApiTokenChange::Revoked { token } => (Action::Delete, token),
    };
    let entry = LogEntry::new(Category::Tenant, action, "apiToken", &token.id, token.name.as_str());
    entry.details(json!({
        "scopes": token.scopes.as_slice(),
        "hint": token.hint,
        "actsFor": token.created_by_id,
        "expiresAt": token.expires_at,
    }))
}

/// Returns the log entry of a change to a sign-on provider or an identity, without secrets and subjects.
pub(super) fn sign_on(change: &SignOnChange) -> LogEntry {
    let about = |action, provider: &SignOnProvider| {
        let name = provider.name.as_str();
        LogEntry::new(Category::Tenant, action, "signOnProvider", &provider.id, name)
    };
    match change {
        SignOnChange::ProviderAdded { provider } => about(Action::Create, provider).details(json!({
            "issuer": provider.issuer,
            "linking": provider.linking,
            "accountCreation": provider.account_creation,
        })),
        SignOnChange::ProviderUpdated {
            provider,
            changed,
            is_secret_replaced,
        } => {
            let more = json!({"isSecretReplaced": is_secret_replaced});
            about(Action::Update, provider).details(difference_and(changed, more))
        }
        SignOnChange::ProviderRemoved { provider } => {
            about(Action::Delete, provider).details(json!({"issuer": provider.issuer}))
        }
        SignOnChange::IdentityLinked { provider, user, by } => {
            identity(Action::Create, user, provider).details(json!({
                "user": person(user),
                "provider": provider.name,
                "linkedBy": by,
            }))
        }
        SignOnChange::IdentityUnlinked { provider, user } => identity(Action::Delete, user, provider).details(json!({
            "user": person(user),
            "provider": provider.name,
        })),
    }
}

/// Returns the log entry of a change to a roster source or one of its runs, without secrets.
pub(super) fn roster(change: &RosterChange) -> Option<LogEntry> {
    let about = |action, source: &RosterSource| {
        let (id, name) = (&source.id, source.name.as_str());
        LogEntry::new(Category::Tenant, action, "rosterSource", id, name)
    };
    let entry = match change {
        RosterChange::SourceAdded { source } => about(Action::Create, source).details(json!({
            "protocol": source.protocol,
            "url": source.url,
            "endsAbsent": source.ends_absent,
            "leavePercent": source.leave_percent,
        })),
        RosterChange::SourceUpdated {
            source,
            changed,
            is_secret_replaced,
        } => {
            let more = json!({"isSecretReplaced": is_secret_replaced});
            about(Action::Update, source).details(difference_and(changed, more))
        }
        RosterChange::SourceRemoved { source } => about(Action::Delete, source).details(json!({"url": source.url})),
        // The start of a queued run was recorded when it was queued.
        RosterChange::Run { run, step, .. }
            if *step == RosterRunStep::Started && run.state == RosterRunState::Running =>
        {
            return None;
        }
        RosterChange::Run { source, run, step } => {
            let action = match step {
                RosterRunStep::Started => Action::Create,
                RosterRunStep::Ended | RosterRunStep::Confirmed | RosterRunStep::Discarded => Action::Update,
            };
            LogEntry::new(Category::Tenant, action, "rosterRun", &run.id, source.name.as_str()).details(json!({
                "kind": run.kind,
                "state": run.state,
                "counts": run.counts,
                "error": run.error_code,
            }))
        }
    };
    Some(entry)
}

fn identity(action: Action, user: &Person, provider: &SignOnProvider) -> LogEntry {
    LogEntry::new(Category::Auth, action, "externalIdentity", &provider.id, &user.name)
}

/// Returns the log entry of sessions: those that an administrator ended, and failed sign-ins. A failed sign-in names
/// only an existing account, because the entered text may be a password.
pub(super) fn session(change: &SessionChange) -> Option<LogEntry> {
    match change {
        SessionChange::Ended { .. } | SessionChange::OrganizationChosen { .. } => None,
        SessionChange::RevokedByAdmin { user, session } => {
            let details = json!({"user": person(user)});
            Some(LogEntry::new(Category::Auth, Action::Delete, "session", session, &user.name).details(details))
        }
        SessionChange::LoginFailed {
            user, email, address, ..
        } => {
            let id = user.as_ref().map(ToString::to_string).unwrap_or_default();
            let email = user.as_ref().map(|_| email);
            let details = json!({"email": email, "address": address});
            Some(LogEntry::new(Category::Auth, Action::LoginFailed, "user", id, "").details(details))
        }
        SessionChange::SignedIn {
            user,
            kind,
            name,
            address,
            organization: _,
        } => {
            let details = json!({"method": kind, "name": name, "address": address});
            Some(LogEntry::new(Category::Auth, Action::LoggedIn, "user", user, "").details(details))
        }
        SessionChange::Passkey {
            user,
            event,
            name,
            address,
        } => {
            let action = match event {
                PasskeyEvent::Added => Action::PasskeyAdded,
                PasskeyEvent::Removed => Action::PasskeyRemoved,
                PasskeyEvent::Rejected | PasskeyEvent::CounterRegressed => Action::PasskeyRejected,
            };
            let is_copy_suspected = *event == PasskeyEvent::CounterRegressed;
            let mut details = json!({"passkey": name, "address": address});
            if is_copy_suspected {
                details["isCopySuspected"] = true.into();
            }
            Some(LogEntry::new(Category::Auth, action, "user", user, "").details(details))
        }
        SessionChange::SecondFactor {
            user, event, address, ..
        } => {
            let action = match event {
                SecondFactorEvent::Enabled => Action::FactorEnabled,
                SecondFactorEvent::Disabled => Action::FactorDisabled,
                SecondFactorEvent::CodeRejected => Action::FactorFailed,
                SecondFactorEvent::RecoveryCodeUsed => Action::RecoveryCodeUsed,
                SecondFactorEvent::RecoveryCodesRenewed => Action::RecoveryCodesRenewed,
            };
            let details = json!({"address": address});
            Some(LogEntry::new(Category::Auth, action, "user", user, "").details(details))
        }
    }
}

fn about(action: Action, organization: &Organization) -> LogEntry {
    let (id, name) = (&organization.id, organization.name.as_str());
    LogEntry::new(Category::Tenant, action, "organization", id, name)
}

fn status(organization: &Organization, before: OrganizationStatus, ended_sessions: usize) -> LogEntry {
    about(Action::Update, organization).details(json!({
        "changed": ["status"],
        "before": {"status": before},
        "after": {"status": organization.status},
        "endedSessions": ended_sessions,
    }))
}
