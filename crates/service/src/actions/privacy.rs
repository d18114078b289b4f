//! What a school does with all it holds about one person: hand it out, or erase it (contract 6.14).

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

/// Whose data is asked for.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportRequest {
    /// A member of the organization, or somebody whose account it made.
    #[garde(skip)]
    pub user_id: UserId,
}

/// Who is to be erased.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EraseRequest {
    /// A member of the organization, or somebody whose account it made.
    #[garde(skip)]
    pub user_id: UserId,
    /// Only show what would happen; the same as `dryRun` in the query.
    #[serde(default)]
    #[garde(skip)]
    pub dry_run: bool,
}

/// A person whom a school knows.
struct Known {
    user: User,
    role: Option<MemberRole>,
    is_elsewhere: bool,
}

/// Asks for an archive of what the organization holds about a person; with the account itself only where the organization
/// alone administers it. One archive at a time: who asks again meanwhile is given the same.
pub fn export(work: &mut Work<'_>, asked: &ExportRequest) -> Result<Job> {
    let known = known(work, &asked.user_id)?;
    if work.actor().user.as_ref() != Some(&asked.user_id) {
        outranked(work, &known)?;
    }
    let with_account = administered(work, &known).is_ok();
    let payload = json!({"withAccount": with_account});
    let (job, is_new) = work.open_job(JobKind::PersonalExport, asked.user_id.as_str(), &payload)?;
    if is_new {
        let user = known.user.person();
        work.record(UserChange::Exported { user });
    }
    Ok(job)
}

/// Erases a person, or tells what would go. The group's work stays, the name goes; asking again finds nothing.
/// `traces` are what was found of him in the log before, for whoever may erase him.
pub fn erase(work: &mut Work<'_>, asked: &EraseRequest, traces: &Traces) -> Result<Erased> {
    if asked.dry_run {
        work.rehearse(|work| erase_now(work, &asked.user_id, traces))
    } else {
        erase_now(work, &asked.user_id, traces)
    }
}

/// Refuses a caller who may not erase the person; returns the e-mail address. Checked before traces of the person are looked
/// for, and again by the erasure.
pub fn may_erase(work: &mut Work<'_>, user: &UserId) -> Result<String> {
    erasable(work, user).map(|known| known.user.email)
}

fn erasable(work: &mut Work<'_>, user: &UserId) -> Result<Known> {
    work.hold_organization_of_owners()?;
    let known = known(work, user)?;
    outranked(work, &known)?;
    administered(work, &known)?;
    if known.role == Some(MemberRole::Owner) && work.owners_besides(user)? == 0 {
        return Err(Refusal::LastOwner.into());
    }
    Ok(known)
}

fn erase_now(work: &mut Work<'_>, user: &UserId, traces: &Traces) -> Result<Erased> {
    let known = erasable(work, user)?;
    // The log first: afterwards nobody knows the address and the groups any more.
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

/// The person, if the organization may know of him: a member, somebody at home here, or anybody for the platform.
fn known(work: &mut Work<'_>, id: &UserId) -> Result<Known> {
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
    Ok(Known {
        user,
        role,
        is_elsewhere,
    })
}

/// Refuses unless the person stands below the one who acts; those who run the platform stand above every member.
fn outranked(work: &Work<'_>, known: &Known) -> Result<()> {
    let rank = rank(work).ok_or(Error::NotAMember)?;
    let role = known.role.unwrap_or(MemberRole::Student);
    let is_above = rank != Rank::SuperAdmin && known.user.role == PlatformRole::SuperAdmin;
    if is_above || !rank.outranks(role) {
        return Err(Refusal::ForbiddenRank.into());
    }
    Ok(())
}

/// Refuses unless the account is this organization's alone, or the platform acts (contract 6.3).
fn administered(work: &Work<'_>, known: &Known) -> Result<()> {
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
