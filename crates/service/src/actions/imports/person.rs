//! Creates, updates or removes one user of an import.

use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::change::UserChange;
use domain::class::{CoTeacherOrigin, EnrolledBy};
use domain::from_fields;
use domain::id::{ClassId, HomeroomId, UserId};
use domain::import::{ImportMode, RowStatus, looks_like_an_id};
use domain::invitation::{Admission, EnrollmentTargets};
use domain::patch::FieldDiff;
use domain::take_over::TakeOverCandidate;
use domain::text::{Name, ShortName, Username};
use domain::user::Person;

use super::{ImportRules, ImportedPerson, PreviewEntry, PreviewMember, RANK, RowError, RowResult};
use crate::actions::classes::insert_teacher;
use crate::actions::homerooms::{self, NewHomeroom};
use crate::actions::members;
use crate::actions::people::{self, NewPerson, Password};
use adapters::mailer::Mailer;
use common::error::Error;
use db::WriteTx;
use db::imports::NamedClass;
use db::people::FoundAccount;
use db::platform::CrossTenantReason;

/// Creates a member or updates an existing one.
pub(super) fn import_person(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    mail: Option<&Mailer>,
    new: &ImportedPerson,
) -> Result<RowResult, RowError> {
    let found = find_account(tx, new)?;
    let member = found.as_ref().and_then(|found| found.member_role);
    if let (Some(found), Some(role)) = (&found, member) {
        if RANK.may_act_on(found.role, role).is_err() {
            return Err(RowError::row(
                if new.email.is_some() { "email" } else { "username" },
                "FORBIDDEN_RANK",
                "belongs to an owner or admin, whom an import does not change",
            ));
        }
        if rules.mode == ImportMode::Create {
            return Ok(RowResult {
                user: Some(found.person.id.clone()),
                ..RowResult::with(RowStatus::Skipped)
            });
        }
    }
    let known = found.as_ref().map(|found| &found.person.id);
    external_id_is_free(tx, new, known)?;
    let homeroom = HomeroomChoice::of(tx, new)?;
    let classes = classes(tx, new)?;
    let is_invited = member.is_none() && people::decide(tx, found.as_ref()) == Admission::Invite;
    if is_invited && rules.is_dry_run && is_due(tx, new.email.as_deref().unwrap_or_default())? {
        // The real run takes over the account, and then the user joins.
        return Ok(RowResult {
            preview_entry: preview_entry(new, false),
            ..RowResult::with(RowStatus::Created)
        });
    }
    if is_invited {
        let email = new.email.as_deref().unwrap_or_default();
        let was_emailed = rules.is_repeated && tx.last_invitation_sent(email)?.is_some();
        if was_emailed && tx.pending_invitation(email)?.is_none() {
            return Ok(RowResult::with(RowStatus::Skipped));
        }
        let mail = mail.filter(|_| !was_emailed);
        return invite(tx, mail, new, homeroom, classes);
    }
    let (user, mut status) = match (known, member) {
        (Some(user), Some(role)) => {
            if role != new.role {
                // Role changes of an organization are serialized.
                tx.lock_membership_changes()?;
            }
            (user.clone(), update(tx, user, new)?)
        }
        _ => match create(tx, mail, new, &EnrollmentTargets::default())? {
            Some(user) => (user, RowStatus::Created),
            None => return Ok(RowResult::with(RowStatus::Invited)),
        },
    };
    let mut done = RowResult::with(status);
    if let Some(homeroom) = homeroom {
        let id = homeroom.find_or_create(tx)?;
        if !tx.is_in_homeroom(&id, &user)? {
            let student = find_student(tx, &user, "homeroom")?;
            tx.enroll_in_homeroom(&id, &user)?;
            done.joined.push((id, student));
        }
    }
    let mut teaches_more = false;
    for class in classes {
        match new.role {
            MemberRole::Student if !tx.is_in_class(&class, &user)? => {
                let student = find_student(tx, &user, "classes")?;
                enroll(tx, &class, &user)?;
                done.enrolled.push((class, student));
            }
            MemberRole::Student => confirm(tx, &class, &user)?,
            _ => teaches_more |= add_co_teacher(tx, &class, &user)?,
        }
    }
    let has_more = teaches_more || !done.joined.is_empty() || !done.enrolled.is_empty();
    if status == RowStatus::Skipped && has_more {
        status = RowStatus::Updated;
    }
    done.status = status;
    done.preview_entry = new.external_id.clone().map(|id| {
        let (user, role) = (member.map(|_| user.clone()), new.role);
        let is_invited = false;
        PreviewEntry::Person(id, PreviewMember { user, role, is_invited })
    });
    // An account that a dry run created has no id to report.
    done.user = (!rules.is_dry_run || member.is_some()).then_some(user);
    Ok(done)
}

