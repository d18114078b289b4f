//! What administrators do with the accounts of their organization. The home organization of an account changes its
//! name and address and erases it, unless the user has accepted another membership. Deactivation, export and removal
//! act on the organization's own membership and are always allowed.

use api_macros::{body, patch};
use domain::access::{MemberRole, PlatformRole, RoleLevel};
use domain::account_email::AccountEmail;
use domain::change::UserChange;
use domain::domain_error::DomainError;
use domain::from_fields;
use domain::id::{ClassId, HomeroomId, UserId};
use domain::invitation::EnrollmentTargets;
use domain::list::List;
use domain::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use domain::text::{ExternalId, Locale, Name, ShortName, Username};
use domain::user::User;

use super::enrollments::{self, NewStudents};
use super::homeroom_following::{FollowScope, follow};
use super::homerooms::{self, NewHomeroomStudents};
use super::people::{self, NewPerson, Password, Provisioned};
use super::sign_in;
use adapters::mailer::{Mailer, Recipient};
use common::error::{Error, Result};
use db::WriteTx;
use db::people::Membership;
use db::platform::CrossTenantReason;

/// A user to create.
#[body]
pub struct NewUser {
    /// The display name.
    pub name: Name,
    /// The email address to sign in with. Students and teachers may have none; then they sign in with the user name.
    #[garde(custom(is_optional_address))]
    pub email: Option<String>,
    /// The first name.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub first_name: Option<ShortName>,
    /// The last name.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub last_name: Option<ShortName>,
    /// The name to sign in with. Without it and without an email address it is made of the name.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub username: Option<Username>,
    /// The role in this organization: ADMIN, TEACHER or STUDENT.
    #[garde(custom(is_tenant_role))]
    pub role: PlatformRole,
    /// A password. The user is asked to change it.
    #[garde(custom(is_good_password([self.name.as_str(), self.email.as_deref().unwrap_or_default()])), custom(not_with_invite(self.send_invite)))]
    pub password: Option<String>,
    /// Email the user a link to choose a password. Requires an email address; cannot be combined with `password`.
    #[garde(custom(only_with_address(self.email.as_deref())))]
    pub send_invite: Option<bool>,
    /// The id in the administration system of the school.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub external_id: Option<ExternalId>,
    /// The homeroom; only for students.
    #[garde(custom(only_for_students(self.role)))]
    pub homeroom_id: Option<HomeroomId>,
    /// The classes to enroll in; only for students.
    #[garde(dive, custom(only_for_students(self.role)))]
    pub class_ids: Option<List<ClassId>>,
}

impl NewUser {
    /// Returns the normalized email address, if there is one.
    pub fn address(&self) -> Option<String> {
        self.email.as_deref().and_then(people::address)
    }
}

/// The fields of a user that a PATCH can change.
#[patch]
pub struct UserEdit {
    /// The display name.
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    /// The first name.
    #[serde(default, deserialize_with = "optional_text")]
    pub first_name: FieldPatch<ShortName>,
    /// The last name.
    #[serde(default, deserialize_with = "optional_text")]
    pub last_name: FieldPatch<ShortName>,
    /// The name to sign in with, unique in the organization.
    #[serde(default, deserialize_with = "optional_text")]
    pub username: FieldPatch<Username>,
    /// The email address to sign in with. Null removes it from an account that has a user name.
    #[garde(custom(is_another_address))]
    pub email: FieldPatch<String>,
    /// Whether the membership is active. Setting it to false ends the user's sessions in this organization
    /// immediately, and all sessions if the account belongs to this organization alone.
    #[garde(custom(not_null))]
    pub is_active: FieldPatch<bool>,
    /// The id in the administration system of the school.
    #[serde(default, deserialize_with = "optional_text")]
    pub external_id: FieldPatch<ExternalId>,
    /// The language.
    #[garde(dive, custom(not_null))]
    pub locale: FieldPatch<Locale>,
}

impl UserEdit {
    /// Returns whether the request contains fields of the account, not only of the membership. They count even if
    /// they equal the stored values: the response must not reveal whether a value was guessed correctly.
    fn names_account(&self) -> bool {
        !(self.name.is_unchanged()
            && self.first_name.is_unchanged()
            && self.last_name.is_unchanged()
            && self.username.is_unchanged()
            && self.email.is_unchanged()
            && self.locale.is_unchanged())
    }
}

