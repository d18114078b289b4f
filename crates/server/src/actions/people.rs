//! How people come into a school: accounts made by an administrator, an import, or with the school itself. The one rule
//! for all of them: an account that exists already is somebody else's business and gets a membership, nothing more.

use model::access::{MemberRole, PlatformRole, Rank};
use model::change::user::UserChange;
use model::id::UserId;
use model::refusal::Refusal;
use model::text::{ExternalId, Name, ShortName, Username};
use model::user::{Member, Person};

use crate::clock;
use crate::error::{Error, Result};
use crate::store::Work;
use crate::store::people::NewAccount;

/// How long a temporary password is good, in seconds.
pub const TEMPORARY: i64 = 7 * 24 * 60 * 60;
/// No address is longer (contract 3.1).
const LONGEST_ADDRESS: usize = 254;

/// Somebody who shall be a member.
#[derive(Debug, Clone)]
pub struct NewPerson {
    /// The name shown to others.
    pub name: Name,
    /// The address, as [`address`] spells it.
    pub email: String,
    /// First name.
    pub first_name: Option<ShortName>,
    /// Last name.
    pub last_name: Option<ShortName>,
    /// Another name to sign in with.
    pub username: Option<Username>,
    /// The role here.
    pub role: MemberRole,
    /// Id in the school's own administration.
    pub external_id: Option<ExternalId>,
}

/// The hash of a password for a new account, and whose choice the password was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// The person's own, brought along from elsewhere.
    Own(String),
    /// An administrator's; the person should choose another.
    Given(String),
    /// Made by the service and good for a week only.
    Temporary(String),
}

/// Somebody who is a member now.
#[derive(Debug, Clone)]
pub struct Provisioned {
    /// The person; of an account that existed, nobody is told more than its id.
    pub person: Person,
    /// The membership.
    pub member: Member,
    /// Whether the account is new, too.
    pub is_new_account: bool,
}

/// The spelling under which an address is stored, if it is one.
pub fn address(text: &str) -> Option<String> {
    let address = better_auth::email::lower_case(text.trim());
    (address.len() <= LONGEST_ADDRESS && better_auth::email::is_email(&address)).then_some(address)
}

/// Makes somebody a member of the organization, with a new account if the address has none. An account that exists, here or
/// elsewhere, keeps its profile and its password; one that runs the platform is unknown to everybody else.
pub fn provision(work: &mut Work<'_>, rank: Rank, new: &NewPerson, password: Option<&Password>) -> Result<Provisioned> {
    if !rank.outranks(new.role) {
        return Err(Refusal::ForbiddenRank.into());
    }
    let (person, is_new_account) = match find(work, rank, &new.email)? {
        Some(person) => (person, false),
        None => account(work, rank, new)?,
    };
    let member = work.insert_member(&person.id, new.role, new.external_id.as_ref())?;
    // Whoever came in between the look and the insert is a member all the same.
    let member = member.ok_or_else(already_here)?;
    if let Some(password) = password.filter(|_| is_new_account) {
        write_password(work, &person.id, password)?;
    }
    work.record(UserChange::Created {
        user: person.clone(),
        member: member.clone(),
        is_new_account,
    });
    Ok(Provisioned {
        person,
        member,
        is_new_account,
    })
}

/// Stores a password as its kind asks.
pub(super) fn write_password(work: &mut Work<'_>, user: &UserId, password: &Password) -> Result<()> {
    match password {
        Password::Own(hash) => work.write_password(user, hash, false, None),
        Password::Given(hash) => work.write_password(user, hash, true, None),
        Password::Temporary(hash) => {
            let good_until = work.now().plus_seconds(TEMPORARY);
            work.write_password(user, hash, true, Some(good_until))
        }
    }
}

/// The account of an address that may become a member.
fn find(work: &mut Work<'_>, rank: Rank, email: &str) -> Result<Option<Person>> {
    let Some(found) = work.account_of_address(email)? else {
        return Ok(None);
    };
    if found.member_role.is_some() {
        return Err(already_here());
    }
    if found.role == PlatformRole::SuperAdmin && rank != Rank::SuperAdmin {
        return Err(Error::NotFound);
    }
    Ok(Some(found.person))
}

/// A new account, or the one that another school made of the address in this very moment.
fn account(work: &mut Work<'_>, rank: Rank, new: &NewPerson) -> Result<(Person, bool)> {
    let person = Person {
        id: UserId::new(clock::new_id()),
        name: new.name.as_str().to_owned(),
        image: None,
    };
    let account = NewAccount {
        id: &person.id,
        name: &new.name,
        first_name: new.first_name.as_ref(),
        last_name: new.last_name.as_ref(),
        email: &new.email,
        username: new.username.as_ref(),
        role: new.role.platform_role(),
    };
    if work.insert_account(&account)? {
        return Ok((person, true));
    }
    let found = find(work, rank, &new.email)?.ok_or(Error::NotReady)?;
    Ok((found, false))
}

fn already_here() -> Error {
    Error::Conflict {
        code: "DUPLICATE_EMAIL",
        message: "Somebody with this address is a member already.",
        path: "email",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        assert_eq!(address(" Ada@School.Example ").as_deref(), Some("ada@school.example"));
        for wrong in ["", "ada", "ada@school", "a b@school.example", "ada@school.example\u{0}"] {
            assert_eq!(address(wrong), None, "{wrong:?}");
        }
        assert_eq!(address(&format!("{}@school.example", "a".repeat(254))), None);
    }
}
