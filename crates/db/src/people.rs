//! Accounts as administered by their organization, together with their membership. Accounts that are not members of the
//! organization are neither read nor changed, except to find out whether an email address is in use.

use std::collections::HashSet;

use domain::access::{MemberRole, PlatformRole, RoleLevel};
use domain::account_email::AccountEmail;
use domain::collation::{person_sort_key, search_key};
use domain::id::{ClassId, MemberId, OrganizationId, UserId};
use domain::patch::FieldDiff;
use domain::text::{ExternalId, Name, ShortName, Username, name_key};
use domain::time::Timestamp;
use domain::user::{Member, Person, User};
use domain::user_name::{first_free, is_numbered};

use super::members::member;
use super::platform::CrossTenantReason;
use super::platform::accounts::profile;
use super::sql::Columns;
use super::{ReadTx, WriteTx, pattern};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::{Error, Result};

fragments! {
    pub(crate) ACCOUNT_COLUMNS = "u.id, u.name, u.first_name, u.last_name, u.email, u.email_verified,
        u.user_name AS username, u.role, u.image, u.locale,
            u.timezone, u.is_active, u.must_change_password, u.has_second_factor, u.last_login_at, u.home_organization_id, u.created_at,
            u.updated_at";
    pub(crate) MEMBER_COLUMNS = "m.id AS member_id, m.organization_id, m.user_id, m.role AS member_role, m.external_id,
            m.created_at AS member_created_at, m.updated_at AS member_updated_at, m.is_active AS member_is_active";
}

