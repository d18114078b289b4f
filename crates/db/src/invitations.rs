//! Invitations of one organization. Look-ups across organizations (by token or by email address) are in
//! `platform/invitations.rs`.

use domain::id::{InvitationId, UserId};
use domain::invitation::{EnrollmentTargets, Invitation};
use domain::time::Timestamp;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    pub(crate) INVITATION_COLUMNS = "i.id, i.organization_id, i.email, i.name, i.role, i.external_id, i.class_ids,
        i.homeroom_ids, i.is_home, i.inviter_id,
            i.status, i.sent_at, i.expires_at, i.created_at, i.updated_at";
}

/// Maximum length of the invitation lists of Better Auth, which are not paginated.
const NEWEST_LIMIT: i64 = 1000;

statements! {
    BY_ID = "SELECT {INVITATION_COLUMNS} FROM invitations i WHERE i.organization_id = $1 AND i.id = $2";
    /// Locks the row until the end of the transaction.
    HOLD = "SELECT id FROM invitations WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// The pending invitation of an email address, expired or not.
    PENDING_OF_ADDRESS = "SELECT id FROM invitations
        WHERE organization_id = $1 AND email = $2 AND status = 'pending'";
    /// The pending invitation with an external id.
    PENDING_OF_EXTERNAL_ID = "SELECT id FROM invitations
        WHERE organization_id = $1 AND external_id = $2 AND status = 'pending'";
    /// When an email was last sent to an address.
    LAST_SENT = "SELECT MAX(sent_at) FROM invitations WHERE organization_id = $1 AND email = $2";
    /// A page of the pending invitations, newest first.
    PAGE = "SELECT {INVITATION_COLUMNS} FROM invitations i
        WHERE i.organization_id = $1 AND i.status = 'pending' AND (i.created_at, i.id) < ($2, $3)
        ORDER BY i.created_at DESC, i.id DESC LIMIT $4";
    NEWEST = "SELECT {INVITATION_COLUMNS} FROM invitations i WHERE i.organization_id = $1
        ORDER BY i.created_at DESC, i.id DESC LIMIT $2";
    /// Inserts an invitation unless the address has a pending one.
    INSERT = "INSERT INTO invitations (organization_id, id, email, name, role, external_id, class_ids, homeroom_ids,
            inviter_id, status, sent_at, expires_at, created_at, updated_at, is_home)
        VALUES ($1, :id, :email, :name, :role, :external_id, :class_ids, :homeroom_ids, :inviter_id, :status,
            :sent_at, :expires_at, :created_at, :updated_at, :is_home)
        ON CONFLICT DO NOTHING";
    /// Updates every mutable field.
    UPDATE = "UPDATE invitations SET name = :name, role = :role, external_id = :external_id, class_ids = :class_ids,
            homeroom_ids = :homeroom_ids, inviter_id = :inviter_id, status = :status, sent_at = :sent_at,
            expires_at = :expires_at, updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
    /// The classes in which a member is a student or a co-teacher. Enrollments from a homeroom follow the homeroom.
    CLASSES_OF_MEMBER = "SELECT class_id FROM class_enrollments
        WHERE organization_id = $1 AND student_id = $2 AND NOT from_homeroom
        UNION SELECT class_id FROM class_teachers WHERE organization_id = $1 AND user_id = $2 ORDER BY class_id";
    HOMEROOMS_OF_MEMBER = "SELECT homeroom_id FROM homeroom_enrollments WHERE organization_id = $1 AND student_id = $2
        ORDER BY homeroom_id";
    /// Makes this organization the home organization of an account that has none.
    RESTORE_HOME = "UPDATE users SET home_organization_id = $1 WHERE id = $2 AND home_organization_id IS NULL";
    /// Sets the digest of the emailed token, which invalidates the previous token.
    SET_TOKEN = "UPDATE invitations SET token_digest = $3 WHERE organization_id = $1 AND id = $2";
}