/// Returns the account that a row is about: by email address, else by external id, else by user name. A row with the
/// name only is about the member of this name who has neither.
fn find_account(tx: &mut WriteTx<'_>, new: &ImportedPerson) -> Result<Option<FoundAccount>, RowError> {
    if let Some(email) = &new.email
        && let Some(found) = tx.account_of_address(email)?
    {
        return Ok(Some(found));
    }
    if let Some(external_id) = &new.external_id
        && let Some(holder) = tx.member_of_external_id(external_id.as_str())?
    {
        let membership = tx.membership(&holder.user)?;
        // A row with another address is about another person, unless the person had none.
        let is_same = new.email.is_none() || membership.user.email.address().is_none();
        return Ok(is_same.then(|| FoundAccount {
            person: membership.user.person(),
            role: membership.user.role,
            home: membership.user.home_organization_id.clone(),
            member_role: Some(membership.member.role),
        }));
    }
    if new.email.is_some() {
        return Ok(None);
    }
    if let Some(username) = &new.username {
        return Ok(tx.account_of_user_name(username)?.map(|named| named.account));
    }
    if new.external_id.is_some() {
        return Ok(None);
    }
    let name = full_name(new.first_name.as_ref(), new.last_name.as_ref())?;
    let named = tx.members_without_id(&new.generated_name())?;
    let mut accounts = named.into_iter().map(|named| named.account);
    Ok(accounts.find(|account| account.person.name == name.as_str()))
}

/// Ends the membership of a user who left the school.
pub(super) fn deactivate(tx: &mut WriteTx<'_>, external_id: &domain::text::ExternalId) -> Result<RowResult, RowError> {
    let Some(member) = tx.member_of_external_id(external_id.as_str())? else {
        return Ok(RowResult::with(RowStatus::Skipped));
    };
    tx.lock_membership_changes()?;
    let membership = tx.lock_membership(&member.user)?;
    RANK.may_act_on(membership.user.role, membership.member.role)
        .map_err(|_| {
            RowError::row(
                "sourcedId",
                "FORBIDDEN_RANK",
                "is an owner or admin, whom an import does not remove",
            )
        })?;
    members::end(tx, membership)?;
    Ok(RowResult {
        user: Some(member.user),
        ..RowResult::with(RowStatus::Updated)
    })
}

/// Enrolls a student in a class that is not archived.
pub(super) fn enroll(tx: &mut WriteTx<'_>, class: &ClassId, student: &UserId) -> Result<(), RowError> {
    tx.lock_writable_class(class)?;
    confirm(tx, class, student)
}

/// Marks an enrolment as confirmed by the import.
pub(super) fn confirm(tx: &mut WriteTx<'_>, class: &ClassId, student: &UserId) -> Result<(), RowError> {
    tx.enroll_by(class, student, EnrolledBy::Import)?;
    Ok(())
}

/// Adds a co-teacher, unless the teacher owns the class. Returns whether the teacher is new.
pub(super) fn add_co_teacher(tx: &mut WriteTx<'_>, class: &ClassId, teacher: &UserId) -> Result<bool, RowError> {
    if tx.class(class)?.teacher_id == *teacher || tx.is_co_teacher(class, teacher)? {
        return Ok(false);
    }
    insert_teacher(tx, class, teacher, CoTeacherOrigin::Import)?;
    Ok(true)
}

/// Returns a student with an active account.
pub(super) fn find_student(tx: &mut WriteTx<'_>, user: &UserId, column: &str) -> Result<Person, RowError> {
    match tx.learning_member(user) {
        Err(Error::NotFound) => Err(RowError::row(
            column,
            "inactive",
            "cannot be entered, because the account is switched off",
        )),
        other => Ok(other?),
    }
}

/// Returns whether the account of an address can be taken over.
fn is_due(tx: &mut WriteTx<'_>, email: &str) -> Result<bool, RowError> {
    let candidate = tx.take_over_candidate(email)?;
    Ok(candidate.is_some_and(TakeOverCandidate::can_be_taken_over))
}