statements! {
    /// Locks the organization until the end of the transaction, so that changes of owners are serialized.
    HOLD_ORGANIZATION = "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    /// The present platform role and organization role of a user.
    RANK = "SELECT u.role AS platform_role, m.role AS member_role FROM users u
        LEFT JOIN members m ON m.organization_id = $1 AND m.user_id = u.id AND m.is_active
        WHERE u.id = $2 AND u.is_active";
    /// The classes, except drafts, in which a user is a student or a teacher.
    CLASSES_SHOWING = "SELECT k.id FROM classes k
            WHERE k.organization_id = $1 AND k.teacher_id = $2 AND k.status <> 'DRAFT'
        UNION SELECT k.id FROM class_teachers ct
            JOIN classes k ON k.organization_id = ct.organization_id AND k.id = ct.class_id
            WHERE ct.organization_id = $1 AND ct.user_id = $2 AND k.status <> 'DRAFT'
        UNION SELECT k.id FROM class_enrollments e
            JOIN classes k ON k.organization_id = e.organization_id AND k.id = e.class_id
            WHERE e.organization_id = $1 AND e.student_id = $2 AND k.status <> 'DRAFT'";
    /// The account of an email address, and its role if it is a member.
    BY_EMAIL = "SELECT {PERSON_COLUMNS}, u.role AS platform_role,
            u.home_organization_id, m.role AS member_role
        FROM users u
        LEFT JOIN members m ON m.organization_id = $1 AND m.user_id = u.id
        WHERE u.email = $2";
    /// Inserts an account with this home organization, unless the email address or the user name is in use.
    INSERT_USER = "INSERT INTO users (home_organization_id, id, name, name_key, first_name, last_name, email,
            email_verified, username, user_name, role, created_at, updated_at, search_key, sort_key)
        VALUES ($1, :id, :name, :name_key, :first_name, :last_name, :email, FALSE, :username,
            :username, :role, :created_at, :created_at, :search_key, :sort_key)
        ON CONFLICT DO NOTHING";
    /// The user names of accounts with this home organization that begin with a text.
    NAMES_TAKEN = "SELECT user_name FROM users WHERE home_organization_id = $1 AND user_name LIKE $2 ESCAPE '\\'";
    /// The account of a user name of this organization, and its role if it is a member.
    BY_USER_NAME = "SELECT {PERSON_COLUMNS}, u.email, u.user_name AS sign_in_name, u.role AS platform_role,
            u.home_organization_id, m.role AS member_role, m.external_id
        FROM users u
        LEFT JOIN members m ON m.organization_id = $1 AND m.user_id = u.id
        WHERE u.home_organization_id = $1 AND u.user_name = $2 AND u.erased_at IS NULL";
    /// The members without an email address and without an external id whose user name begins with a text.
    WITHOUT_ID = "SELECT {PERSON_COLUMNS}, u.email, u.user_name AS sign_in_name, u.role AS platform_role,
            u.home_organization_id, m.role AS member_role, m.external_id
        FROM users u
        JOIN members m ON m.organization_id = $1 AND m.user_id = u.id
        WHERE u.home_organization_id = $1 AND u.user_name LIKE $2 ESCAPE '\\' AND m.external_id IS NULL
            AND u.email = u.id || '@no-email.invalid'";
    /// Inserts a membership, unless there is one.
    INSERT_MEMBER = "INSERT INTO members (organization_id, id, user_id, role, external_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (organization_id, user_id) DO NOTHING";
    /// Reactivates an inactive account with a new membership. Memberships that other organizations deactivated stay
    /// inactive.
    WAKE = "UPDATE users SET is_active = TRUE, updated_at = $3
        WHERE id = $2 AND NOT is_active AND erased_at IS NULL
            AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)";
    /// Sets the password of a member.
    UPSERT_PASSWORD = "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
        SELECT CAST($2 AS TEXT), m.user_id, 'credential', m.user_id, CAST($4 AS TEXT), CAST($5 AS BIGINT),
            CAST($5 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $3
        ON CONFLICT (provider_id, account_id) DO UPDATE
        SET password = excluded.password, updated_at = excluded.updated_at";
    /// Sets whether a member must change their password, and its expiry. It was set by an administrator, so it is valid
    /// for this organization only.
    MARK_PASSWORD = "UPDATE users SET must_change_password = $3, temporary_password_expires_at = $4, updated_at = $5,
            password_organization_id = $1
        WHERE id = $2 AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)";
    /// Records who replaced a member's password.
    NOTE_PASSWORD_RESET = "UPDATE users SET password_reset_at = $4, password_reset_by_id = $3
        WHERE id = $2 AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)";
    /// Locks the account and the membership until the end of the transaction; concurrent enrollments of the member
    /// wait.
    HOLD_MEMBER = "SELECT u.id FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 FOR UPDATE";
    /// A member with their account, and whether they belong to another organization too.
    MEMBERSHIP = "SELECT {ACCOUNT_COLUMNS}, {MEMBER_COLUMNS},
            EXISTS (SELECT 1 FROM members o WHERE o.user_id = m.user_id
            AND o.organization_id <> $1) AS has_other_membership
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2";
    OF_MEMBER = "SELECT user_id FROM members WHERE organization_id = $1 AND id = $2";
    /// The active owners other than one user.
    OTHER_OWNERS = "SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.role = 'owner' AND m.user_id <> $2 AND m.is_active
            AND u.is_active";
    /// Updates the fields of an account that its organization administers.
    UPDATE_USER = "UPDATE users SET name = :name, name_key = :name_key, first_name = :first_name,
            last_name = :last_name, username = :username, user_name = :username,
            email_verified = CASE WHEN email = :email THEN email_verified ELSE FALSE END, email = :email,
            is_active = :is_active, locale = :locale, updated_at = :updated_at, search_key = :search_key,
            sort_key = :sort_key
        WHERE id = :id AND EXISTS (SELECT 1 FROM members m WHERE m.organization_id = $1 AND m.user_id = users.id)";
    UPDATE_MEMBER = "UPDATE members SET role = :role, external_id = :external_id, updated_at = :updated_at,
            is_active = :is_active
        WHERE organization_id = $1 AND id = :id";
}

/// The account of an email address, limited to what an organization may know of a foreign account.
#[derive(Debug, Clone)]
pub struct FoundAccount {
    pub person: Person,
    /// The platform role; only `SUPER_ADMIN` matters.
    pub role: PlatformRole,
    /// The organization that created the account, if any.
    pub home: Option<OrganizationId>,
    /// The role in this organization, if the user is a member.
    pub member_role: Option<MemberRole>,
}

/// An account without an email address, found by its user name.
#[derive(Debug, Clone)]
pub struct NamedAccount {
    pub account: FoundAccount,
    pub email: AccountEmail,
    pub username: Username,
    /// The id in the organization's administration system, if the user is a member.
    pub external_id: Option<ExternalId>,
}

