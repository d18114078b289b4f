//! Converts each change to the socket signals that it causes: events with rooms and payloads, and commands that move
//! sockets between rooms first. Pure: a change contains everything that its payloads need.
//! [`Place::rooms`](model::group::Place::rooms) returns the rooms of a group and the views build the payloads; no
//! access rules are decided here.

mod assignment;
mod class;
mod course;
mod document;
mod feedback;
mod group;
mod help;
mod homeroom;
mod message;
mod organization;
mod session;
mod subject;
mod submission;
mod telling;
mod user;

use model::change::Change;
use model::change::invitation::InvitationChange;
use model::change::mail_domain::MailDomainChange;
use model::id::OrganizationId;
use model::news::Signal;
use model::time::Timestamp;

pub use self::session::orders as orders_of_session;
use self::telling::Telling;
use db::Actor;

/// Returns the signals of a change, in the order of their execution.
pub fn signals(change: &Change, actor: &Actor, organization: &OrganizationId, now: Timestamp) -> Vec<Signal> {
    let mut telling = Telling::new(actor, organization, now);
    match change {
        Change::Class(change) => class::tell(change, &mut telling),
        Change::Course(change) => course::tell(change, &mut telling),
        Change::Group(change) => group::tell(change, &mut telling),
        Change::Help(change) => help::tell(change, &mut telling),
        Change::Assignment(change) => assignment::tell(change, &mut telling),
        Change::Submission(change) => submission::tell(change, &mut telling),
        Change::Feedback(change) => feedback::tell(change, &mut telling),
        Change::Document(change) => document::tell(change, &mut telling),
        Change::Message(change) => message::tell(change, &mut telling),
        Change::User(change) => user::tell(change, &mut telling),
        Change::Organization(change) => organization::tell(change, &mut telling),
        Change::Session(change) => session::tell(change, &mut telling),
        Change::Subject(change) => subject::tell(change, &mut telling),
        Change::Homeroom(change) => homeroom::tell(change, &mut telling),
        Change::Administration(change) => user::administered(change, &mut telling),
        Change::Invitation(
            InvitationChange::Created { .. }
            | InvitationChange::Renewed { .. }
            | InvitationChange::Accepted { .. }
            | InvitationChange::Rejected { .. }
            | InvitationChange::Canceled { .. },
        ) => organization::list_changed("invitations", &mut telling),
        Change::MailDomain(
            MailDomainChange::Added { .. }
            | MailDomainChange::Verified { .. }
            | MailDomainChange::Failing { .. }
            | MailDomainChange::Lost { .. }
            | MailDomainChange::Removed { .. },
        ) => organization::list_changed("domains", &mut telling),
    }
    telling.signals()
}

#[cfg(test)]
#[path = "broadcast_samples.rs"]
mod samples;

#[cfg(test)]
#[path = "broadcast_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "broadcast_work_tests.rs"]
mod work_tests;
