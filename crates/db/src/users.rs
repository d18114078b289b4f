//! The users of an organization as visible to the viewer (docs/api-contract.md#people): admins read the accounts whose
//! home organization this is; teachers read names, and the email addresses of colleagues and of their own students;
//! students read the names of their classmates.

use domain::access::PlatformRole;
use domain::account_email::AccountEmail;
use domain::id::{ClassId, HomeroomId, UserId};
use domain::text::{ExternalId, Username};
use domain::user::{Member, Person, User};

use super::members::member;
use super::page::{Position, Slice, Window};
use super::platform::accounts::profile;
use super::sql::{Columns, Sql};
use super::{ReadTx, pattern};
use crate::labels::SHOWN_EMAIL;
use crate::people::{ACCOUNT_COLUMNS, MEMBER_COLUMNS};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, statements};
use common::error::{Error, Result};

fragments! {
    /// Member `m` is enrolled in a class that the viewer manages.
    OWN_STUDENT = "EXISTS (SELECT 1 FROM class_enrollments ce
                JOIN classes k ON k.organization_id = ce.organization_id AND k.id = ce.class_id
                WHERE ce.organization_id = $1 AND ce.student_id = m.user_id AND {CAN_MANAGE_CLASS})";
    /// The effective role in this organization, in the terms of platform roles.
    EFFECTIVE_ROLE = "CASE WHEN u.role = 'SUPER_ADMIN' THEN 'SUPER_ADMIN' WHEN m.role IN ('owner', 'admin') THEN 'ADMIN'
            WHEN m.role = 'teacher' THEN 'TEACHER' ELSE 'STUDENT' END";
    /// The sort key of member `m` in a list: names that begin with the search text first, then by sort key.
    PLACE = "(CASE WHEN CAST($7 AS TEXT) IS NULL
            OR u.search_key LIKE $7 || '%' ESCAPE '\\' THEN '0' ELSE '1' END || u.sort_key)";
    /// User `u` has a password that opens this organization and has not expired, or an identity of a sign-on provider.
    HAS_CREDENTIAL = "(EXISTS (SELECT 1 FROM accounts a
                WHERE a.user_id = u.id AND a.provider_id = 'credential' AND a.password IS NOT NULL)
                AND COALESCE(u.temporary_password_expires_at > $4, TRUE)
                AND COALESCE(u.password_organization_id = $1, TRUE)
            OR EXISTS (SELECT 1 FROM external_identities x WHERE x.user_id = u.id AND x.organization_id = $1)
            OR EXISTS (SELECT 1 FROM passkeys y WHERE y.user_id = u.id))";
    /// Members visible to the viewer; `$5` is the calling user.
    SELECT_USERS = "SELECT {ACCOUNT_COLUMNS}, {MEMBER_COLUMNS}, {EFFECTIVE_ROLE} AS effective_role,
            {HAS_CREDENTIAL} AS has_credential,
            m.role <> 'student' OR {OWN_STUDENT} AS is_own_student_or_staff";
    FROM_VISIBLE_MEMBERS = "FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL
                AND ($2 <> 'STUDENT' OR m.user_id = $5 OR EXISTS (SELECT 1 FROM class_enrollments mine
                    JOIN classes k ON k.organization_id = mine.organization_id AND k.id = mine.class_id
                    JOIN class_enrollments theirs ON theirs.class_id = mine.class_id
                    WHERE mine.organization_id = $1 AND mine.student_id = $3 AND k.status <> 'DRAFT'
                        AND theirs.organization_id = $1 AND theirs.student_id = m.user_id))";
}

statements! {
    BY_ID = "{SELECT_USERS} {FROM_VISIBLE_MEMBERS} AND m.user_id = $6";
    /// The member with an email address.
    BY_EMAIL = "{SELECT_USERS} {FROM_VISIBLE_MEMBERS} AND u.email = $6";
    /// The member with an external id.
    BY_EXTERNAL_ID = "{SELECT_USERS} {FROM_VISIBLE_MEMBERS} AND m.external_id = $6";
    /// The matching members by name; those whose name begins with the search text come first. Data that is invisible to
    /// a teacher does not match either.
    LIST = "{SELECT_USERS}, {PLACE} AS list_key {FROM_VISIBLE_MEMBERS} AND (CAST($6 AS TEXT) IS NULL
        OR $6 = {EFFECTIVE_ROLE})
            AND (CAST($7 AS TEXT) IS NULL OR u.search_key LIKE '%' || $7 || '%' ESCAPE '\\'
                OR ($2 = 'ADMIN' AND ({SHOWN_EMAIL} LIKE '%' || $7 || '%' ESCAPE '\\'
                    OR u.user_name LIKE '%' || $7 || '%' ESCAPE '\\')))
            AND (CAST($8 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM class_enrollments ce
                JOIN classes k ON k.organization_id = ce.organization_id AND k.id = ce.class_id
                WHERE ce.organization_id = $1 AND ce.class_id = $8 AND ce.student_id = m.user_id
                AND {CAN_MANAGE_CLASS}))
            AND (CAST($9 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM homeroom_enrollments h
                WHERE h.organization_id = $1 AND h.homeroom_id = $9 AND h.student_id = m.user_id))
            AND (CAST($10 AS BOOLEAN) IS NULL OR (u.is_active AND m.is_active) = $10)
            AND ({PLACE} > $11 OR ({PLACE} = $11 AND m.user_id > $12))
        ORDER BY {PLACE}, m.user_id LIMIT $13";
}

/// Restricts a list of users. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct UserFilter {
    /// The effective role in this organization.
    pub role: Option<PlatformRole>,
    /// Matches a part of the name; for admins also of the email address or the user name.
    pub search: Option<String>,
    /// Students of this class; none if the viewer does not manage it.
    pub class_id: Option<ClassId>,
    /// Students of this homeroom.
    pub homeroom_id: Option<HomeroomId>,
    /// Active or inactive accounts.
    pub is_active: Option<bool>,
}

