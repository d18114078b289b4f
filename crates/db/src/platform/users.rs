//! Creation and look-up of accounts, which belong to no single organization.

use domain::access::PlatformRole;
use domain::collation::{person_sort_key, search_key};
use domain::id::UserId;
use domain::text::name_key;
use domain::time::Timestamp;

use super::PlatformTx;
use crate::{args, named, statements};
use common::clock;
use common::error::Result;

statements! {
    INSERT_USER = "INSERT INTO users (id, name, name_key, first_name, last_name, email, email_verified, role,
            home_organization_id, created_at, updated_at, search_key, sort_key)
        VALUES (:id, :name, :name_key, :first_name, :last_name, :email, FALSE, :role, :home_organization_id,
            :created_at, :created_at, :search_key, :sort_key)";
    BY_EMAIL = "SELECT id FROM users WHERE email = $1";
    INSERT_ACCOUNT = "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
        VALUES ($1, $2, 'credential', $2, $3, $4, $4)";
    /// A setting of this installation.
    SETTING = "SELECT value FROM settings WHERE name = $1";
    /// Inserts a setting unless it exists.
    INSERT_SETTING = "INSERT INTO settings (name, value, updated_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";
}

/// The data of a new account.
#[derive(Debug, Clone)]
pub struct NewUserAccount {
    pub id: UserId,
    pub name: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// The email address in lower case.
    pub email: String,
    pub role: PlatformRole,
    /// The organization that creates the account.
    pub home: Option<domain::id::OrganizationId>,
    /// `None` for an account without a password.
    pub password_hash: Option<String>,
}

impl NewUserAccount {
    /// An account created by an administrator, an import or the command line.
    pub fn provisioned(name: &str, email: &str, role: PlatformRole, password_hash: Option<String>) -> Self {
        Self {
            id: UserId::new(clock::new_id()),
            name: name.to_owned(),
            first_name: None,
            last_name: None,
            email: email.to_owned(),
            role,
            home: None,
            password_hash,
        }
    }
}

impl PlatformTx<'_> {
    /// Inserts an account with its password; an email address that is in use is `DUPLICATE_EMAIL`.
    pub fn insert_user(&mut self, new: &NewUserAccount, now: Timestamp) -> Result<()> {
        self.execute_named(
            &INSERT_USER,
            named![new =>
                id, name, first_name, last_name, email, role,
                name_key: name_key(&new.name),
                home_organization_id: new.home,
                created_at: now,
                search_key: search_key(&new.name),
                sort_key: person_sort_key(&new.name, new.last_name.as_deref()),
            ],
        )?;
        if let Some(hash) = &new.password_hash {
            self.execute(&INSERT_ACCOUNT, args![clock::new_id(), new.id, hash, now])?;
            // Sign-ins with this email address may have failed before the account existed.
            self.clear_failures(&new.email)?;
        }
        Ok(())
    }

    /// Returns the account with this email address.
    pub fn user_with_email(&mut self, email: &str) -> Result<Option<UserId>> {
        self.fetch_optional(&BY_EMAIL, args![email], |row| row.get("id"))
    }

    /// Returns the id of this installation, the prefix of document keys.
    pub fn deployment_id(&mut self) -> Result<Option<String>> {
        self.fetch_optional(&SETTING, args!["deployment_id"], |row| row.get("value"))
    }

    /// Stores the id of this installation unless there is one.
    pub fn name_deployment(&mut self, id: &str, now: Timestamp) -> Result<()> {
        self.execute(&INSERT_SETTING, args!["deployment_id", id, now])
    }
}