/// The data of a new account.
#[derive(Debug, Clone)]
pub struct NewAccount<'a> {
    pub id: &'a UserId,
    pub name: &'a Name,
    pub first_name: Option<&'a ShortName>,
    pub last_name: Option<&'a ShortName>,
    /// The email address, or a placeholder.
    pub email: &'a AccountEmail,
    /// The name for sign-in, unique in the organization.
    pub username: Option<&'a Username>,
    pub role: PlatformRole,
}

/// A membership with its account.
#[derive(Debug, Clone)]
pub struct Membership {
    pub user: User,
    pub member: Member,
    /// Whether the account is a member of another organization too.
    pub is_elsewhere: bool,
}

impl ReadTx<'_> {
    /// Lists the classes whose members see a changed name or image; empty if neither changed.
    pub fn classes_showing(&mut self, user: &UserId, changed: &FieldDiff) -> Result<Vec<ClassId>> {
        if !changed.has("name") && !changed.has("image") {
            return Ok(Vec::new());
        }
        self.fetch_all(&CLASSES_SHOWING, args![user], |row| row.get("id"))
    }

    /// Reads the present rank of the acting user; their role at the beginning of the request may be outdated. With an
    /// API token it is at most that of an administrator.
    pub fn role_level(&mut self) -> Result<RoleLevel> {
        let user = self.user_text();
        let found = self.fetch_optional(&RANK, args![user], |row| {
            Ok((
                row.get::<PlatformRole>("platform_role")?,
                row.get::<Option<MemberRole>>("member_role")?,
            ))
        })?;
        let role_level = found.and_then(|(platform, member)| RoleLevel::of(platform, member));
        let role_level = role_level.map(|level| match self.actor().api_token {
            Some(_) => level.at_most_administrator(),
            None => level,
        });
        role_level.ok_or(Error::NotAMember)
    }

    /// Returns the account of an email address (lower case).
    pub fn account_of_address(&mut self, email: &str) -> Result<Option<FoundAccount>> {
        self.fetch_optional(&BY_EMAIL, args![email], |row| {
            from_row!(row => FoundAccount {
                role = "platform_role", home = "home_organization_id", member_role,
                person: person(row)?,
            })
        })
    }

    /// Returns the account with this user name, if this organization created it.
    pub fn account_of_user_name(&mut self, name: &Username) -> Result<Option<NamedAccount>> {
        self.fetch_optional(&BY_USER_NAME, args![name], named_account)
    }

    /// Returns the members whose user name is `base`, possibly with a number, who have neither an email address nor an
    /// external id.
    pub fn members_without_id(&mut self, base: &Username) -> Result<Vec<NamedAccount>> {
        let begins = format!("{}%", pattern(base.as_str()));
        let found = self.fetch_all(&WITHOUT_ID, args![begins], named_account)?;
        Ok(found
            .into_iter()
            .filter(|named| is_numbered(named.username.as_str(), base))
            .collect())
    }

    /// Returns the first user name in `base`, `base2`, `base3` .. that no account of the organization has.
    pub fn free_user_name(&mut self, base: &Username) -> Result<Username> {
        let begins = format!("{}%", pattern(base.as_str()));
        let taken: Vec<String> = self.fetch_all(&NAMES_TAKEN, args![begins], |row| row.get("user_name"))?;
        let taken: HashSet<String> = taken.into_iter().collect();
        Ok(first_free(base, |name| taken.contains(name)))
    }

    /// Returns a member with their account.
    pub fn membership(&mut self, user: &UserId) -> Result<Membership> {
        self.fetch_one(&MEMBERSHIP, args![user], membership)
    }

    /// Returns the user of a membership.
    pub fn user_of_member(&mut self, id: &MemberId) -> Result<UserId> {
        self.fetch_one(&OF_MEMBER, args![id], |row| row.get("user_id"))
    }

    /// Counts the other owners who can sign in. The caller holds the lock of the organization.
    pub fn other_owners(&mut self, user: &UserId) -> Result<usize> {
        let others: i64 = self.fetch_one(&OTHER_OWNERS, args![user], |row| row.only())?;
        Ok(usize::try_from(others).unwrap_or(0))
    }
}