/// A member as visible to the viewer.
#[derive(Debug, Clone)]
pub struct VisibleUser {
    pub person: Person,
    /// The effective role; hidden from other students.
    pub role: Option<PlatformRole>,
    /// `None` if it is invisible to the viewer.
    pub email: Option<AccountEmail>,
    /// The user name, if this organization created the account; visible like the email address.
    pub username: Option<Username>,
    /// The membership; visible to admins and to the user.
    pub member: Option<Member>,
    /// Whether the account is active; visible to admins.
    pub is_active: Option<bool>,
    /// The whole account; visible to the user, to super admins, and to admins of its home organization.
    pub account: Option<Box<User>>,
    /// Whether the user has a valid password or an identity of a sign-on provider; shown with the account.
    pub has_credential: bool,
    /// The sort key in a list; empty outside of lists.
    pub list_key: String,
}

impl ReadTx<'_> {
    /// Returns a member, or `NotFound` if they are invisible to the viewer. `is_platform` makes the whole account
    /// visible.
    pub fn visible_user(&mut self, id: &UserId, is_platform: bool) -> Result<VisibleUser> {
        let user = self.user_text();
        let viewpoint = Viewpoint::of(self, is_platform);
        let found = self.fetch_all_visible(&BY_ID, args![user, id], |row| known(row, &viewpoint))?;
        found.into_iter().next().ok_or(Error::NotFound)
    }

    /// Returns the member with an email address, if the viewer can read that address.
    pub fn user_with_email(&mut self, email: &str) -> Result<Option<UserId>> {
        self.user_with(&BY_EMAIL, email, |known| known.email.is_some())
    }

    /// Returns the member with an external id, if the viewer can read that id.
    pub fn user_with_external_id(&mut self, external_id: &ExternalId) -> Result<Option<UserId>> {
        self.user_with(&BY_EXTERNAL_ID, external_id.as_str(), |known| known.member.is_some())
    }

    fn user_with(
        &mut self,
        sql: &'static Sql,
        key: &str,
        is_readable: impl Fn(&VisibleUser) -> bool,
    ) -> Result<Option<UserId>> {
        let user = self.user_text();
        let viewpoint = Viewpoint::of(self, false);
        let found = self.fetch_all_visible(sql, args![user, key], |row| known(row, &viewpoint))?;
        let mut found = found.into_iter().filter(is_readable);
        Ok(found.next().map(|known| known.person.id))
    }

    /// Lists the matching members that are visible to the viewer, by name.
    pub fn visible_users(
        &mut self,
        filter: &UserFilter,
        window: &Window<String>,
        is_platform: bool,
    ) -> Result<Slice<VisibleUser, String>> {
        let (user, (key, id)) = (self.user_text(), window.names_after());
        let (role, search) = (
            filter.role.map(PlatformRole::as_str),
            filter.search.as_deref().map(pattern),
        );
        let (viewpoint, rows) = (Viewpoint::of(self, is_platform), window.rows());
        let arguments = args![
            user,
            role,
            search,
            filter.class_id,
            filter.homeroom_id,
            filter.is_active,
            key,
            id,
            rows,
        ];
        let rows = self.fetch_all_visible(&LIST, arguments, |row| {
            let user = known(row, &viewpoint)?;
            Ok(VisibleUser {
                list_key: row.get("list_key")?,
                ..user
            })
        })?;
        Ok(window.cut(rows, VisibleUser::position))
    }
}

impl VisibleUser {
    /// Returns the pagination position of a user read from a list.
    pub fn position(&self) -> Position<String> {
        Position {
            key: self.list_key.clone(),
            id: self.person.id.to_string(),
        }
    }
}

/// The data that determines which fields of a user are visible.
struct Viewpoint {
    user: String,
    organization: String,
    is_admin: bool,
    is_staff: bool,
    is_platform: bool,
}

impl Viewpoint {
    fn of(read_tx: &ReadTx<'_>, is_platform: bool) -> Self {
        Self {
            user: read_tx.user_text(),
            organization: read_tx.organization().to_string(),
            is_admin: *read_tx.viewer() == domain::access::Viewer::Admin,
            is_staff: read_tx.viewer().is_staff(),
            is_platform,
        }
    }
}

fn known(row: &Columns<'_>, viewpoint: &Viewpoint) -> Result<VisibleUser> {
    let (mut user, member) = (profile(row)?, member(row)?);
    let role = row.get::<PlatformRole>("effective_role")?;
    let is_own_student_or_staff: bool = row.get("is_own_student_or_staff")?;
    user.role = role;
    user.is_active &= member.is_active;
    let is_self = user.id.as_str() == viewpoint.user;
    let home = user.home_organization_id.as_ref();
    let is_at_home = home.is_some_and(|home| home.as_str() == viewpoint.organization);
    let is_whole = is_self || viewpoint.is_platform || (viewpoint.is_admin && is_at_home);
    let can_view_email = is_self || viewpoint.is_admin || (viewpoint.is_staff && is_own_student_or_staff);
    Ok(VisibleUser {
        person: user.person(),
        role: (viewpoint.is_staff || is_self).then_some(role),
        email: can_view_email.then(|| user.email.clone()),
        username: user.username.clone().filter(|_| can_view_email && is_at_home),
        member: (viewpoint.is_admin || is_self).then_some(member),
        is_active: viewpoint.is_admin.then_some(user.is_active),
        account: is_whole.then(|| Box::new(user)),
        has_credential: row.get("has_credential")?,
        list_key: String::new(),
    })
}