/// Returns what later rows of a dry run need to know about a user without an account.
fn preview_entry(new: &ImportedPerson, is_invited: bool) -> Option<PreviewEntry> {
    new.external_id.clone().map(|id| {
        let (user, role) = (None, new.role);
        PreviewEntry::Person(id, PreviewMember { user, role, is_invited })
    })
}

/// Invites an address whose account another organization created. Classes and homeroom are assigned on acceptance.
fn invite(
    tx: &mut WriteTx<'_>,
    mail: Option<&Mailer>,
    new: &ImportedPerson,
    homeroom: Option<HomeroomChoice>,
    class_ids: Vec<ClassId>,
) -> Result<RowResult, RowError> {
    let homeroom = homeroom.map(|homeroom| homeroom.find_or_create(tx)).transpose()?;
    let enrollment_targets = EnrollmentTargets {
        class_ids,
        homeroom_ids: homeroom.into_iter().collect(),
    };
    create(tx, mail, new, &enrollment_targets)?;
    Ok(RowResult {
        preview_entry: preview_entry(new, true),
        ..RowResult::with(RowStatus::Invited)
    })
}

/// Creates a member; returns `None` if the address was invited instead.
fn create(
    tx: &mut WriteTx<'_>,
    mail: Option<&Mailer>,
    new: &ImportedPerson,
    enrollment_targets: &EnrollmentTargets,
) -> Result<Option<UserId>, RowError> {
    let person = from_fields!(&new => NewPerson {
        email, first_name, last_name, username, role, external_id,
        name: full_name(new.first_name.as_ref(), new.last_name.as_ref())?,
    });
    let password = new.password_hash.clone().map(Password::Own);
    match people::provision(tx, RANK, &person, enrollment_targets, password.as_ref(), mail) {
        Ok(provisioned) => Ok(provisioned.joined().map(|joined| joined.person.id.clone())),
        Err(Error::RateLimited { .. }) => Err(RowError::row(
            "email",
            "RATE_LIMITED",
            "was invited a moment ago; import the row again later",
        )),
        Err(error) => Err(error.into()),
    }
}

/// Updates a member. Account data changes only if this organization administers the account.
fn update(tx: &mut WriteTx<'_>, id: &UserId, new: &ImportedPerson) -> Result<RowStatus, RowError> {
    let known = tx.lock_membership(id)?;
    let (mut user, mut member) = (known.user, known.member);
    let from = member.role;
    if from != new.role && tx.has_place(id)? {
        return Err(RowError::row(
            "role",
            "in_use",
            "differs from the role here, and the person has classes or a homeroom; end these first",
        ));
    }
    let organization = tx.organization().clone();
    let is_ours = user.administered_by(&organization, known.is_elsewhere).is_ok();
    let mut changed = FieldDiff::new();
    if is_ours {
        let first = new.first_name.clone().or_else(|| user.first_name.clone());
        let last = new.last_name.clone().or_else(|| user.last_name.clone());
        if first != user.first_name || last != user.last_name {
            let name = full_name(first.as_ref(), last.as_ref())?;
            changed.write("name", &mut user.name, name);
            changed.write("firstName", &mut user.first_name, first);
            changed.write("lastName", &mut user.last_name, last);
        }
        let former_email = user.email.clone();
        if let Some(email) = new.email.as_ref().filter(|_| user.email.address().is_none()) {
            changed.write("email", &mut user.email, AccountEmail::stored(email));
        }
        if let Some(username) = &new.username {
            user_name_is_free(tx, username, id)?;
            changed.write("username", &mut user.username, Some(username.clone()));
        }
        if !changed.is_empty() {
            user.updated_at = tx.now();
            tx.update_account(&user)?;
        }
        if changed.has("email") {
            tx.on_platform(CrossTenantReason::SignInHistory, |platform| {
                platform.move_sign_in_history(former_email.stored_form(), user.email.stored_form())
            })?;
        }
    }
    if let Some(hash) = new.password_hash.as_ref().filter(|_| is_ours)
        && tx.write_first_password(id, hash)?
    {
        // The log and events show that the password changed, but not its value.
        changed.write("password", &mut false, true);
    }
    if new.external_id.is_some() {
        changed.write("externalId", &mut member.external_id, new.external_id.clone());
    }
    let has_new_role = from != new.role;
    if has_new_role || changed.has("externalId") {
        member.role = new.role;
        member.updated_at = Some(tx.now());
        tx.update_member(&member)?;
    }
    let is_same = changed.is_empty() && !has_new_role;
    if has_new_role {
        let sessions = tx.end_sessions_after_role_change(id)?;
        tx.record(UserChange::RoleChanged {
            user: user.person(),
            member,
            from,
            sessions,
        });
    }
    if !changed.is_empty() {
        let seen_in = tx.classes_showing(&user.id, &changed)?;
        tx.record(UserChange::Updated {
            user: Box::new(user),
            changed,
            seen_in,
            is_imported: true,
        });
    }
    Ok(if is_same {
        RowStatus::Skipped
    } else {
        RowStatus::Updated
    })
}