impl ReadTx<'_> {
    pub fn invitation(&mut self, id: &InvitationId) -> Result<Invitation> {
        self.fetch_one(&BY_ID, args![id], invitation)
    }

    /// Returns a page of the pending invitations, newest first, including expired ones.
    pub fn pending_invitations(&mut self, window: &Window<i64>) -> Result<Slice<Invitation, i64>> {
        let (time, id) = window.newest_before();
        let rows = self.fetch_all(&PAGE, args![time, id, window.rows()], invitation)?;
        Ok(window.cut(rows, |invitation| Position {
            key: invitation.created_at.as_millis(),
            id: invitation.id.to_string(),
        }))
    }

    /// Lists the newest [`NEWEST_LIMIT`] invitations of any status, oldest first.
    pub fn newest_invitations(&mut self) -> Result<Vec<Invitation>> {
        let mut newest = self.fetch_all(&NEWEST, args![NEWEST_LIMIT], invitation)?;
        newest.reverse();
        Ok(newest)
    }

    /// Returns when this organization last sent an invitation to an address.
    pub fn last_invitation_sent(&mut self, email: &str) -> Result<Option<Timestamp>> {
        let found = self.fetch_optional(&LAST_SENT, args![email], |row| row.only::<Option<Timestamp>>())?;
        Ok(found.flatten())
    }
}

impl WriteTx<'_> {
    /// Returns an invitation, locked until the end of the transaction.
    pub fn lock_invitation(&mut self, id: &InvitationId) -> Result<Invitation> {
        self.fetch_one(&HOLD, args![id], |row| row.get::<InvitationId>("id"))?;
        self.invitation(id)
    }

    /// Returns the pending invitation of an email address, expired or not, locked until the end of the transaction.
    pub fn pending_invitation(&mut self, email: &str) -> Result<Option<Invitation>> {
        let found = self.fetch_optional(&PENDING_OF_ADDRESS, args![email], |row| row.get::<InvitationId>("id"))?;
        found.map(|id| self.lock_invitation(&id)).transpose()
    }

    /// Returns the pending invitation with an external id, locked until the end of the transaction.
    pub fn pending_invitation_of_external_id(&mut self, external_id: &str) -> Result<Option<Invitation>> {
        let found = self.fetch_optional(&PENDING_OF_EXTERNAL_ID, args![external_id], |row| {
            row.get::<InvitationId>("id")
        })?;
        found.map(|id| self.lock_invitation(&id)).transpose()
    }

    /// Inserts an invitation; returns false if the address has a pending one.
    pub fn insert_invitation(&mut self, new: &Invitation) -> Result<bool> {
        let (classes, homerooms) = places(new)?;
        let (role, status) = (new.role.as_str(), new.status.as_str());
        self.execute_conditional(
            &INSERT,
            named![new =>
                id, email, name, external_id, inviter_id, sent_at, expires_at, created_at, updated_at, is_home,
                role: role,
                class_ids: classes,
                homeroom_ids: homerooms,
                status: status,
            ],
        )
    }

    /// Updates every mutable field of an invitation.
    pub fn update_invitation(&mut self, invitation: &Invitation) -> Result<()> {
        let (classes, homerooms) = places(invitation)?;
        let (role, status) = (invitation.role.as_str(), invitation.status.as_str());
        self.execute_named(
            &UPDATE,
            named![invitation =>
                id, name, external_id, inviter_id, sent_at, expires_at, updated_at,
                role: role,
                class_ids: classes,
                homeroom_ids: homerooms,
                status: status,
            ],
        )
    }

    /// Returns the classes and homerooms of a member.
    pub fn enrollment_targets_of_member(&mut self, user: &UserId) -> Result<EnrollmentTargets> {
        Ok(EnrollmentTargets {
            class_ids: self.fetch_all(&CLASSES_OF_MEMBER, args![user], |row| row.get("class_id"))?,
            homeroom_ids: self.fetch_all(&HOMEROOMS_OF_MEMBER, args![user], |row| row.get("homeroom_id"))?,
        })
    }

    /// Makes this organization the home organization of an account that has none.
    pub fn set_missing_home_organization(&mut self, user: &UserId) -> Result<()> {
        self.execute(&RESTORE_HOME, args![user])
    }

    /// Stores the digest of an emailed token; `None` invalidates the token.
    pub fn set_invitation_token(&mut self, id: &InvitationId, digest: Option<&str>) -> Result<()> {
        self.execute(&SET_TOKEN, args![id, digest])
    }
}

fn places(invitation: &Invitation) -> Result<(String, String)> {
    Ok((
        serde_json::to_string(&invitation.class_ids)?,
        serde_json::to_string(&invitation.homeroom_ids)?,
    ))
}

pub(crate) fn invitation(row: &Columns<'_>) -> Result<Invitation> {
    from_row!(row => Invitation {
        id, organization_id, email, name, role, external_id, is_home, inviter_id, status, sent_at, expires_at,
        created_at, updated_at,
        class_ids: row.json("class_ids")?,
        homeroom_ids: row.json("homeroom_ids")?,
    })
}
