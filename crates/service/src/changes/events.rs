//! Converts each change to the socket signals that it causes: events with rooms and payloads, and commands that move
//! sockets between rooms first. Pure: a change contains everything that its payloads need.
//! [`GroupContext::rooms`](domain::group::GroupContext::rooms) returns the rooms of a group and the views build the
//! payloads; no access rules are decided here.

mod assignment;
mod class;
mod comment;
mod course;
mod deletion;
mod document;
mod event_builder;
mod feedback;
mod group;
mod help;
mod homeroom;
mod message;
mod organization;
mod rubric;
mod session;
mod subject;
mod submission;
mod user;

use domain::change::{ApiTokenChange, Change, InvitationChange, MailDomainChange, SignOnChange, SnippetChange};
use domain::id::OrganizationId;
use domain::realtime::{Event, Room, Signal};
use domain::time::Timestamp;

use self::event_builder::EventBuilder;
pub use self::session::signals as session_signals;
use api_types::event::EmptyPayload;
use db::Actor;

/// Returns the signals of a change, in the order of their execution.
pub fn signals(change: &Change, actor: &Actor, organization: &OrganizationId, now: Timestamp) -> Vec<Signal> {
    let mut builder = EventBuilder::new(actor, organization, now);
    match change {
        Change::Class(change) => class::emit(change, &mut builder),
        Change::Course(change) => course::emit(change, &mut builder),
        Change::Group(change) => group::emit(change, &mut builder),
        Change::Help(change) => help::emit(change, &mut builder),
        Change::Assignment(change) => assignment::emit(change, &mut builder),
        Change::Submission(change) => submission::emit(change, &mut builder),
        Change::Feedback(change) => feedback::emit(change, &mut builder),
        Change::Document(change) => document::emit(change, &mut builder),
        Change::Comment(change) => comment::emit(change, &mut builder),
        Change::Message(change) => message::emit(change, &mut builder),
        Change::User(change) => user::emit(change, &mut builder),
        Change::Organization(change) => organization::emit(change, &mut builder),
        Change::Session(change) => session::emit(change, &mut builder),
        Change::Subject(change) => subject::emit(change, &mut builder),
        Change::Homeroom(change) => homeroom::emit(change, &mut builder),
        Change::Administration(change) => user::emit_administration(change, &mut builder),
        Change::Deletion(change) => deletion::emit(change, &mut builder),
        Change::Invitation(
            InvitationChange::Created { .. }
            | InvitationChange::Renewed { .. }
            | InvitationChange::Accepted { .. }
            | InvitationChange::Rejected { .. }
            | InvitationChange::Canceled { .. },
        ) => organization::list_changed("invitations", &mut builder),
        Change::MailDomain(
            MailDomainChange::Added { .. }
            | MailDomainChange::Verified { .. }
            | MailDomainChange::Failing { .. }
            | MailDomainChange::Lost { .. }
            | MailDomainChange::Removed { .. },
        ) => organization::list_changed("domains", &mut builder),
        Change::ApiToken(ApiTokenChange::Created { .. } | ApiTokenChange::Revoked { .. }) => {
            organization::list_changed("apiTokens", &mut builder);
        }
        Change::SignOn(
            SignOnChange::ProviderAdded { .. }
            | SignOnChange::ProviderUpdated { .. }
            | SignOnChange::ProviderRemoved { .. }
            | SignOnChange::IdentityLinked { .. }
            | SignOnChange::IdentityUnlinked { .. },
        ) => organization::list_changed("signOn", &mut builder),
        Change::Roster(_) => organization::list_changed("rosters", &mut builder),
        Change::Rubric(change) => rubric::emit(change, &mut builder),
        Change::Snippet(SnippetChange::Updated { user }) => {
            let header = EventBuilder::event_without_class(Event::SnippetsUpdated);
            builder.emit(&header, vec![Room::User(user.clone())], EmptyPayload {});
        }
    }
    builder.signals()
}

#[cfg(test)]
#[path = "events_samples.rs"]
mod samples;

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "events_work_tests.rs"]
mod work_tests;
