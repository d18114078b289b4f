//! Ends memberships: deletes the data that depends on the membership and keeps the user's work. Ends the sessions that
//! concern the organization.

use domain::class::Class;
use domain::details::GroupDetails;
use domain::id::{ClassId, SessionId, UserId};

use super::WriteTx;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// The classes in which a user is enrolled.
    CLASSES = "SELECT class_id FROM class_enrollments WHERE organization_id = $1 AND student_id = $2 ORDER BY class_id";
    LEAVE_HOMEROOMS = "DELETE FROM homeroom_enrollments WHERE organization_id = $1 AND student_id = $2";
    /// Removes a co-teacher from all classes. Classes the user owns are kept.
    LEAVE_TEACHING = "DELETE FROM class_teachers WHERE organization_id = $1 AND user_id = $2";
    /// Clears the teacher of the user's homerooms.
    FREE_HOMEROOMS = "UPDATE homerooms SET teacher_id = NULL, updated_at = $3
        WHERE organization_id = $1 AND teacher_id = $2";
    /// Deletes the sessions in this organization, and those without an active organization, which the `Host` header
    /// could resolve to this one.
    END_SESSIONS_HERE = "DELETE FROM sessions
        WHERE user_id = $2 AND (active_organization_id = $1 OR active_organization_id IS NULL) RETURNING id";
    /// Deletes all sessions of a member.
    END_SESSIONS = "DELETE FROM sessions
        WHERE user_id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)
        RETURNING id";
    /// Deletes the emailed links of a member.
    DELETE_LINKS = "DELETE FROM verifications
        WHERE value = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Deletes waiting sign-ins and trusted browsers of a member.
    DELETE_FACTOR_LINKS = "DELETE FROM verifications
        WHERE value = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)
            AND (identifier LIKE 'second-factor:%' OR identifier LIKE 'trusted-device:%')";
    /// Deletes the recovery codes of a member.
    DELETE_RECOVERY_CODES = "DELETE FROM recovery_codes
        WHERE user_id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Deletes the passkeys of a member.
    DELETE_PASSKEYS = "DELETE FROM passkeys
        WHERE user_id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Deletes the authenticator app of a member.
    DELETE_SECOND_FACTOR = "DELETE FROM second_factors
        WHERE user_id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Records that a sign-in of a member requires no second factor.
    CLEAR_SECOND_FACTOR = "UPDATE users SET has_second_factor = FALSE
        WHERE id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Inserts a link that is emailed to a member.
    INSERT_LINK = "INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
        SELECT CAST($3 AS TEXT), CAST($4 AS TEXT), m.user_id, CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($6 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $2";
    /// Deactivates the account of a member.
    DEACTIVATE = "UPDATE users SET is_active = FALSE, updated_at = $3
        WHERE id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// Clears the home organization of an account and the user name in it.
    LEAVE_HOME = "UPDATE users SET home_organization_id = NULL, username = NULL, user_name = NULL
        WHERE home_organization_id = $1 AND id = $2";
    /// Unlinks the identities at the sign-on providers of the organization.
    UNLINK = "DELETE FROM external_identities WHERE organization_id = $1 AND user_id = $2";
    /// Roster sources no longer count the user among the people whom they brought.
    FORGET_ORIGIN = "DELETE FROM roster_origins WHERE organization_id = $1 AND object = 'PERSON' AND external_id = (
        SELECT m.external_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    DELETE_MEMBER = "DELETE FROM members WHERE organization_id = $1 AND user_id = $2";
}

/// The data that was removed together with a membership.
#[derive(Debug, Clone)]
pub struct RemovedMembership {
    /// The classes in which the user was enrolled.
    pub classes: Vec<Class>,
    /// The user's former groups in their new state.
    pub left: Vec<GroupDetails>,
    /// The sessions that ended.
    pub sessions: Vec<SessionId>,
}

impl WriteTx<'_> {
    /// Ends a membership with enrollments, groups and sessions, and deactivates the account if `deactivate`. The caller
    /// holds the locks of organization and member.
    pub fn remove_membership(&mut self, user: &UserId, deactivate: bool) -> Result<RemovedMembership> {
        let (mut classes, mut left) = (Vec::new(), Vec::new());
        for id in self.fetch_all(&CLASSES, args![user], |row| row.get::<ClassId>("class_id"))? {
            self.lock_class(&id)?;
            classes.push(self.class(&id)?);
            left.extend(self.end_enrollment(&id, user)?);
        }
        let now = self.now();
        self.execute(&LEAVE_HOMEROOMS, args![user])?;
        self.execute(&LEAVE_TEACHING, args![user])?;
        self.execute(&FREE_HOMEROOMS, args![user, now])?;
        let sessions = if deactivate {
            self.execute(&DEACTIVATE, args![user, now])?;
            self.end_sessions_of_member(user)?
        } else {
            self.fetch_all(&END_SESSIONS_HERE, args![user], |row| row.get("id"))?
        };
        self.execute(&LEAVE_HOME, args![user])?;
        self.execute(&UNLINK, args![user])?;
        self.execute(&FORGET_ORIGIN, args![user])?;
        self.execute(&DELETE_MEMBER, args![user])?;
        Ok(RemovedMembership {
            classes,
            left,
            sessions,
        })
    }

    /// Ends the sessions of a member after a change of their role in this organization. Sessions in other organizations
    /// continue, because the role there is unchanged.
    pub fn end_sessions_after_role_change(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.fetch_all(&END_SESSIONS_HERE, args![user], |row| row.get("id"))
    }

    /// Ends all sessions of a member, in every organization.
    pub fn end_sessions_of_member(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.fetch_all(&END_SESSIONS, args![user], |row| row.get("id"))
    }

    /// Deletes the second factor of a member with everything that belongs to it; returns whether there was one.
    pub fn delete_second_factor_of_member(&mut self, user: &UserId) -> Result<bool> {
        self.execute(&DELETE_FACTOR_LINKS, args![user])?;
        self.execute(&DELETE_RECOVERY_CODES, args![user])?;
        self.execute(&CLEAR_SECOND_FACTOR, args![user])?;
        let passkeys = self.execute_counted(&DELETE_PASSKEYS, args![user])?;
        Ok(self.execute_counted(&DELETE_SECOND_FACTOR, args![user])? + passkeys > 0)
    }

    /// Ends the sessions of a member in this organization.
    pub fn end_sessions_in_organization(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.fetch_all(&END_SESSIONS_HERE, args![user], |row| row.get("id"))
    }

    /// Inserts a link that is emailed to a member and expires after `seconds`.
    pub fn insert_emailed_link(&mut self, user: &UserId, identifier: &str, seconds: i64) -> Result<()> {
        let (id, now) = (clock::new_id(), self.now());
        self.execute(
            &INSERT_LINK,
            args![user, id, identifier, now.plus_seconds(seconds), now],
        )
    }

    /// Invalidates all emailed links of a member.
    pub fn delete_emailed_links(&mut self, user: &UserId) -> Result<()> {
        self.execute(&DELETE_LINKS, args![user])
    }
}
