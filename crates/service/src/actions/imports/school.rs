//! Classes, homerooms and their members in an import from a school administration system, identified by its ids.

use domain::access::MemberRole;
use domain::class::{ClassEdit, ClassStatus};
use domain::error_code::ErrorCode;
use domain::homeroom::Homeroom;
use domain::id::{ClassId, HomeroomId, UserId};
use domain::import::{ImportMode, RowStatus};
use domain::invitation::EnrollmentTargets;
use domain::patch::{FieldDiff, FieldPatch};
use domain::text::ExternalId;

use domain::change::HomeroomChange;

use super::person::{add_co_teacher, confirm, enroll, find_student};
use super::{
    ImportPreview, ImportRules, ImportedClass, ImportedEnrollment, ImportedHomeroom, PreviewEntry, RowError, RowResult,
};
use crate::actions::classes::{self, NewClass};
use crate::actions::{enrollments, homerooms, invitations};
use common::clock;
use db::WriteTx;

/// Creates a class, or updates its name and year.
pub(super) fn import_class(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    new: &ImportedClass,
    preview: &ImportPreview,
) -> Result<RowResult, RowError> {
    if let Some(id) = tx.class_of_external_id(new.external_id.as_str())? {
        let class = tx.class(&id)?;
        let is_same = class.name == new.name && class.academic_year == new.academic_year;
        if is_same || rules.mode == ImportMode::Create {
            return Ok(RowResult::with(RowStatus::Skipped));
        }
        let edit = ClassEdit {
            name: FieldPatch::Value(new.name.clone()),
            academic_year: FieldPatch::Value(new.academic_year.clone()),
            ..ClassEdit::default()
        };
        classes::edit(tx, &id, &edit)?;
        return Ok(RowResult::with(RowStatus::Updated));
    }
    let missing = |what: &str| RowError::row("sourcedId", "no_teacher", what);
    let teacher = new.teacher.as_ref();
    let teacher = teacher.ok_or_else(|| missing("has no teacher in enrollments.csv who could own the class"))?;
    let (user, role) =
        member(tx, teacher, preview)?.ok_or_else(|| missing("has a teacher who is not a member here"))?;
    if role == MemberRole::Student {
        return Err(missing("has a teacher who is a student here"));
    }
    // In a dry run the owner may not exist yet. Then the class cannot be inserted, even temporarily.
    debug_assert!(rules.is_dry_run || user.is_some(), "only a dry run foresees people");
    if let Some(teacher_id) = user {
        let class = NewClass {
            name: new.name.clone(),
            academic_year: new.academic_year.clone(),
            semester: None,
            start_date: None,
            end_date: None,
            status: None,
            teacher_id: Some(teacher_id),
            homeroom_id: None,
            follows_homeroom: None,
            subject_ids: None,
            schedule: None,
            external_id: Some(new.external_id.clone()),
            enroll_homeroom: None,
        };
        classes::create(tx, &class)?;
    }
    Ok(RowResult {
        preview_entry: Some(PreviewEntry::Class(new.external_id.clone(), teacher.clone())),
        ..RowResult::with(RowStatus::Created)
    })
}

/// Archives a class that was removed from the administration system. Its content stays readable.
pub(super) fn archive_class(tx: &mut WriteTx<'_>, external_id: &ExternalId) -> Result<RowResult, RowError> {
    let Some(id) = tx.class_of_external_id(external_id.as_str())? else {
        return Ok(RowResult::with(RowStatus::Skipped));
    };
    if tx.class(&id)?.status == ClassStatus::Archived {
        return Ok(RowResult::with(RowStatus::Skipped));
    }
    let edit = ClassEdit {
        status: FieldPatch::Value(ClassStatus::Archived),
        ..ClassEdit::default()
    };
    classes::edit(tx, &id, &edit)?;
    Ok(RowResult::with(RowStatus::Updated))
}

