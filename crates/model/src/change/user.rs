//! What happens to accounts and memberships.

use crate::access::MemberRole;
use crate::class::Class;
use crate::edit::Changed;
use crate::file::FileKey;
use crate::id::{ClassId, SessionId, UserId};
use crate::import::ImportCounts;
use crate::user::{Member, Person, User};
use crate::whole::WholeGroup;

/// What happened to an account or a membership, seen from one organization.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// Someone became a member, with a new account or with one they had.
    Created {
        /// The person.
        user: Person,
        /// The membership.
        member: Member,
        /// Whether the account is new too.
        is_new_account: bool,
    },
    /// The account changed.
    Updated {
        /// The account as it is now.
        user: Box<User>,
        /// What changed.
        changed: Changed,
        /// The classes in which the name or the image is shown; empty when both stayed.
        seen_in: Vec<ClassId>,
        /// Whether this is one row of an import.
        is_imported: bool,
    },
    /// The person changed the own profile.
    ProfileEdited {
        /// The person.
        user: Person,
        /// What changed.
        changed: Changed,
        /// The classes in which the name or the image is shown; empty when both stayed.
        seen_in: Vec<ClassId>,
    },
    /// The membership was deactivated or activated; the account works elsewhere as before.
    MembershipSwitched {
        /// The person.
        user: Person,
        /// Whether the membership is active.
        is_active: bool,
        /// The sessions that worked here and ended.
        sessions: Vec<SessionId>,
    },
    /// The role in the organization changed; the sessions opened under the old role ended.
    RoleChanged {
        /// The person.
        user: Person,
        /// The membership as it is now.
        member: Member,
        /// The role before.
        from: MemberRole,
        /// The sessions that ended with the old role.
        sessions: Vec<SessionId>,
    },
    /// The account was taken over by the organization that holds the domain of its address, recorded for that organization and for
    /// those whose memberships ended with it.
    TakenOver {
        /// The person.
        user: Person,
        /// How many sessions ended.
        ended_sessions: usize,
        /// How many memberships of other organizations became invitations.
        ended_memberships: usize,
    },
    /// A temporary password was given; all sessions are over.
    PasswordReset {
        /// The person.
        user: Person,
    },
    /// The membership ended, and with it enrolments, groups and sessions here.
    MembershipEnded {
        /// The person.
        user: Person,
        /// The membership as it was.
        member: Member,
        /// The classes the person learned in.
        classes: Vec<Class>,
        /// The groups, as they are without the person.
        left: Vec<WholeGroup>,
        /// The sessions that worked here, or all when the account was switched off.
        sessions: Vec<SessionId>,
        /// Whether the account was switched off because no membership is left.
        is_deactivated: bool,
    },
    /// People were imported.
    Imported {
        /// How many accounts are new.
        created: i64,
        /// How many changed.
        updated: i64,
        /// How many were invited.
        invited: i64,
        /// How many rows said nothing new.
        skipped: i64,
        /// How many rows were refused.
        failed: i64,
    },
    /// An import came so far; only who started it is told.
    ImportProgressed {
        /// Who started it.
        importer: UserId,
        /// Tells this import from others of the same person.
        import_id: String,
        /// How many rows there are.
        rows: i64,
        /// How the rows so far ended.
        counts: ImportCounts,
        /// Whether everything stays as it was.
        is_dry_run: bool,
        /// Whether this was the last row.
        is_finished: bool,
    },
    /// A person's data was handed out.
    Exported {
        /// The person.
        user: Person,
    },
    /// A person's data was erased.
    Erased {
        /// The person, without a name now.
        user: Person,
        /// The groups, as they are without the person.
        left: Vec<WholeGroup>,
        /// Files that nobody needs any more.
        files: Vec<FileKey>,
    },
}
