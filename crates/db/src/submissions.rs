//! Submissions: attempts with copies, grade and feedback. Visibility is checked by the caller, through a link or a
//! document visible to the viewer.

pub mod attempts;
pub mod feedback;
pub mod grades;

use std::collections::HashMap;

use domain::details::SubmissionDetails;
use domain::feedback::Feedback;
use domain::file::{FileKey, GradeFile};
use domain::grade::{Grade, GradeMark, MemberGrade};
use domain::id::{
    AssignmentId, AttachmentId, DocumentId, GroupAssignmentId, GroupId, SubmissionDocumentId, SubmissionId, UserId,
};
use domain::number::Points;
use domain::rubric::RubricMark;
use domain::submission::{Submission, SubmissionDocument, SubmissionStatus};
use domain::time::Timestamp;

use super::group_assignments::submission;
use super::sql::{Columns, NamedStatements};
use super::{ReadTx, WriteTx};
use crate::group_assignments::SUBMISSION_COLUMNS;
use crate::labels::{PERSON_COLUMNS, person, stored_file};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    pub(crate) COPY_COLUMNS = "sd.id, sd.submission_id, sd.document_id, sd.document_version, sd.title,
        sd.file_extension, sd.size, sd.sha256,
            sd.file_key";
    pub(crate) GRADE_COLUMNS = "gr.id AS grade_id, gr.submission_id, gr.value, gr.points, gr.feedback,
        gr.rubric,
        gr.status AS grade_status,
            gr.version AS grade_version, gr.graded_by_id, gr.graded_at,
            gr.published_at";
    pub(crate) MEMBER_GRADE_COLUMNS = "mg.user_id, mg.value, mg.points, mg.feedback, mg.graded_at, mg.graded_by_id";
    pub(crate) GRADE_FILE_COLUMNS = "gf.id, gf.submission_id, gf.file_name, gf.mime_type, gf.size, gf.sha256, gf.file_key,
            gf.uploaded_by_id, gf.created_at";
    pub(crate) FEEDBACK_COLUMNS = "fb.id, fb.group_assignment_id, fb.submission_id, fb.document_id, {PERSON_COLUMNS},
        fb.text, fb.visibility,
            fb.published_at, fb.created_at, fb.updated_at";
}

