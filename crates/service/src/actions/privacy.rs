//! Personal data (GDPR): exports or erases what an organization stores about one user.

use api_macros::body;
use domain::access::{MemberRole, PlatformRole, RoleLevel};
use domain::change::UserChange;
use domain::domain_error::DomainError;
use domain::erasure::{ErasureCounts, erased_person};
use domain::id::UserId;
use domain::job::{Job, JobKind};
use domain::user::User;
use serde_json::json;

use common::error::{Error, Result};
use db::WriteTx;
use db::platform::CrossTenantReason;
use db::platform::erasure::LogScan;

/// A request to export the data of a user.
#[body]
pub struct ExportRequest {
    /// A member of the organization, or a user whose account it created.
    pub user_id: UserId,
}

/// A request to erase a user.
#[body]
pub struct EraseRequest {
    /// A member of the organization, or a user whose account it created.
    pub user_id: UserId,
    /// Only report what would be erased. Equivalent to the query parameter `dryRun`.
    #[serde(default)]
    pub dry_run: bool,
}

/// A user that the organization may know of.
struct PersonRecord {
    user: User,
    role: Option<MemberRole>,
    is_elsewhere: bool,
}

/// Enqueues an export of what the organization stores about a user. It contains the account itself only if the
/// organization alone administers it. Returns the pending export if there is one.
pub fn export(tx: &mut WriteTx<'_>, asked: &ExportRequest) -> Result<Job> {
    let known = find_person(tx, &asked.user_id)?;
    if tx.actor().user.as_ref() != Some(&asked.user_id) {
        check_outranks(tx, &known)?;
    }
    let with_account = check_administers(tx, &known).is_ok();
    let payload = json!({"withAccount": with_account});
    let (job, is_new) = tx.open_job(JobKind::PersonalExport, asked.user_id.as_str(), &payload)?;
    if is_new {
        let user = known.user.person();
        tx.record(UserChange::Exported { user });
    }
    Ok(job)
}

/// Erases a user, or reports what would be erased. The work of groups stays, without the name of the user; a repeated
/// erasure finds nothing. `traces` are the references to the user that were found in the log before.
pub fn erase(tx: &mut WriteTx<'_>, asked: &EraseRequest, traces: &LogScan) -> Result<ErasureCounts> {
    if asked.dry_run {
        tx.dry_run(|tx| erase_now(tx, &asked.user_id, traces))
    } else {
        erase_now(tx, &asked.user_id, traces)
    }
}

/// Checks that the caller may erase the user; returns the user's email address. Called before traces of the user are
/// searched, and again by the erasure.
pub fn may_erase(tx: &mut WriteTx<'_>, user: &UserId) -> Result<String> {
    erasable(tx, user).map(|known| known.user.email.stored_form().to_owned())
}

fn erasable(tx: &mut WriteTx<'_>, user: &UserId) -> Result<PersonRecord> {
    tx.lock_owner_changes()?;
    let known = find_person(tx, user)?;
    check_outranks(tx, &known)?;
    check_administers(tx, &known)?;
    if known.role == Some(MemberRole::Owner) && tx.other_owner_count(user)? == 0 {
        return Err(DomainError::LastOwner.into());
    }
    Ok(known)
}

fn erase_now(tx: &mut WriteTx<'_>, user: &UserId, traces: &LogScan) -> Result<ErasureCounts> {
    let known = erasable(tx, user)?;
    // The log is erased first, because it needs the address and the groups of the user.
    let address = known.user.email.stored_form().to_lowercase();
    let log_records = tx.on_platform(CrossTenantReason::PersonalData, |platform| {
        platform.erase_from_log(user, &address, traces)
    })?;
    let mut left = Vec::new();
    let classes = tx.classes_of_student(user)?;
    let mut left_here = 0;
    for class in &classes {
        tx.lock_managed_class(class)?;
        left_here += tx.count_groups_of_student(class, user)?;
        left.extend(tx.end_enrollment(class, user)?);
    }
    let now = tx.now();
    let (erased, files) = tx.on_platform(CrossTenantReason::PersonalData, |platform| {
        platform.erase_person(user, now)
    })?;
    let enrolled_here = i64::try_from(classes.len()).unwrap_or(i64::MAX);
    let erased = ErasureCounts {
        log_records,
        enrollments: erased.enrollments + enrolled_here,
        groups: erased.groups + left_here,
        ..erased
    };
    if !erased.is_nothing() {
        let user = erased_person(user);
        tx.record(UserChange::Erased { user, left, files });
    }
    Ok(erased)
}

/// Returns the user, if the organization may know of them: a member, a user with this home organization, or, for
/// platform administrators, any user.
fn find_person(tx: &mut WriteTx<'_>, id: &UserId) -> Result<PersonRecord> {
    let organization = tx.organization().clone();
    let (user, memberships) = tx.on_platform(CrossTenantReason::PersonalData, |platform| {
        Ok((platform.lock_profile(id)?, platform.memberships(id)?))
    })?;
    let role = tx.member_role(id)?;
    let is_at_home = user.home_organization_id.as_ref() == Some(&organization);
    if role.is_none() && !is_at_home && role_level(tx) != Some(RoleLevel::SuperAdmin) {
        return Err(Error::NotFound);
    }
    let is_elsewhere = memberships.iter().any(|other| *other != organization);
    Ok(PersonRecord {
        user,
        role,
        is_elsewhere,
    })
}

/// Rejects unless the user ranks below the caller. Platform administrators rank above every member.
fn check_outranks(tx: &WriteTx<'_>, known: &PersonRecord) -> Result<()> {
    let role_level = role_level(tx).ok_or(Error::NotAMember)?;
    let role = known.role.unwrap_or(MemberRole::Student);
    let is_above = role_level != RoleLevel::SuperAdmin && known.user.role == PlatformRole::SuperAdmin;
    if is_above || !role_level.outranks(role) {
        return Err(DomainError::ForbiddenRank.into());
    }
    Ok(())
}

/// Rejects unless this organization alone administers the account or the caller is a platform administrator.
fn check_administers(tx: &WriteTx<'_>, known: &PersonRecord) -> Result<()> {
    if role_level(tx) == Some(RoleLevel::SuperAdmin) {
        return Ok(());
    }
    Ok(known.user.administered_by(tx.organization(), known.is_elsewhere)?)
}

fn role_level(tx: &WriteTx<'_>) -> Option<RoleLevel> {
    let role = tx.actor().role;
    if role == PlatformRole::SuperAdmin.as_str() {
        return Some(RoleLevel::SuperAdmin);
    }
    MemberRole::parse(role).map(RoleLevel::Member)
}
