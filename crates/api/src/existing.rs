//! `existingId` of a conflict: the object that already has the unique value, if the caller may read it.

use domain::course::CourseEdit;
use domain::group::GroupEdit;
use domain::homeroom::HomeroomEdit;
use domain::id::{ClassId, CourseId, GroupId, HomeroomId, SubjectId};
use domain::mail_domain::MailDomainName;
use domain::number::GroupNumber;
use domain::text::{AcademicYear, CustomDomain, ExternalId, Name, ShortName, Slug, name_key};

use super::context::Context;
use common::error::{Error, Result};
use db::ReadTx;
use db::classes::ClassFilter;
use db::courses::CourseFilter;
use db::groups::GroupFilter;
use db::homerooms::HomeroomFilter;
use db::platform::CrossTenantReason;

/// Adds the id that `find` returns to a conflict; any other outcome is returned unchanged. The search has the
/// visibility of the caller, so that no object is named that the caller may not read.
pub async fn add_existing_id<T>(
    cx: &Context,
    outcome: Result<T>,
    find: impl FnOnce(&mut ReadTx<'_>) -> Result<Option<String>> + Send + 'static,
) -> Result<T> {
    if conflict_path(&outcome).is_none() {
        return outcome;
    }
    let id = cx.read(find).await.unwrap_or_default();
    with_existing_id(outcome, id)
}

/// The field that caused a conflict.
fn conflict_path<T>(outcome: &Result<T>) -> Option<&'static str> {
    match outcome {
        Err(Error::Conflict { path, .. }) => Some(path),
        _ => None,
    }
}

fn with_existing_id<T>(mut outcome: Result<T>, id: Option<String>) -> Result<T> {
    if let Err(Error::Conflict { existing_id, .. }) = &mut outcome {
        *existing_id = id;
    }
    outcome
}

/// Names the user who already has the email address or external id of a conflict.
pub async fn person<T>(
    cx: &Context,
    outcome: Result<T>,
    email: Option<String>,
    external_id: Option<ExternalId>,
) -> Result<T> {
    let Some(path) = conflict_path(&outcome) else {
        return outcome;
    };
    let find = move |tx: &mut ReadTx<'_>| {
        let found = match (path, &email, &external_id) {
            ("email", Some(email), _) => tx.user_with_email(email)?,
            ("externalId", _, Some(external_id)) => tx.user_with_external_id(external_id)?,
            _ => None,
        };
        Ok(found.map(|id| id.to_string()))
    };
    add_existing_id(cx, outcome, find).await
}

/// Names the organization that already has the slug or custom domain of a conflict. The caller is a SUPER_ADMIN.
pub async fn organization<T>(
    cx: &Context,
    outcome: Result<T>,
    slug: Option<Slug>,
    custom_domain: Option<CustomDomain>,
) -> Result<T> {
    let Some(path) = conflict_path(&outcome) else {
        return outcome;
    };
    let find = cx
        .app()
        .store()
        .platform_read(CrossTenantReason::SuperAdmin, |platform| platform.organizations(None));
    let organizations = find.await.unwrap_or_default();
    let mut organizations = organizations.into_iter();
    let found = organizations.find(|organization| match path {
        "slug" => Some(&organization.slug) == slug.as_ref(),
        "customDomain" => custom_domain.is_some() && organization.custom_domain == custom_domain,
        _ => false,
    });
    with_existing_id(outcome, found.map(|organization| organization.id.to_string()))
}

/// Finds the mail domain with this name in the organization.
pub fn mail_domain(tx: &mut ReadTx<'_>, name: &MailDomainName) -> Result<Option<String>> {
    let mut domains = tx.mail_domains()?.into_iter();
    Ok(domains
        .find(|held| held.domain == *name)
        .map(|held| held.id.to_string()))
}