statements! {
    BY_ID = "SELECT s.organization_id, {SUBMISSION_COLUMNS} FROM submissions s
        WHERE s.organization_id = $1 AND s.id = $2";
    /// The attempt in which a document is currently submitted.
    ACTIVE_OF_DOCUMENT = "SELECT s.organization_id, {SUBMISSION_COLUMNS} FROM submissions s
        JOIN submission_documents sd ON sd.submission_id = s.id
        WHERE s.organization_id = $1 AND sd.document_id = $2 AND s.status = 'ACTIVE'";
    /// The copies of an attempt, in the order of their documents.
    COPIES = "SELECT {COPY_COLUMNS} FROM submission_documents sd
        WHERE sd.organization_id = $1 AND sd.submission_id = $2 ORDER BY sd.created_at, sd.id";
    /// The copy of a document in an attempt.
    COPY = "SELECT {COPY_COLUMNS} FROM submission_documents sd
        WHERE sd.organization_id = $1 AND sd.id = $2 AND sd.document_id = $3";
    /// The number of attempts of a link.
    ATTEMPTS = "SELECT COALESCE(MAX(attempt), 0) FROM submissions
            WHERE organization_id = $1 AND group_assignment_id = $2";
    /// The number of attempts of each link of a topic.
    ATTEMPTS_OF_TOPIC = "SELECT ga.id, MAX(s.attempt) AS attempts FROM group_assignments ga
        JOIN submissions s ON s.group_assignment_id = ga.id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 GROUP BY ga.id";
    /// The present members of a group.
    MEMBERS = "SELECT user_id FROM group_members WHERE organization_id = $1 AND group_id = $2
            ORDER BY joined_at, user_id";
    INSERT = "INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, status, submitted_by_id,
            submitted_at, on_behalf, is_late, late_by_seconds, member_ids, note, created_at)
        VALUES ($1, :id, :group_assignment_id, :attempt, :status, :submitted_by_id, :submitted_at, :on_behalf, :is_late,
            :late_by_seconds, :member_ids, :note, :created_at)";
    /// Updates the status of an attempt.
    UPDATE = "UPDATE submissions SET status = $3, withdrawn_at = $4, withdrawn_by_id = $5
        WHERE organization_id = $1 AND id = $2";
    INSERT_COPY = "INSERT INTO submission_documents (organization_id, id, submission_id, document_id, document_version,
            title, file_extension, size, sha256, file_key, created_at)
        VALUES ($1, :id, :submission_id, :document_id, :document_version, :title, :file_extension, :size, :sha256,
            :file_key, :created_at)";
    /// Replaces the bytes of a copy with those of a save that was in transit at the submission.
    UPDATE_COPY = "UPDATE submission_documents SET document_version = :document_version, size = :size, sha256 = :sha256,
            file_key = :file_key
        WHERE organization_id = $1 AND id = :id";
    /// The text of a copy with its authors.
    AUTHORSHIP = "SELECT authorship FROM submission_documents
        WHERE organization_id = $1 AND id = $2 AND document_id = $3";
    SET_AUTHORSHIP = "UPDATE submission_documents SET authorship = $3 WHERE organization_id = $1 AND id = $2";
    /// Sets the authorship of the current copy of a document, if it has these bytes.
    SET_CURRENT_AUTHORSHIP = "UPDATE submission_documents SET authorship = $4
        WHERE organization_id = $1 AND document_id = $2 AND sha256 = $3 AND EXISTS (
            SELECT 1 FROM submissions s WHERE s.organization_id = $1 AND s.id = submission_documents.submission_id
                AND s.status = 'ACTIVE')";
    /// Copies of the same bytes in two attempts have the same authors.
    CARRY_AUTHORSHIP = "UPDATE submission_documents SET authorship = (SELECT f.authorship FROM submission_documents f
            WHERE f.organization_id = $1 AND f.submission_id = $2 AND f.document_id = submission_documents.document_id
                AND f.file_key = submission_documents.file_key)
        WHERE organization_id = $1 AND submission_id = $3";
    /// Whether a copy refers to a file.
    NAMES_FILE = "SELECT EXISTS (SELECT 1 FROM submission_documents WHERE organization_id = $1 AND file_key = $2)";
    GRADE = "SELECT {GRADE_COLUMNS} FROM grades gr WHERE gr.organization_id = $1 AND gr.submission_id = $2";
    MEMBER_GRADES = "SELECT {MEMBER_GRADE_COLUMNS} FROM member_grades mg
        WHERE mg.organization_id = $1 AND mg.grade_id = $2 ORDER BY mg.user_id";
    GRADE_FILES = "SELECT {GRADE_FILE_COLUMNS} FROM grade_files gf
        WHERE gf.organization_id = $1 AND gf.submission_id = $2 ORDER BY gf.created_at, gf.id";
    INSERT_GRADE_FILE = "INSERT INTO grade_files (organization_id, id, submission_id, file_name, mime_type, size,
            sha256, file_key, uploaded_by_id, created_at)
        VALUES ($1, :id, :submission_id, :file_name, :mime_type, :size, :sha256, :file_key, :uploaded_by_id,
            :created_at)";
    DELETE_GRADE_FILE = "DELETE FROM grade_files WHERE organization_id = $1 AND id = $2";
    FEEDBACK = "SELECT {FEEDBACK_COLUMNS} FROM feedback fb JOIN users u ON u.id = fb.author_id
        WHERE fb.organization_id = $1 AND fb.submission_id = $2 ORDER BY fb.created_at, fb.id";
}

/// The statements of this file and of its submodules, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("submissions", STATEMENTS.to_vec()),
        ("submissions::attempts", attempts::STATEMENTS.to_vec()),
        ("submissions::attempts::content", attempts::CONTENT.statements()),
        ("submissions::feedback", feedback::STATEMENTS.to_vec()),
        ("submissions::grades", grades::STATEMENTS.to_vec()),
    ]
}