/// Creates a homeroom, or assigns the external id to the existing homeroom of this name and year.
pub(super) fn import_homeroom(
    tx: &mut WriteTx<'_>,
    rules: ImportRules,
    new: &ImportedHomeroom,
) -> Result<RowResult, RowError> {
    let external_id = new.external_id.as_str();
    if let Some(id) = tx.homeroom_of_external_id(external_id)? {
        let mut homeroom = tx.lock_homeroom(&id)?;
        let mut changed = FieldDiff::new();
        if rules.mode == ImportMode::Upsert {
            changed.write("name", &mut homeroom.name, new.name.clone());
            changed.write(
                "academicYear",
                &mut homeroom.academic_year,
                Some(new.academic_year.clone()),
            );
        }
        if changed.is_empty() {
            return Ok(RowResult::with(RowStatus::Skipped));
        }
        homeroom.updated_at = tx.now();
        homerooms::update(tx, homeroom, changed)?;
        return Ok(RowResult::with(RowStatus::Updated));
    }
    if let Some(id) = tx.homeroom_of_year(new.name.as_str(), new.academic_year.as_str())? {
        if !tx.claim_homeroom(&id, external_id)? {
            return Err(RowError::row(
                "title",
                ErrorCode::DuplicateHomeroom.as_str(),
                "is the name of another homeroom of this year",
            ));
        }
        return Ok(RowResult {
            preview_entry: Some(PreviewEntry::Homeroom(new.external_id.clone(), Some(id))),
            ..RowResult::with(RowStatus::Updated)
        });
    }
    let homeroom = Homeroom {
        id: HomeroomId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        grade_level: None,
        academic_year: Some(new.academic_year.clone()),
        teacher_id: None,
        external_id: Some(new.external_id.clone()),
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_homeroom(&homeroom)?;
    tx.record(HomeroomChange::Created { homeroom });
    Ok(RowResult {
        preview_entry: Some(PreviewEntry::Homeroom(new.external_id.clone(), None)),
        ..RowResult::with(RowStatus::Created)
    })
}

/// A class or homeroom; `None` if it exists only in this dry run.
enum EnrollmentTarget {
    Class(Option<ClassId>),
    Homeroom(Option<HomeroomId>),
}

/// Adds a user to a class or homeroom, or removes them.
pub(super) fn import_enrollment(
    tx: &mut WriteTx<'_>,
    place: &ImportedEnrollment,
    preview: &ImportPreview,
) -> Result<RowResult, RowError> {
    let (whose, to) = (
        member(tx, &place.user, preview)?,
        find_target(tx, &place.class, preview)?,
    );
    if place.is_deleted {
        let is_updated = match (whose, to) {
            (Some((Some(user), _)), Some(to)) => remove_enrollment(tx, place, &user, to)?,
            // An unknown user cannot be a member.
            _ => false,
        };
        return Ok(RowResult::with(if is_updated {
            RowStatus::Updated
        } else {
            RowStatus::Skipped
        }));
    }
    if whose.is_none()
        && let Some(done) = enroll_invited(tx, place, to.as_ref(), preview)?
    {
        return Ok(done);
    }
    let (user, role) =
        whose.ok_or_else(|| RowError::row("userSourcedId", "unknown", "is the id of nobody who is a member here"))?;
    let to = to.ok_or_else(|| RowError::row("classSourcedId", "unknown", "is the id of no class here"))?;
    if place.is_teacher == (role == MemberRole::Student) {
        return Err(RowError::row("role", "differs", "differs from the role of the person"));
    }
    let mut done = RowResult::with(RowStatus::Created);
    let is_new = match (user, to) {
        (Some(user), EnrollmentTarget::Class(Some(class))) if place.is_teacher => add_co_teacher(tx, &class, &user)?,
        (Some(user), EnrollmentTarget::Class(Some(class))) => {
            let is_new = !tx.is_in_class(&class, &user)?;
            if is_new {
                let student = find_student(tx, &user, "userSourcedId")?;
                enroll(tx, &class, &user)?;
                done.enrolled.push((class, student));
            } else {
                confirm(tx, &class, &user)?;
            }
            is_new
        }
        (user, EnrollmentTarget::Homeroom(homeroom)) if place.is_teacher => {
            let is_first = !preview.kept.contains(place.class.as_str());
            done.preview_entry = Some(PreviewEntry::Kept(place.class.clone()));
            is_first && keep_homeroom(tx, homeroom.as_ref(), user.as_ref())?
        }
        (Some(user), EnrollmentTarget::Homeroom(Some(homeroom))) => {
            let is_new = !tx.is_in_homeroom(&homeroom, &user)?;
            if is_new {
                let student = find_student(tx, &user, "userSourcedId")?;
                tx.enroll_in_homeroom(&homeroom, &user)?;
                done.joined.push((homeroom, student));
            }
            is_new
        }
        // At least one of the two exists only in this dry run, so the membership is new, except that of the owner of
        // a class.
        (_, EnrollmentTarget::Class(_) | EnrollmentTarget::Homeroom(_)) => {
            !place.is_teacher || preview.classes.get(place.class.as_str()) != Some(&place.user)
        }
    };
    if !is_new {
        done.status = RowStatus::Skipped;
    }
    Ok(done)
}

/// Adds the class or homeroom to the pending invitation with this external id, if there is one. An invited teacher
/// becomes homeroom teacher only on acceptance.
fn enroll_invited(
    tx: &mut WriteTx<'_>,
    place: &ImportedEnrollment,
    to: Option<&EnrollmentTarget>,
    preview: &ImportPreview,
) -> Result<Option<RowResult>, RowError> {
    let invited = RowResult::with(RowStatus::Invited);
    let Some(mut invitation) = tx.pending_invitation_of_external_id(place.user.as_str())? else {
        let preview = preview.people.get(place.user.as_str());
        return Ok(preview.filter(|person| person.is_invited).map(|_| invited));
    };
    let enrollment_targets = match to {
        Some(EnrollmentTarget::Class(Some(class))) => EnrollmentTargets {
            class_ids: vec![class.clone()],
            homeroom_ids: Vec::new(),
        },
        Some(EnrollmentTarget::Homeroom(Some(homeroom))) if !place.is_teacher => EnrollmentTargets {
            class_ids: Vec::new(),
            homeroom_ids: vec![homeroom.clone()],
        },
        _ => EnrollmentTargets::default(),
    };
    invitations::add_enrollment_targets(&mut invitation, &enrollment_targets);
    tx.update_invitation(&invitation)?;
    Ok(Some(invited))
}

fn remove_enrollment(
    tx: &mut WriteTx<'_>,
    place: &ImportedEnrollment,
    user: &UserId,
    from: EnrollmentTarget,
) -> Result<bool, RowError> {
    match from {
        EnrollmentTarget::Class(Some(class)) if place.is_teacher => {
            // The owner is not removed, because a class must have one.
            let is_there = tx.is_co_teacher(&class, user)?;
            if is_there {
                classes::remove_teacher(tx, &class, user)?;
            }
            Ok(is_there)
        }
        EnrollmentTarget::Class(Some(class)) => {
            let is_there = tx.is_in_class(&class, user)?;
            if is_there {
                enrollments::unenroll(tx, &class, user)?;
            }
            Ok(is_there)
        }
        EnrollmentTarget::Homeroom(Some(homeroom)) if !place.is_teacher => {
            let is_there = tx.is_in_homeroom(&homeroom, user)?;
            if is_there {
                homerooms::remove_student(tx, &homeroom, user)?;
            }
            Ok(is_there)
        }
        EnrollmentTarget::Class(None) | EnrollmentTarget::Homeroom(_) => Ok(false),
    }
}

/// Makes a teacher the homeroom teacher if there is none. A homeroom that exists only in this dry run has none.
fn keep_homeroom(tx: &mut WriteTx<'_>, id: Option<&HomeroomId>, teacher: Option<&UserId>) -> Result<bool, RowError> {
    let Some(id) = id else { return Ok(true) };
    let mut homeroom = tx.lock_homeroom(id)?;
    if homeroom.teacher_id.is_some() {
        return Ok(false);
    }
    let Some(teacher) = teacher else { return Ok(true) };
    let mut changed = FieldDiff::new();
    changed.write("teacherId", &mut homeroom.teacher_id, Some(teacher.clone()));
    homeroom.updated_at = tx.now();
    homerooms::update(tx, homeroom, changed)?;
    Ok(true)
}

/// Returns the role of the member with an external id, and the account if it exists.
fn member(
    tx: &mut WriteTx<'_>,
    external_id: &ExternalId,
    preview: &ImportPreview,
) -> Result<Option<(Option<UserId>, MemberRole)>, RowError> {
    if let Some(found) = tx.member_of_external_id(external_id.as_str())? {
        return Ok(Some((Some(found.user), found.role)));
    }
    let preview = preview
        .people
        .get(external_id.as_str())
        .filter(|person| !person.is_invited);
    Ok(preview.map(|member| (member.user.clone(), member.role)))
}

fn find_target(
    tx: &mut WriteTx<'_>,
    external_id: &ExternalId,
    preview: &ImportPreview,
) -> Result<Option<EnrollmentTarget>, RowError> {
    let text = external_id.as_str();
    if let Some(class) = tx.class_of_external_id(text)? {
        return Ok(Some(EnrollmentTarget::Class(Some(class))));
    }
    if let Some(homeroom) = tx.homeroom_of_external_id(text)? {
        return Ok(Some(EnrollmentTarget::Homeroom(Some(homeroom))));
    }
    let class = preview
        .classes
        .contains_key(text)
        .then_some(EnrollmentTarget::Class(None));
    let homeroom = preview.homerooms.get(text);
    Ok(class.or_else(|| homeroom.map(|homeroom| EnrollmentTarget::Homeroom(homeroom.clone()))))
}
