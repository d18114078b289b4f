//! Changes of accounts and memberships.

use super::groups;
use crate::access::MemberRole;
use crate::class::Class;
use crate::details::GroupDetails;
use crate::file::FileKey;
use crate::id::{ClassId, SessionId, UserId};
use crate::import::ImportCounts;
use crate::patch::FieldDiff;
use crate::user::{Member, Person, User};
use crate::version::VersionedObject;

/// A change of an account or a membership, as seen from one organization.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// A user became a member, with a new or an existing account.
    Created {
        user: Person,
        member: Member,
        /// Whether the account was created with the membership.
        is_new_account: bool,
    },
    Updated {
        user: Box<User>,
        changed: FieldDiff,
        /// The classes in which the name or the image is shown; empty if neither changed.
        seen_in: Vec<ClassId>,
        /// Whether this is one row of an import.
        is_imported: bool,
    },
    /// The user edited their own profile.
    ProfileEdited {
        user: Person,
        changed: FieldDiff,
        /// The classes in which the name or the image is shown; empty if neither changed.
        seen_in: Vec<ClassId>,
    },
    /// The membership was activated or deactivated; other organizations of the account are not affected.
    MembershipSwitched {
        user: Person,
        is_active: bool,
        /// The sessions in this organization that ended.
        sessions: Vec<SessionId>,
    },
    /// The role in the organization changed; sessions opened under the previous role ended.
    RoleChanged {
        user: Person,
        member: Member,
        from: MemberRole,
        /// The sessions that ended.
        sessions: Vec<SessionId>,
    },
    /// The account was taken over by the organization that holds the domain of its email address. Recorded for that
    /// organization and for those whose memberships ended with it.
    TakenOver {
        user: Person,
        /// Number of sessions that ended.
        ended_sessions: usize,
        /// Number of memberships in other organizations that were converted to invitations.
        ended_memberships: usize,
    },
    /// A temporary password was set; all sessions ended.
    PasswordReset { user: Person },
    /// An administrator removed the second factor; all sessions ended.
    SecondFactorReset { user: Person },
    /// The membership ended, and with it the enrolments, group memberships and sessions in this organization.
    MembershipEnded {
        user: Person,
        /// The membership before it ended.
        member: Member,
        /// The classes the user was enrolled in.
        classes: Vec<Class>,
        /// The groups after the user left.
        left: Vec<GroupDetails>,
        /// The sessions in this organization, or all sessions if the account was deactivated.
        sessions: Vec<SessionId>,
        /// Whether the account was deactivated because it has no membership left.
        is_deactivated: bool,
    },
    /// An import of users finished. The fields count rows.
    Imported {
        /// Accounts that were created.
        created: i64,
        /// Accounts that were updated.
        updated: i64,
        /// Users who were invited.
        invited: i64,
        /// Rows that changed nothing.
        skipped: i64,
        /// Rows that were rejected.
        failed: i64,
    },
    /// Progress of an import; only the user who started it is notified.
    ImportProgressed {
        /// The user who started the import.
        importer: UserId,
        /// Distinguishes concurrent imports of the same user.
        import_id: String,
        /// Total number of rows.
        rows: i64,
        /// Results of the rows processed so far.
        counts: ImportCounts,
        /// Whether the import is a dry run that changes nothing.
        is_dry_run: bool,
        /// Whether the last row was processed.
        is_finished: bool,
    },
    /// Personal data of a user was exported.
    Exported { user: Person },
    /// Personal data of a user was erased.
    Erased {
        /// The user, already anonymized.
        user: Person,
        /// The groups after the user left.
        left: Vec<GroupDetails>,
        /// Files that are no longer referenced.
        files: Vec<FileKey>,
    },
}

impl UserChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Erased { files, .. } => files,
            Self::Created { .. }
            | Self::Updated { .. }
            | Self::MembershipSwitched { .. }
            | Self::RoleChanged { .. }
            | Self::TakenOver { .. }
            | Self::PasswordReset { .. }
            | Self::SecondFactorReset { .. }
            | Self::MembershipEnded { .. }
            | Self::Imported { .. }
            | Self::ImportProgressed { .. }
            | Self::ProfileEdited { .. }
            | Self::Exported { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { user, .. } => vec![(&user.id).into()],
            Self::MembershipSwitched { user, .. }
            | Self::RoleChanged { user, .. }
            | Self::TakenOver { user, .. }
            | Self::PasswordReset { user }
            | Self::SecondFactorReset { user } => vec![(&user.id).into()],
            Self::MembershipEnded { classes, left, .. } => {
                let mut objects = groups(left);
                objects.extend(classes.iter().map(|class| VersionedObject::from(&class.id)));
                objects
            }
            Self::Erased { user, left, .. } => {
                let mut objects = groups(left);
                objects.push((&user.id).into());
                objects
            }
            // The statement that updates a profile raises its version itself.
            Self::ProfileEdited { .. }
            | Self::Created { .. }
            | Self::Imported { .. }
            | Self::ImportProgressed { .. }
            | Self::Exported { .. } => Vec::new(),
        }
    }
}