impl ReadTx<'_> {
    /// Returns an attempt with copies, grade and feedback.
    pub fn submission(&mut self, id: &SubmissionId) -> Result<SubmissionDetails> {
        let found = self.fetch_one(&BY_ID, args![id], submission)?;
        self.whole_submission(found)
    }

    /// Returns the attempt in which a document is currently submitted, with copies, grade and feedback.
    pub fn submission_of_document(&mut self, document: &DocumentId) -> Result<Option<SubmissionDetails>> {
        let found = self.fetch_optional(&ACTIVE_OF_DOCUMENT, args![document], submission)?;
        found.map(|found| self.whole_submission(found)).transpose()
    }

    /// Returns the copy of a document in an attempt.
    pub fn submitted_copy(&mut self, id: &SubmissionDocumentId, document: &DocumentId) -> Result<SubmissionDocument> {
        self.fetch_one(&COPY, args![id, document], copy)
    }

    /// Returns the text of a copy with its authors as JSON; `None` if it was not recorded.
    pub fn submitted_authorship(&mut self, id: &SubmissionDocumentId, document: &DocumentId) -> Result<Option<String>> {
        self.fetch_one(&AUTHORSHIP, args![id, document], |row| row.get("authorship"))
    }

    /// Returns the number of attempts of a link.
    pub fn attempts(&mut self, link: &GroupAssignmentId) -> Result<i64> {
        self.fetch_one(&ATTEMPTS, args![link], |row| row.only())
    }

    /// Returns the number of attempts of each link of a topic that has any, regardless of the viewer.
    pub fn attempts_of_topic(&mut self, topic: &AssignmentId) -> Result<HashMap<GroupAssignmentId, i64>> {
        let rows = self.fetch_all(&ATTEMPTS_OF_TOPIC, args![topic], |row| row.pair("id", "attempts"))?;
        Ok(rows.into_iter().collect())
    }

    /// Lists the present members of a group.
    pub fn member_ids_of(&mut self, group: &GroupId) -> Result<Vec<UserId>> {
        self.fetch_all(&MEMBERS, args![group], |row| row.get("user_id"))
    }

    fn whole_submission(&mut self, submission: Submission) -> Result<SubmissionDetails> {
        let id = &submission.id;
        let documents = self.fetch_all(&COPIES, args![id], copy)?;
        let grade = match self.fetch_optional(&GRADE, args![id], grade)? {
            Some((grade_id, mut grade)) => {
                for single in self.fetch_all(&MEMBER_GRADES, args![grade_id], member_grade)? {
                    single.add_to(&mut grade);
                }
                grade.files = self.fetch_all(&GRADE_FILES, args![id], grade_file)?;
                Some(grade)
            }
            None => None,
        };
        let feedback = self.fetch_all(&FEEDBACK, args![id], feedback)?;
        Ok(SubmissionDetails {
            submission,
            documents,
            grade,
            feedback,
        })
    }
}

impl WriteTx<'_> {
    /// Inserts an attempt.
    pub fn insert_submission(&mut self, new: &Submission) -> Result<()> {
        let members = serde_json::to_string(&new.member_ids)?;
        self.execute_named(
            &INSERT,
            named![new =>
                id, group_assignment_id, attempt, status, submitted_by_id, submitted_at, on_behalf, note, created_at,
                is_late: new.lateness.is_late,
                late_by_seconds: new.lateness.late_by_seconds,
                member_ids: members,
            ],
        )
    }

    /// Updates the status of an attempt. Only its end is written (superseded, withdrawn or returned); lateness has its
    /// own statement.
    pub fn update_submission(&mut self, submission: &Submission) -> Result<()> {
        debug_assert_ne!(submission.status, SubmissionStatus::Active, "an attempt begins active");
        self.execute(
            &UPDATE,
            args![
                submission.id,
                submission.status.as_str(),
                submission.withdrawn_at,
                submission.withdrawn_by_id,
            ],
        )
    }

    /// Inserts a copy into an attempt and counts its size against the storage quota.
    pub fn insert_copy(&mut self, new: &SubmissionDocument) -> Result<()> {
        self.stored(new.size);
        let now = self.now();
        self.execute_named(
            &INSERT_COPY,
            named![new =>
                id, submission_id, document_id, document_version, title, file_extension, size, sha256, file_key,
                created_at: now,
            ],
        )
    }

    /// Sets the text of a copy with its authors, as JSON.
    pub fn set_authorship(&mut self, id: &SubmissionDocumentId, authorship: &str) -> Result<()> {
        self.execute(&SET_AUTHORSHIP, args![id, authorship])
    }

    /// Sets the text with its authors of the current copy of a document, if the copy has bytes with this SHA-256.
    pub fn set_current_authorship(&mut self, document: &DocumentId, sha256: &str, authorship: &str) -> Result<()> {
        self.execute(&SET_CURRENT_AUTHORSHIP, args![document, sha256, authorship])
    }

    /// Takes the authorship of unchanged copies over from the former attempt.
    pub fn carry_authorship(&mut self, former: &SubmissionId, new: &SubmissionId) -> Result<()> {
        self.execute(&CARRY_AUTHORSHIP, args![former, new])
    }

    /// Inserts a file of a grade and counts its size against the storage quota.
    pub fn insert_grade_file(&mut self, new: &GradeFile) -> Result<()> {
        self.stored(new.file.size);
        self.execute_named(
            &INSERT_GRADE_FILE,
            named![new =>
                id, submission_id, uploaded_by_id, created_at,
                file_name: new.file.file_name,
                mime_type: new.file.mime_type,
                size: new.file.size,
                sha256: new.file.sha256,
                file_key: new.file.key,
            ],
        )
    }

    /// Deletes the row of a file of a grade. The stored bytes are removed with the change that the caller records.
    pub fn delete_grade_file(&mut self, id: &AttachmentId) -> Result<()> {
        self.execute(&DELETE_GRADE_FILE, args![id])
    }

    /// Replaces the bytes of a copy. The former file is removed unless another attempt refers to it.
    pub fn replace_copy(&mut self, changed: &SubmissionDocument, former: &FileKey) -> Result<()> {
        self.execute_named(
            &UPDATE_COPY,
            named![changed => id, document_version, size, sha256, file_key],
        )?;
        for file in self.delete_converted_copies(&changed.id)? {
            self.insert_file_removal(&file)?;
        }
        let is_named: bool = self.fetch_one(&NAMES_FILE, args![former.as_str()], |row| row.only())?;
        if is_named {
            Ok(())
        } else {
            self.insert_file_removal(former)
        }
    }
}

