//! Adds and removes files of grades: what staff give back to a group besides grade and comment. The bytes are stored before
//! the row is inserted and deleted after the row is gone.

use domain::change::SubmissionChange;
use domain::domain_error::DomainError;
use domain::file::{GRADE_FILES_MAX, GradeFile, StoredFile};
use domain::grade::Grade;
use domain::id::{AttachmentId, SubmissionId};

use super::acting_user::acting_user;
use super::grades::{lock_group_work, writable};
use super::submissions::whole_link;
use common::error::{Error, Result};
use db::WriteTx;
use db::submissions::grades::GroupWork;

/// Adds a file to the grade of the current submission of a group. Without a grade, its first state is an empty draft.
pub fn add(tx: &mut WriteTx<'_>, id: &SubmissionId, file: AttachmentId, stored: StoredFile) -> Result<GradeFile> {
    let at = lock_group_work(tx, id)?;
    writable(at.class_status)?;
    let link = whole_link(tx, &at.assignment_id, &at.group_id)?;
    let submission = tx.submission(id)?;
    if link.link.current_submission_id.as_ref() != Some(id) {
        return Err(DomainError::NotSubmitted.into());
    }
    let (teacher, now) = (acting_user(tx)?, tx.now());
    if let Some(grade) = &submission.grade {
        DomainError::check_limit("files of a grade", grade.files.len() + 1, GRADE_FILES_MAX)?;
    } else {
        let grade = Grade {
            version: 1,
            ..Grade::blank(id.clone(), teacher.clone(), now)
        };
        tx.write_grade(&grade, &teacher)?;
    }
    let file = GradeFile {
        id: file,
        submission_id: id.clone(),
        file: stored,
        uploaded_by_id: teacher,
        created_at: now,
    };
    tx.insert_grade_file(&file)?;
    record_change(tx, &at, id, file.clone(), true)?;
    Ok(file)
}

/// Removes a file of a grade, also of a former submission.
pub fn remove(tx: &mut WriteTx<'_>, id: &SubmissionId, file: &AttachmentId) -> Result<()> {
    let at = lock_group_work(tx, id)?;
    writable(at.class_status)?;
    let grade = tx.submission(id)?.grade;
    let files = grade.map(|grade| grade.files).unwrap_or_default();
    let file = files
        .into_iter()
        .find(|found| found.id == *file)
        .ok_or(Error::NotFound)?;
    tx.delete_grade_file(&file.id)?;
    record_change(tx, &at, id, file, false)
}

fn record_change(
    tx: &mut WriteTx<'_>,
    at: &GroupWork,
    id: &SubmissionId,
    file: GradeFile,
    is_added: bool,
) -> Result<()> {
    let change = SubmissionChange::GradeFileChanged {
        link: Box::new(whole_link(tx, &at.assignment_id, &at.group_id)?),
        submission: Box::new(tx.submission(id)?),
        file,
        members: tx.member_ids_of(&at.group_id)?,
        is_added,
    };
    tx.record(change);
    Ok(())
}