/// Finds the course with this name in a class and subject.
pub fn course(tx: &mut ReadTx<'_>, class: &ClassId, subject: &SubjectId, name: &Name) -> Result<Option<String>> {
    let filter = CourseFilter {
        class_id: Some(class.clone()),
        subject_id: Some(subject.clone()),
        ..CourseFilter::default()
    };
    let mut courses = tx.courses(&filter)?.into_iter().map(|details| details.course);
    let found = courses.find(|course| course.name == *name);
    Ok(found.map(|course| course.id.to_string()))
}

/// Finds the course that an edit of another course conflicts with.
pub fn course_of_edit(tx: &mut ReadTx<'_>, id: &CourseId, edit: &CourseEdit) -> Result<Option<String>> {
    let course_now = tx.course(id)?.course;
    let class = edit.class_id.value().unwrap_or(&course_now.class_id);
    let subject = edit.subject_id.value().unwrap_or(&course_now.subject_id);
    course(tx, class, subject, edit.name.value().unwrap_or(&course_now.name))
}

/// Finds the group with this number in a class.
pub fn group(tx: &mut ReadTx<'_>, class: &ClassId, number: Option<GroupNumber>) -> Result<Option<String>> {
    group_with_one_of(tx, class, number.as_slice())
}

/// Finds a group with one of these numbers in a class.
pub fn group_with_one_of(tx: &mut ReadTx<'_>, class: &ClassId, numbers: &[GroupNumber]) -> Result<Option<String>> {
    let filter = GroupFilter {
        class_id: Some(class.clone()),
        ..GroupFilter::default()
    };
    let mut groups = tx.groups(&filter)?.into_iter().map(|known| known.details.group);
    let found = groups.find(|group| numbers.contains(&group.group_number));
    Ok(found.map(|group| group.id.to_string()))
}

/// Finds the group that an edit of another group conflicts with.
pub fn group_of_edit(tx: &mut ReadTx<'_>, id: &GroupId, edit: &GroupEdit) -> Result<Option<String>> {
    let class = tx.group(id)?.details.group.class_id;
    group(tx, &class, edit.group_number.value().copied())
}

/// Finds the subject with this name.
pub fn subject(tx: &mut ReadTx<'_>, name: Option<&ShortName>) -> Result<Option<String>> {
    let Some(key) = name.map(|name| name_key(name.as_str())) else {
        return Ok(None);
    };
    let mut subjects = tx.subjects(None, None)?.into_iter();
    let found = subjects.find(|subject| name_key(subject.name.as_str()) == key);
    Ok(found.map(|subject| subject.id.to_string()))
}

/// Finds the homeroom with this name in a school year.
pub fn homeroom(tx: &mut ReadTx<'_>, name: &ShortName, year: Option<&AcademicYear>) -> Result<Option<String>> {
    let filter = HomeroomFilter {
        search: None,
        academic_year: None,
        teacher_id: None,
    };
    let mut homerooms = tx.homerooms(&filter)?.into_iter().map(|counted| counted.homeroom);
    let found = homerooms.find(|homeroom| homeroom.name == *name && homeroom.academic_year.as_ref() == year);
    Ok(found.map(|homeroom| homeroom.id.to_string()))
}

/// Finds the homeroom that an edit of another homeroom conflicts with.
pub fn homeroom_of_edit(tx: &mut ReadTx<'_>, id: &HomeroomId, edit: &HomeroomEdit) -> Result<Option<String>> {
    let now = tx.homeroom(id)?.homeroom;
    let year = edit.academic_year.clone().resolve(now.academic_year.clone());
    homeroom(tx, edit.name.value().unwrap_or(&now.name), year.as_ref())
}

/// Finds the class with this external id.
pub fn class(tx: &mut ReadTx<'_>, external_id: Option<&ExternalId>) -> Result<Option<String>> {
    let mut classes = tx
        .classes(&ClassFilter::default())?
        .into_iter()
        .map(|details| details.class);
    let found = classes.find(|class| class.external_id.is_some() && class.external_id.as_ref() == external_id);
    Ok(found.map(|class| class.id.to_string()))
}