/// The link with which a new user chooses a password.
#[derive(Debug, Clone)]
pub struct PasswordLink {
    /// The secret token of the link.
    pub token: String,
    /// The path of the link, relative to `FRONTEND_URL`.
    pub path: String,
}

/// Adds a user to the organization, with a homeroom and classes. An address whose account another organization
/// created is invited, and gets the homeroom and classes when its owner accepts.
pub fn create(
    tx: &mut WriteTx<'_>,
    new: &NewUser,
    password: Option<&Password>,
    invitation: Option<&PasswordLink>,
    mail: &Mailer,
) -> Result<Provisioned> {
    let role_level = tx.role_level()?;
    let person = from_fields!(&new => NewPerson {
        name, first_name, last_name, username, external_id,
        email: new.address(),
        role: member_role(new.role),
    });
    if let Some(given) = &new.password {
        let school = tx.current_organization()?;
        better_auth::password::check_new(
            given,
            &[
                new.name.as_str(),
                new.email.as_deref().unwrap_or_default(),
                school.name.as_str(),
                school.slug.as_str(),
            ],
        )
        .map_err(|weak| Error::invalid("password", "format", weak.to_string()))?;
    }
    let enrollment_targets = EnrollmentTargets {
        class_ids: new.class_ids.as_deref().unwrap_or_default().to_vec(),
        homeroom_ids: new.homeroom_id.iter().cloned().collect(),
    };
    let provisioned = people::provision(tx, role_level, &person, &enrollment_targets, password, Some(mail))?;
    let Provisioned::Member(joined) = &provisioned else {
        can_join(tx, &enrollment_targets)?;
        return Ok(provisioned);
    };
    let student = &joined.person.id;
    if let Some(homeroom) = &new.homeroom_id {
        let student_ids = List(vec![student.clone()]);
        homerooms::add_students(tx, homeroom, &NewHomeroomStudents { student_ids })?;
    }
    for class in new.class_ids.as_deref().unwrap_or_default() {
        let students = NewStudents {
            student_ids: Some(List(vec![student.clone()])),
            homeroom_id: None,
        };
        enrollments::enroll(tx, class, &students)?;
    }
    if let Some(invitation) = invitation.filter(|_| joined.is_new_account) {
        let identifier = super::passwords::identifier(&invitation.token);
        tx.insert_emailed_link(&joined.person.id, &identifier, people::TEMPORARY)?;
    }
    Ok(provisioned)
}

/// Rejects invitations to unknown or closed classes or homerooms, as an enrolment would.
fn can_join(tx: &mut WriteTx<'_>, enrollment_targets: &EnrollmentTargets) -> Result<()> {
    for homeroom in &enrollment_targets.homeroom_ids {
        tx.lock_homeroom(homeroom)?;
    }
    for class in &enrollment_targets.class_ids {
        tx.lock_managed_class(class)?.writable()?;
    }
    Ok(())
}

