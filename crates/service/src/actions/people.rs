//! How people are added to an organization: by an administrator, an import, or with the organization itself. An account
//! that another organization made is never joined; its address is invited (`invitations.rs`).

use model::access::{MemberRole, Rank};
use model::change::user::UserChange;
use model::id::UserId;
use model::invitation::{AddressAccount, Admission, Invitation, Places, admission};
use model::refusal::Refusal;
use model::text::{ExternalId, Name, ShortName, Username};
use model::user::{Member, Person};

use super::invitations;
use adapters::mail::Mail;
use common::clock;
use common::error::{Error, Result};
use db::Work;
use db::people::{FoundAccount, NewAccount};

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

/// A person who is a member now.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The person.
    pub person: Person,
    /// The membership.
    pub member: Member,
    /// Whether the account is new, too.
    pub is_new_account: bool,
}

/// What adding a person did.
#[derive(Debug, Clone)]
pub enum Provisioned {
    /// The person is a member.
    Member(Joined),
    /// The address was invited: its account was not created by this organization.
    Invited(Box<Invitation>),
}

impl Provisioned {
    /// The member, if the person is one now.
    pub fn joined(&self) -> Option<&Joined> {
        match self {
            Self::Member(joined) => Some(joined),
            Self::Invited(_) => None,
        }
    }
}

/// The spelling under which an address is stored, if it is one.
pub fn address(text: &str) -> Option<String> {
    let address = better_auth::email::lower_case(text.trim());
    (address.len() <= LONGEST_ADDRESS && better_auth::email::is_email(&address)).then_some(address)
}

/// Adds a person to the organization: makes an account for an address that has none, or invites the address. Which of
/// them is decided by [`admission`] alone. An account that exists keeps its profile and its password.
pub fn provision(
    work: &mut Work<'_>,
    rank: Rank,
    new: &NewPerson,
    places: &Places,
    password: Option<&Password>,
    mail: Option<&Mail>,
) -> Result<Provisioned> {
    if !rank.outranks(new.role) {
        return Err(Refusal::ForbiddenRank.into());
    }
    let found = work.account_of_address(&new.email)?;
    match decide(work, found.as_ref()) {
        Admission::Create => {}
        Admission::Join => {
            let person = found.map(|found| found.person).ok_or(Error::NotReady)?;
            return Ok(Provisioned::Member(join(work, person, new, Account::Existing)?));
        }
        Admission::Invite => return invited(work, new, places, mail),
        Admission::AlreadyMember => return Err(already_here()),
    }
    match account(work, new)? {
        Some(person) => Ok(Provisioned::Member(join(work, person, new, Account::New(password))?)),
        // Another organization made an account of the address in this very moment.
        None => invited(work, new, places, mail),
    }
}

/// What the rules say about the account of an address.
pub(super) fn decide(work: &Work<'_>, account: Option<&FoundAccount>) -> Admission {
    let account = account.map(|found| AddressAccount {
        home: found.home.as_ref(),
        is_member: found.member_role.is_some(),
    });
    admission(work.organization(), account)
}

fn invited(work: &mut Work<'_>, new: &NewPerson, places: &Places, mail: Option<&Mail>) -> Result<Provisioned> {
    let invitation = invitations::invite(work, new, places, mail)?;
    Ok(Provisioned::Invited(Box::new(invitation)))
}

/// The account of a new member.
enum Account<'a> {
    /// It existed before.
    Existing,
    /// It was made for this membership, with this password if it gets one.
    New(Option<&'a Password>),
}

/// Inserts the membership of an account.
fn join(work: &mut Work<'_>, person: Person, new: &NewPerson, account: Account<'_>) -> Result<Joined> {
    let member = work.insert_member(&person.id, new.role, new.external_id.as_ref())?;
    // Whoever came in between the look and the insert is a member all the same.
    let member = member.ok_or_else(already_here)?;
    if let Account::New(Some(password)) = account {
        write_password(work, &person.id, password)?;
    }
    let is_new_account = matches!(account, Account::New(_));
    work.record(UserChange::Created {
        user: person.clone(),
        member: member.clone(),
        is_new_account,
    });
    Ok(Joined {
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

/// A new account; none if the address has one by now.
fn account(work: &mut Work<'_>, new: &NewPerson) -> Result<Option<Person>> {
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
    Ok(work.insert_account(&account)?.then_some(person))
}

fn already_here() -> Error {
    Error::Conflict {
        code: "DUPLICATE_EMAIL",
        message: "Somebody with this address is a member already.",
        path: "email",
        existing_id: None,
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
