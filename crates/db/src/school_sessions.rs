//! The sessions of members that work in a school, as its admins see them: without tokens, and without those in which the
//! platform acts for somebody.

use model::access::{MemberRole, PlatformRole};
use model::id::{SessionId, UserId};
use model::time::Timestamp;
use model::user::Person;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, statements};
use common::error::Result;

macro_rules! sessions {
    ($where:literal) => {
        concat!(
            "SELECT s.id, s.expires_at, s.created_at, s.updated_at, s.ip_address, s.user_agent,
                u.id, u.name, u.image, u.email, u.role, m.role
            FROM sessions s
            JOIN members m ON m.organization_id = $1 AND m.user_id = s.user_id
            JOIN users u ON u.id = s.user_id
            WHERE s.active_organization_id = $1 AND s.expires_at >= $2 AND s.impersonated_by IS NULL",
            $where
        )
    };
}

statements! {
    /// A page, newest first.
    PAGE = sessions!(" AND (s.created_at, s.id) < ($3, $4) AND (CAST($6 AS TEXT) IS NULL OR s.user_id = $6)
        ORDER BY s.created_at DESC, s.id DESC LIMIT $5");
    /// One session.
    BY_ID = sessions!(" AND s.id = $3");
    /// Ends one.
    END = "DELETE FROM sessions WHERE id = $2 AND active_organization_id = $1";
}

/// A session with the member behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchoolSession {
    /// The session.
    pub id: SessionId,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it was last prolonged.
    pub updated_at: Timestamp,
    /// Where the sign-in came from.
    pub ip_address: Option<String>,
    /// The program it came with.
    pub user_agent: Option<String>,
    /// The person.
    pub person: Person,
    /// The address.
    pub email: String,
    /// What the person is on the platform.
    pub platform_role: PlatformRole,
    /// What the person is here.
    pub member_role: MemberRole,
}

impl Scope<'_> {
    /// A page of the sessions that work in the school, newest first; all of them or one person's.
    pub fn school_sessions(
        &mut self,
        user: Option<&UserId>,
        window: &Window<i64>,
    ) -> Result<Slice<SchoolSession, i64>> {
        let (now, (time, id)) = (self.now(), window.newest_before());
        let rows = self.many(&PAGE, args![now, time, id, window.rows(), user], session)?;
        Ok(window.cut(rows, |session| Position {
            key: session.created_at.as_millis(),
            id: session.id.to_string(),
        }))
    }

    /// One of them.
    pub fn school_session(&mut self, id: &SessionId) -> Result<SchoolSession> {
        let now = self.now();
        self.one(&BY_ID, args![now, id], session)
    }
}

impl Work<'_> {
    /// Ends one; false when it is gone already.
    pub fn end_school_session(&mut self, id: &SessionId) -> Result<bool> {
        Ok(self.run(&END, args![id])? > 0)
    }
}

fn session(row: &mut Columns<'_>) -> Result<SchoolSession> {
    Ok(SchoolSession {
        id: row.take()?,
        expires_at: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        ip_address: row.take()?,
        user_agent: row.take()?,
        person: super::classes::person(row)?,
        email: row.take()?,
        platform_role: row.parse(PlatformRole::parse)?,
        member_role: row.parse(MemberRole::parse)?,
    })
}