/// Enqueues the email in the transaction that created the account.
pub fn invite(tx: &mut WriteTx<'_>, mail: &Mailer, user: &User, invitation: &PasswordLink) -> Result<()> {
    let school = tx.current_organization()?;
    let days = people::TEMPORARY / (24 * 60 * 60);
    let to = Recipient::from_user(user, school.metadata.as_ref());
    let queued = mail.invitation(to, school.name.as_str(), &invitation.path, days, tx.now())?;
    tx.enqueue_email(&queued)
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, id: &UserId, edit: &UserEdit) -> Result<()> {
    if !edit.is_active.is_unchanged() {
        // Deactivating an owner changes the owners of the organization, which is serialized.
        tx.lock_membership_changes()?;
    }
    let role_level = tx.role_level()?;
    let Membership {
        mut user,
        mut member,
        is_elsewhere,
    } = tx.lock_membership(id)?;
    role_level.may_act_on(user.role, member.role)?;
    if edit.names_account() && role_level != RoleLevel::SuperAdmin {
        user.administered_by(tx.organization(), is_elsewhere)?;
    }
    // Deactivation applies to the membership, and also to an account that belongs to this organization alone.
    let is_ours = role_level == RoleLevel::SuperAdmin || user.administered_by(tx.organization(), is_elsewhere).is_ok();
    let switched = edit.is_active.clone().required("isActive").map_err(DomainError::from)?;
    let switched =
        switched.filter(|is_active| *is_active != member.is_active || (is_ours && *is_active != user.is_active));
    let edit = edit.clone();
    let email = match edit.email {
        FieldPatch::Unchanged => None,
        FieldPatch::Null => Some(AccountEmail::none(id)),
        FieldPatch::Value(text) => people::address(&text).map(AccountEmail::stored),
    };
    let former_email = user.email.clone();
    let mut changed = FieldDiff::new();
    let null = |error| Error::from(DomainError::from(error));
    changed.edit("name", &mut user.name, edit.name).map_err(null)?;
    changed.edit_nullable("firstName", &mut user.first_name, edit.first_name);
    changed.edit_nullable("lastName", &mut user.last_name, edit.last_name);
    changed.edit_nullable("username", &mut user.username, edit.username);
    if let Some(email) = email {
        changed.write("email", &mut user.email, email);
    }
    if changed.has("email") || changed.has("username") {
        user.has_sign_in_name(member.role)?;
    }
    if changed.has("email") && is_elsewhere && user.email.address().is_none() {
        // Other organizations know the account by its address alone.
        return Err(DomainError::SharedAccount.into());
    }
    if let Some(is_active) = switched.filter(|_| is_ours) {
        changed.write("isActive", &mut user.is_active, is_active);
    }
    changed.edit("locale", &mut user.locale, edit.locale).map_err(null)?;
    if !changed.is_empty() {
        user.updated_at = tx.now();
        tx.update_account(&user)?;
    }
    if changed.has("email") {
        // Links sent to the old address must not work any more.
        tx.delete_emailed_links(id)?;
        tx.on_platform(CrossTenantReason::SignInHistory, |platform| {
            platform.move_sign_in_history(former_email.stored_form(), user.email.stored_form())
        })?;
    }
    let mut of_member = FieldDiff::new();
    if let Some(is_active) = switched {
        member.is_active = is_active;
        if !is_active {
            member.may_stop_owning(tx.other_owners(id)?)?;
        }
        let sessions = match (is_active, is_ours) {
            (true, _) => Vec::new(),
            (false, true) => tx.end_sessions_of_member(id)?,
            (false, false) => tx.end_sessions_in_organization(id)?,
        };
        member.updated_at = Some(tx.now());
        tx.update_member(&member)?;
        follow(tx, FollowScope::Student(id))?;
        if !changed.has("isActive") {
            tx.record(UserChange::MembershipSwitched {
                user: user.person(),
                is_active,
                sessions,
            });
        }
    }
    of_member.edit_nullable("externalId", &mut member.external_id, edit.external_id);
    if !of_member.is_empty() {
        member.updated_at = Some(tx.now());
        tx.update_member(&member)?;
        changed.extend(of_member);
    }
    if !changed.is_empty() {
        let seen_in = tx.classes_showing(&user.id, &changed)?;
        tx.record(UserChange::Updated {
            user: Box::new(user),
            changed,
            seen_in,
            is_imported: false,
        });
    }
    Ok(())
}

/// Sets a temporary password; all sessions of the user end. A teacher may do this for students that the organization
/// itself enrolled in one of the teacher's classes. The user is notified by email who did it.
///
/// Returns the user name on the platform, if there is one. `slip_token` is the secret of the printed code that signs in once, until the password expires or is replaced.
pub fn reset_password(
    tx: &mut WriteTx<'_>,
    mail: &Mailer,
    id: &UserId,
    password: &Password,
    slip_token: &str,
) -> Result<Option<String>> {
    let role_level = tx.role_level()?;
    let Membership { user, member, .. } = tx.lock_membership(id)?;
    role_level.may_act_on(user.role, member.role)?;
    if role_level == RoleLevel::Member(MemberRole::Teacher) && !tx.is_entrusted(id)? {
        return Err(DomainError::AdminOnly.into());
    }
    if role_level != RoleLevel::SuperAdmin {
        user.password_set_by(tx.organization())?;
    }
    people::write_password(tx, id, password)?;
    insert_slip(tx, id, slip_token)?;
    tx.record_password_reset(id)?;
    if user.email_verified {
        let (by, at, school) = (tx.actor().name.clone(), tx.now(), tx.organization_settings()?);
        let to = Recipient::from_user(&user, Some(&school));
        tx.enqueue_email(&mail.password_reset_notice(to, &by, at)?)?;
    }
    tx.end_sessions_of_member(id)?;
    tx.record(UserChange::PasswordReset { user: user.person() });
    let identifiers = tx.on_platform(CrossTenantReason::SignInHistory, |platform| platform.identifiers_of(id))?;
    Ok(identifiers.and_then(|identifiers| identifiers.full_user_name()))
}

