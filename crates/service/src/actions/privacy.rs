//! Personal data (GDPR): exports or erases what an organization stores about one user.

use garde::Validate;
use model::access::{MemberRole, PlatformRole, Rank};
use model::change::user::UserChange;
use model::erasure::{Erased, erased_person};
use model::id::UserId;
use model::job::{Job, JobKind};
use model::refusal::Refusal;
use model::user::User;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use common::error::{Error, Result};
use db::Work;
use db::platform::PlatformProof;
use db::platform::erasure::Traces;

/// A request to export the data of a user.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportRequest {
    /// A member of the organization, or a user whose account it created.
    #[garde(skip)]
    pub user_id: UserId,
}

/// A request to erase a user.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EraseRequest {
    /// A member of the organization, or a user whose account it created.
    #[garde(skip)]
    pub user_id: UserId,
    /// Only report what would be erased. Equivalent to the query parameter `dryRun`.
    #[serde(default)]
    #[garde(skip)]
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
pub fn export(work: &mut Work<'_>, asked: &ExportRequest) -> Result<Job> {
    let known = find_person(work, &asked.user_id)?;
    if work.actor().user.as_ref() != Some(&asked.user_id) {
        check_outranks(work, &known)?;
    }
    let with_account = check_administers(work, &known).is_ok();
    let payload = json!({"withAccount": with_account});
    let (job, is_new) = work.open_job(JobKind::PersonalExport, asked.user_id.as_str(), &payload)?;
    if is_new {
        let user = known.user.person();
        work.record(UserChange::Exported { user });
    }
    Ok(job)
}

/// Erases a user, or reports what would be erased. The work of groups stays, without the name of the user; a repeated
/// erasure finds nothing. `traces` are the references to the user that were found in the log before.
pub fn erase(work: &mut Work<'_>, asked: &EraseRequest, traces: &Traces) -> Result<Erased> {
    if asked.dry_run {
        work.rehearse(|work| erase_now(work, &asked.user_id, traces))
    } else {
        erase_now(work, &asked.user_id, traces)
    }
}

/// Checks that the caller may erase the user; returns the user's email address. Called before traces of the user are
/// searched, and again by the erasure.
pub fn may_erase(work: &mut Work<'_>, user: &UserId) -> Result<String> {
    erasable(work, user).map(|known| known.user.email)
}

fn erasable(work: &mut Work<'_>, user: &UserId) -> Result<PersonRecord> {
    work.hold_organization_of_owners()?;
    let known = find_person(work, user)?;
    check_outranks(work, &known)?;
    check_administers(work, &known)?;
    if known.role == Some(MemberRole::Owner) && work.owners_besides(user)? == 0 {
        return Err(Refusal::LastOwner.into());
    }
    Ok(known)
}

fn erase_now(work: &mut Work<'_>, user: &UserId, traces: &Traces) -> Result<Erased> {
    let known = erasable(work, user)?;
    // The log is erased first, because it needs the address and the groups of the user.
    let address = known.user.email.to_lowercase();
    let log_records = work.on_platform(PlatformProof::personal_data(), |platform| {
        platform.erase_from_log(user, &address, traces)
    })?;
    let mut left = Vec::new();
    let classes = work.classes_of_student(user)?;
    let mut left_here = 0;
    for class in &classes {
        work.class_to_manage(class)?;
        left_here += work.count_groups_of_student(class, user)?;
        left.extend(work.end_enrollment(class, user)?);
    }
    let now = work.now();
    let (erased, files) = work.on_platform(PlatformProof::personal_data(), |platform| {
        platform.erase_person(user, now)
    })?;
    let enrolled_here = i64::try_from(classes.len()).unwrap_or(i64::MAX);
    let erased = Erased {
        log_records,
        enrollments: erased.enrollments + enrolled_here,
        groups: erased.groups + left_here,
        ..erased
    };
    if !erased.is_nothing() {
        let user = erased_person(user);
        work.record(UserChange::Erased { user, left, files });
    }
    Ok(erased)
}

/// Returns the user, if the organization may know of them: a member, a user with this home organization, or, for
/// platform administrators, any user.
fn find_person(work: &mut Work<'_>, id: &UserId) -> Result<PersonRecord> {
    let organization = work.organization().clone();
    let (user, memberships) = work.on_platform(PlatformProof::personal_data(), |platform| {
        Ok((platform.profile_to_change(id)?, platform.memberships(id)?))
    })?;
    let role = work.member_role(id)?;
    let is_at_home = user.home_organization_id.as_ref() == Some(&organization);
    if role.is_none() && !is_at_home && rank(work) != Some(Rank::SuperAdmin) {
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
fn check_outranks(work: &Work<'_>, known: &PersonRecord) -> Result<()> {
    let rank = rank(work).ok_or(Error::NotAMember)?;
    let role = known.role.unwrap_or(MemberRole::Student);
    let is_above = rank != Rank::SuperAdmin && known.user.role == PlatformRole::SuperAdmin;
    if is_above || !rank.outranks(role) {
        return Err(Refusal::ForbiddenRank.into());
    }
    Ok(())
}

/// Rejects unless this organization alone administers the account or the caller is a platform administrator.
fn check_administers(work: &Work<'_>, known: &PersonRecord) -> Result<()> {
    if rank(work) == Some(Rank::SuperAdmin) {
        return Ok(());
    }
    Ok(known.user.administered_by(work.organization(), known.is_elsewhere)?)
}

fn rank(work: &Work<'_>) -> Option<Rank> {
    let role = work.actor().role;
    if role == PlatformRole::SuperAdmin.as_str() {
        return Some(Rank::SuperAdmin);
    }
    MemberRole::parse(role).map(Rank::Member)
}