/// Checks that an external id identifies one user permanently: no other user has it, and the user has no other. So no
/// row of an import can free an id for a later one, and the order of rows does not matter.
fn external_id_is_free(tx: &mut WriteTx<'_>, new: &ImportedPerson, known: Option<&UserId>) -> Result<(), RowError> {
    let Some(wanted) = &new.external_id else { return Ok(()) };
    if let Some(holder) = tx.member_of_external_id(wanted.as_str())? {
        return if known == Some(&holder.user) {
            Ok(())
        } else {
            Err(RowError::row(
                "externalId",
                "duplicate",
                "is the id of another user here",
            ))
        };
    }
    let Some(known) = known else { return Ok(()) };
    match tx.membership(known) {
        Ok(membership) if membership.member.external_id.is_some() => Err(RowError::row(
            "externalId",
            "differs",
            "differs from the id that this person has here",
        )),
        Ok(_) | Err(Error::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Checks that no other account of the organization has a user name.
fn user_name_is_free(tx: &mut WriteTx<'_>, username: &Username, user: &UserId) -> Result<(), RowError> {
    match tx.account_of_user_name(username)? {
        Some(named) if named.account.person.id != *user => Err(RowError::row(
            "username",
            "DUPLICATE_USERNAME",
            &format!("{username} belongs to another person here; leave it out to have one made"),
        )),
        _ => Ok(()),
    }
}

/// The homeroom that a row names.
enum HomeroomChoice {
    Known(HomeroomId),
    New(ShortName),
}

impl HomeroomChoice {
    fn of(tx: &mut WriteTx<'_>, new: &ImportedPerson) -> Result<Option<Self>, RowError> {
        let Some(wanted) = &new.homeroom else { return Ok(None) };
        Ok(Some(match tx.homeroom_named(wanted.as_str())? {
            Some(id) => Self::Known(id),
            None if looks_like_an_id(wanted.as_str()) => {
                return Err(RowError::row("homeroom", "unknown", "is the id of no homeroom here"));
            }
            None => Self::New(wanted.clone()),
        }))
    }

    fn find_or_create(self, tx: &mut WriteTx<'_>) -> Result<HomeroomId, RowError> {
        match self {
            Self::Known(id) => Ok(id),
            Self::New(name) => {
                let new = NewHomeroom {
                    name,
                    grade_level: None,
                    academic_year: None,
                    teacher_id: None,
                };
                Ok(homerooms::create(tx, &new)?.homeroom.id)
            }
        }
    }
}

fn classes(tx: &mut WriteTx<'_>, new: &ImportedPerson) -> Result<Vec<ClassId>, RowError> {
    let mut found = Vec::new();
    for wanted in &new.classes {
        let refused = |code: &str, what: &str| RowError::row("classes", code, &format!("names {wanted}, {what}"));
        match tx.class_named(wanted)? {
            NamedClass::Unknown => return Err(refused("unknown", "which is no class here")),
            NamedClass::Several => return Err(refused("ambiguous", "which several classes are called; give its id")),
            NamedClass::One(_, status) if status.writable().is_err() => {
                return Err(refused("CLASS_ARCHIVED", "which is archived"));
            }
            NamedClass::One(id, _) => found.push(id),
        }
    }
    Ok(found)
}

fn full_name(first: Option<&ShortName>, last: Option<&ShortName>) -> Result<Name, RowError> {
    let words: Vec<&str> = [first, last].into_iter().flatten().map(ShortName::as_str).collect();
    Name::try_from(words.join(" ").as_str())
        .map_err(|reason| RowError::row("lastName", "invalid", &format!("with the first name {reason}")))
}