impl WriteTx<'_> {
    /// Locks the organization until the end of the transaction. Every change of roles, memberships or owners takes this
    /// lock.
    pub fn lock_membership_changes(&mut self) -> Result<()> {
        self.fetch_one(&HOLD_ORGANIZATION, args![], |row| row.get::<String>("id"))
            .map(drop)
    }

    /// Returns a member with their account, locked until the end of the transaction.
    pub fn lock_membership(&mut self, user: &UserId) -> Result<Membership> {
        self.fetch_one(&HOLD_MEMBER, args![user], |row| row.get::<UserId>("id"))?;
        self.membership(user)
    }

    /// Inserts an account with this home organization; returns false if the email address or the user name is in
    /// use.
    pub fn insert_account(&mut self, new: &NewAccount<'_>) -> Result<bool> {
        let (key, role, now) = (name_key(new.name.as_str()), new.role.as_str(), self.now());
        let search_key = search_key(new.name.as_str());
        let sort_key = person_sort_key(new.name.as_str(), new.last_name.map(ShortName::as_str));
        self.execute_conditional(
            &INSERT_USER,
            named![new =>
                id, name, first_name, last_name, email, username,
                name_key: key,
                role: role,
                created_at: now,
                search_key: search_key,
                sort_key: sort_key,
            ],
        )
    }

    /// Makes an account a member; returns `None` if it is one. An external id that is in use is
    /// `DUPLICATE_EXTERNAL_ID`. Reactivates an account that was deactivated because it had no membership left.
    pub fn insert_member(
        &mut self,
        user: &UserId,
        role: MemberRole,
        external_id: Option<&ExternalId>,
    ) -> Result<Option<Member>> {
        let member = Member {
            id: MemberId::new(clock::new_id()),
            organization_id: self.organization().clone(),
            user_id: user.clone(),
            role,
            external_id: external_id.cloned(),
            created_at: self.now(),
            updated_at: None,
            is_active: true,
        };
        let word = role.as_str();
        let arguments = args![member.id, user, word, external_id, member.created_at];
        if self.execute_counted(&INSERT_MEMBER, arguments)? == 0 {
            return Ok(None);
        }
        self.execute(&WAKE, args![user, member.created_at])?;
        Ok(Some(member))
    }

    /// Stores the password of a member, whether it must be changed, and the expiry of a temporary one. Invalidates all
    /// emailed links of the member and resets the count of failed sign-ins.
    pub fn write_password(
        &mut self,
        user: &UserId,
        hash: &str,
        must_change: bool,
        good_until: Option<Timestamp>,
    ) -> Result<()> {
        let now = self.now();
        self.execute(&UPSERT_PASSWORD, args![clock::new_id(), user, hash, now])?;
        self.execute(&MARK_PASSWORD, args![user, must_change, good_until, now])?;
        self.on_platform(CrossTenantReason::SignInHistory, |platform| {
            platform.forget_former_password(user)
        })
    }

    /// Records that the caller replaced a member's password; shown to the member after the next sign-in.
    pub fn record_password_reset(&mut self, user: &UserId) -> Result<()> {
        let (by, now) = (self.actor().user.clone(), self.now());
        self.execute(&NOTE_PASSWORD_RESET, args![user, by, now])
    }

    /// Updates the fields of an account that its organization administers; an email address that is in use is
    /// `DUPLICATE_EMAIL`.
    pub fn update_account(&mut self, user: &User) -> Result<()> {
        let key = name_key(user.name.as_str());
        let (search_key, sort_key) = (search_key(user.name.as_str()), user.sort_key());
        self.execute_named(
            &UPDATE_USER,
            named![user =>
                id, name, first_name, last_name, username, email, is_active, locale, updated_at,
                name_key: key,
                search_key: search_key,
                sort_key: sort_key,
            ],
        )
    }

    /// Updates role, external id and status of a membership; an external id that is in use is `DUPLICATE_EXTERNAL_ID`.
    pub fn update_member(&mut self, member: &Member) -> Result<()> {
        let role = member.role.as_str();
        self.execute_named(
            &UPDATE_MEMBER,
            named![member => id, external_id, updated_at, is_active, role: role],
        )
    }
}

fn named_account(row: &Columns<'_>) -> Result<NamedAccount> {
    from_row!(row => NamedAccount {
        email, username = "sign_in_name", external_id,
        account: from_row!(row => FoundAccount {
            role = "platform_role", home = "home_organization_id", member_role,
            person: person(row)?,
        })?,
    })
}

fn membership(row: &Columns<'_>) -> Result<Membership> {
    Ok(Membership {
        user: profile(row)?,
        member: member(row)?,
        is_elsewhere: row.get("has_other_membership")?,
    })
}