/// Stores the secret of a printed code, which signs in once until the temporary password expires. A new password
/// invalidates it.
pub fn insert_slip(tx: &mut WriteTx<'_>, user: &UserId, token: &str) -> Result<()> {
    tx.insert_emailed_link(user, &sign_in::slip(token), people::TEMPORARY)
}

/// Removes the second factor of a user who lost it; all sessions of the user end, and the user is notified by email.
pub fn reset_second_factor(tx: &mut WriteTx<'_>, mail: &Mailer, id: &UserId) -> Result<()> {
    let role_level = tx.role_level()?;
    let Membership { user, member, .. } = tx.lock_membership(id)?;
    role_level.may_act_on(user.role, member.role)?;
    user.second_factor_reset_by(role_level, tx.organization())?;
    // The own second factor is removed with the password, not with a session alone.
    if tx.actor().user.as_ref() == Some(id) {
        return Err(DomainError::ForbiddenRank.into());
    }
    if !tx.delete_second_factor_of_member(id)? {
        return Ok(());
    }
    if user.email_verified {
        let (by, at, school) = (tx.actor().name.clone(), tx.now(), tx.organization_settings()?);
        let to = Recipient::from_user(&user, Some(&school));
        tx.enqueue_email(&mail.second_factor_reset(to, &by, at)?)?;
    }
    tx.end_sessions_of_member(id)?;
    tx.record(UserChange::SecondFactorReset { user: user.person() });
    Ok(())
}

/// Returns the membership role in a request; validation has rejected all other values.
fn member_role(role: PlatformRole) -> MemberRole {
    match role {
        PlatformRole::SuperAdmin | PlatformRole::Admin => MemberRole::Admin,
        PlatformRole::Teacher => MemberRole::Teacher,
        PlatformRole::Student => MemberRole::Student,
    }
}

const NO_ADDRESS: &str = "must be an e-mail address";

/// Validates an email address.
pub fn is_address(text: &str, (): &()) -> garde::Result {
    match people::address(text) {
        Some(_) => Ok(()),
        None => Err(garde::Error::new(NO_ADDRESS)),
    }
}

/// Validates an email address that may be missing.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "garde needs it")]
fn is_optional_address(text: &Option<String>, context: &()) -> garde::Result {
    text.as_deref().map_or(Ok(()), |text| is_address(text, context))
}

fn only_with_address(address: Option<&str>) -> impl FnOnce(&Option<bool>, &()) -> garde::Result {
    move |invite, ()| {
        if *invite == Some(true) && address.is_none() {
            Err(garde::Error::new("requires an e-mail address"))
        } else {
            Ok(())
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "garde passes its context by reference")]
fn is_another_address(edit: &FieldPatch<String>, context: &()) -> garde::Result {
    edit.value().map_or(Ok(()), |text| is_address(text, context))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "garde passes its context by reference")]
fn is_tenant_role(role: &PlatformRole, (): &()) -> garde::Result {
    if *role == PlatformRole::SuperAdmin {
        Err(garde::Error::new("must be ADMIN, TEACHER or STUDENT"))
    } else {
        Ok(())
    }
}

fn is_good_password(own: [&str; 2]) -> impl FnOnce(&Option<String>, &()) -> garde::Result {
    move |password, ()| {
        let Some(password) = password else { return Ok(()) };
        better_auth::password::check_new(password, &own).map_err(garde::Error::new)
    }
}

fn not_with_invite(invite: Option<bool>) -> impl FnOnce(&Option<String>, &()) -> garde::Result {
    move |password, ()| {
        if password.is_some() && invite == Some(true) {
            Err(garde::Error::new("must be left out when an invitation is sent"))
        } else {
            Ok(())
        }
    }
}

fn only_for_students<T>(role: PlatformRole) -> impl FnOnce(&Option<T>, &()) -> garde::Result {
    move |field, ()| {
        if field.is_some() && role != PlatformRole::Student {
            Err(garde::Error::new("is for students only"))
        } else {
            Ok(())
        }
    }
}
