//! Members of an organization with the user data that is visible to the viewer.

use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::id::MemberId;
use domain::user::{Member, Person};

use super::page::{Position, Slice, Window};
use super::people::MEMBER_COLUMNS;
use super::sql::Columns;
use super::{ReadTx, pattern};
use crate::labels::SHOWN_EMAIL;
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, statements};
use common::error::Result;

fragments! {
    /// The sort key of member `m` in a list: names that begin with the search text first, then by sort key.
    PLACE = "(CASE WHEN CAST($3 AS TEXT) IS NULL
            OR u.search_key LIKE $3 || '%' ESCAPE '\\' THEN '0' ELSE '1' END || u.sort_key)";
}

statements! {
    /// The members visible to the viewer, oldest membership first. Students see only their own. The email address of a
    /// student is visible to admins, to the teachers of the student's classes, and to the student.
    VISIBLE = "SELECT {MEMBER_COLUMNS}, u.name, u.image,
            CASE WHEN $2 = 'ADMIN' OR m.role <> 'student' OR m.user_id = $3 OR EXISTS (
                    SELECT 1 FROM class_enrollments ce
                    JOIN classes k ON k.organization_id = ce.organization_id AND k.id = ce.class_id
                    WHERE ce.organization_id = $1 AND ce.student_id = m.user_id AND {CAN_MANAGE_CLASS})
                THEN u.email ELSE NULL END AS email
        FROM members m
        JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND ($2 <> 'STUDENT' OR m.user_id = $3) AND CAST($4 AS BIGINT) IS NOT NULL
            AND (CAST($5 AS TEXT) IS NULL OR m.user_id = $5)
        ORDER BY m.created_at, m.id";
    /// The matching members of the organization by name; those whose name begins with the search text come first.
    LIST = "SELECT {MEMBER_COLUMNS}, u.name, u.image, u.email, {PLACE} AS list_key
        FROM members m
        JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1
            AND (CAST($2 AS TEXT) IS NULL OR m.role = $2)
            AND (CAST($3 AS TEXT) IS NULL OR u.search_key LIKE '%' || $3 || '%' ESCAPE '\\'
                OR {SHOWN_EMAIL} LIKE '%' || $3 || '%' ESCAPE '\\')
            AND ({PLACE} > $4 OR ({PLACE} = $4 AND m.id > $5))
        ORDER BY {PLACE}, m.id LIMIT $6";
    BY_ID = "SELECT {MEMBER_COLUMNS}, u.name, u.image, u.email
        FROM members m
        JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.id = $2";
}

/// Restricts a list of members. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct MemberFilter {
    pub role: Option<MemberRole>,
    /// Matches a part of the name or of the email address.
    pub search: Option<String>,
}

/// A member with their user data.
#[derive(Debug, Clone)]
pub struct MemberWithUser {
    pub member: Member,
    pub person: Person,
    /// `None` if it is invisible to the viewer.
    pub email: Option<AccountEmail>,
}

impl ReadTx<'_> {
    /// Lists the members visible to the viewer.
    pub fn members(&mut self) -> Result<Vec<MemberWithUser>> {
        self.fetch_all_visible(&VISIBLE, args![None::<String>], member_with_user)
    }

    /// Lists the matching members by name. The caller has checked the permission.
    pub fn all_members(
        &mut self,
        filter: &MemberFilter,
        window: &Window<String>,
    ) -> Result<Slice<MemberWithUser, String>> {
        let (key, id) = window.names_after();
        let (role, search) = (
            filter.role.map(MemberRole::as_str),
            filter.search.as_deref().map(pattern),
        );
        let rows = self.fetch_all(&LIST, args![role, search, key, id, window.rows()], |row| {
            Ok((member_with_user(row)?, row.get::<String>("list_key")?))
        })?;
        let slice = window.cut(rows, |(known, key)| Position {
            key: key.clone(),
            id: known.member.id.to_string(),
        });
        Ok(Slice {
            rows: slice.rows.into_iter().map(|(known, _)| known).collect(),
            next: slice.next,
        })
    }

    /// Returns a member. The caller has checked the permission.
    pub fn member(&mut self, id: &MemberId) -> Result<MemberWithUser> {
        self.fetch_one(&BY_ID, args![id], member_with_user)
    }

    /// Returns the membership of a user, if it is visible to the viewer.
    pub fn member_of(&mut self, user: &str) -> Result<Option<MemberWithUser>> {
        let found = self.fetch_all_visible(&VISIBLE, args![user], member_with_user)?;
        Ok(found.into_iter().next())
    }
}

fn member_with_user(row: &Columns<'_>) -> Result<MemberWithUser> {
    let member = member(row)?;
    let person = from_row!(row => Person { name, image, id: member.user_id.clone() })?;
    Ok(MemberWithUser {
        member,
        person,
        email: row.get("email")?,
    })
}

pub(super) fn member(row: &Columns<'_>) -> Result<Member> {
    from_row!(row => Member {
        id = "member_id", organization_id, user_id, role = "member_role", external_id, created_at = "member_created_at",
        updated_at = "member_updated_at", is_active = "member_is_active",
    })
}