pub(super) fn copy(row: &Columns<'_>) -> Result<SubmissionDocument> {
    from_row!(row => SubmissionDocument {
        id, submission_id, document_id, document_version, title, file_extension, size, sha256, file_key,
    })
}

/// Reads the row id and the grade without the grades of single members.
pub(super) fn grade(row: &Columns<'_>) -> Result<(String, Grade)> {
    let grade = Grade {
        rubric: rubric_marks(row)?,
        ..group_grade(row, row.get("submission_id")?)?
    };
    Ok((row.get("grade_id")?, grade))
}

/// Reads the grade of the group without filled criteria.
pub(super) fn group_grade(row: &Columns<'_>, submission_id: SubmissionId) -> Result<Grade> {
    Ok(Grade {
        value: row.get("value")?,
        points: row.get::<Option<f64>>("points")?.map(Points::stored),
        feedback: row.get("feedback")?,
        status: row.get("grade_status")?,
        version: row.get("grade_version")?,
        published_at: row.get("published_at")?,
        ..Grade::blank(submission_id, row.get("graded_by_id")?, row.get("graded_at")?)
    })
}

pub(super) fn grade_file(row: &Columns<'_>) -> Result<GradeFile> {
    from_row!(row => GradeFile { id, submission_id, uploaded_by_id, created_at, file: stored_file(row)? })
}

/// Reads the filled criteria of a grade.
pub(super) fn rubric_marks(row: &Columns<'_>) -> Result<Vec<RubricMark>> {
    let marks: Option<String> = row.get("rubric")?;
    Ok(marks
        .map(|marks| serde_json::from_str(&marks))
        .transpose()?
        .unwrap_or_default())
}

/// The grade of a single member with its author.
pub(super) struct MemberGradeRow {
    grade: MemberGrade,
    mark: Option<GradeMark>,
}

impl MemberGradeRow {
    /// Adds it to the grade of the group.
    pub(super) fn add_to(self, grade: &mut Grade) {
        if let Some(mark) = self.mark {
            grade.member_marks.insert(self.grade.user_id.clone(), mark);
        }
        grade.member_grades.push(self.grade);
    }
}

pub(super) fn member_grade(row: &Columns<'_>) -> Result<MemberGradeRow> {
    let grade = from_row!(row => MemberGrade {
        user_id, value, feedback,
        points: row.get::<Option<f64>>("points")?.map(Points::stored),
    })?;
    let (at, by): (Option<Timestamp>, Option<UserId>) = (row.get("graded_at")?, row.get("graded_by_id")?);
    let mark = at.zip(by).map(|(at, by)| GradeMark { at, by });
    Ok(MemberGradeRow { grade, mark })
}

pub(super) fn feedback(row: &Columns<'_>) -> Result<Feedback> {
    from_row!(row => Feedback {
        id, group_assignment_id, submission_id, document_id, text, visibility, published_at, created_at, updated_at,
        author: person(row)?,
    })
}
