//! How somebody leaves a school: what hangs on the membership goes with it, what he did stays. Sessions end here as far
//! as they are the school's business.

use model::class::Class;
use model::id::{ClassId, SessionId, UserId};
use model::whole::WholeGroup;

use super::Work;
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// The classes somebody learns in.
    CLASSES = "SELECT class_id FROM class_enrollments WHERE organization_id = $1 AND student_id = $2 ORDER BY class_id";
    /// Ends his places in homerooms.
    LEAVE_HOMEROOMS = "DELETE FROM homeroom_enrollments WHERE organization_id = $1 AND student_id = $2";
    /// Ends his part in the classes he co-teaches; classes of his own keep his name.
    LEAVE_TEACHING = "DELETE FROM class_teachers WHERE organization_id = $1 AND user_id = $2";
    /// His homerooms have no teacher any more.
    FREE_HOMEROOMS = "UPDATE homerooms SET teacher_id = NULL, updated_at = $3
        WHERE organization_id = $1 AND teacher_id = $2";
    /// Ends the sessions that work in this organization, and those that have chosen none: the host name could bring them in.
    END_SESSIONS_HERE = "DELETE FROM sessions
        WHERE user_id = $2 AND (active_organization_id = $1 OR active_organization_id IS NULL) RETURNING id";
    /// Ends all sessions of a member.
    END_SESSIONS = "DELETE FROM sessions
        WHERE user_id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)
        RETURNING id";
    /// Makes the links worthless that were mailed to a member.
    TAKE_BACK_LINKS = "DELETE FROM verifications
        WHERE value = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// A link that is mailed to a member.
    INSERT_LINK = "INSERT INTO verifications (id, identifier, value, expires_at, created_at, updated_at)
        SELECT CAST($3 AS TEXT), CAST($4 AS TEXT), m.user_id, CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($6 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $2";
    /// Switches off the account of a member.
    SWITCH_OFF = "UPDATE users SET is_active = FALSE, updated_at = $3
        WHERE id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
    /// The account is at home nowhere.
    LEAVE_HOME = "UPDATE users SET home_organization_id = NULL WHERE home_organization_id = $1 AND id = $2";
    /// Ends the membership.
    DELETE_MEMBER = "DELETE FROM members WHERE organization_id = $1 AND user_id = $2";
}

/// What went with a membership.
#[derive(Debug, Clone)]
pub struct EndedMembership {
    /// The classes he learned in.
    pub classes: Vec<Class>,
    /// The groups he was in, as they are without him.
    pub left: Vec<WholeGroup>,
    /// The sessions that ended.
    pub sessions: Vec<SessionId>,
}

impl Work<'_> {
    /// Ends a membership with enrolments, groups and sessions; the account is switched off, too, if that is asked for. The
    /// caller holds organization and member.
    pub fn end_membership(&mut self, user: &UserId, switch_off: bool) -> Result<EndedMembership> {
        let (mut classes, mut left) = (Vec::new(), Vec::new());
        for id in self.many(&CLASSES, args![user], |row| row.take::<ClassId>())? {
            self.hold_class(&id)?;
            classes.push(self.class(&id)?);
            left.extend(self.end_enrollment(&id, user)?);
        }
        let now = self.now();
        self.run(&LEAVE_HOMEROOMS, args![user])?;
        self.run(&LEAVE_TEACHING, args![user])?;
        self.run(&FREE_HOMEROOMS, args![user, now])?;
        let sessions = if switch_off {
            self.run(&SWITCH_OFF, args![user, now])?;
            self.end_sessions_of_member(user)?
        } else {
            self.many(&END_SESSIONS_HERE, args![user], |row| row.take())?
        };
        self.run(&LEAVE_HOME, args![user])?;
        self.run(&DELETE_MEMBER, args![user])?;
        Ok(EndedMembership {
            classes,
            left,
            sessions,
        })
    }

    /// Ends the sessions of a member that were opened under the role the member had here until now. Sessions that work in
    /// another organization go on: the role there did not change.
    pub fn end_sessions_of_old_role(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.many(&END_SESSIONS_HERE, args![user], |row| row.take())
    }

    /// Ends all sessions of a member, in whatever organization they work.
    pub fn end_sessions_of_member(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.many(&END_SESSIONS, args![user], |row| row.take())
    }

    /// Ends the sessions of a member that work in this organization.
    pub fn end_sessions_here(&mut self, user: &UserId) -> Result<Vec<SessionId>> {
        self.many(&END_SESSIONS_HERE, args![user], |row| row.take())
    }

    /// Remembers a link that is going to be mailed to a member, good for so many seconds.
    pub fn insert_mailed_link(&mut self, user: &UserId, identifier: &str, seconds: i64) -> Result<()> {
        let (id, now) = (clock::new_id(), self.now());
        self.run(
            &INSERT_LINK,
            args![user, id, identifier, now.plus_seconds(seconds), now],
        )
        .map(drop)
    }

    /// Makes all links worthless that were mailed to a member.
    pub fn take_back_mailed_links(&mut self, user: &UserId) -> Result<()> {
        self.run(&TAKE_BACK_LINKS, args![user]).map(drop)
    }
}
