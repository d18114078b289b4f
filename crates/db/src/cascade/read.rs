//! Reads what a deletion removes, before it runs: the input of log, events and file removal.

use std::collections::HashMap;

use domain::change::deletion::{CascadeDeletion, DeletedAssignment, DeletedCourse, DeletedGroup, GroupDocument};
use domain::class::ClassStatus;
use domain::document::{Document, DocumentState, DocumentStatus, UnlockedStatus};
use domain::document_kind::{DocumentType, FileExtension};
use domain::file::FileKey;
use domain::group::{GroupContext, GroupLabel};
use domain::id::{AssignmentId, ClassId, GroupId, UserId};

use super::deletion_plan::DeletionPlan;
use crate::ReadTx;
use crate::sql::Columns;
use crate::{args, statements};
use common::error::Result;

/// The columns of a document `d` in room `w` in the order that [`document`] reads.
macro_rules! document_columns {
    () => {
        "d.id, d.organization_id, d.work_room_id, w.group_id, d.title, d.document_type, d.file_extension, d.status,
            d.status_before_lock, d.locked_at, d.locked_by_assignment_id, d.assignment_id, d.generation,
            d.current_revision_id, d.version, d.size, d.created_by_id, d.last_edited_by, d.last_activity,
            d.save_failed_at, d.cut_at, d.freezing_until, d.unsaved_generation, d.submitted_at, d.submitted_by_id, d.created_at, d.updated_at"
    };
}
pub(super) use document_columns;

statements! {
    COURSES = "SELECT id, name FROM courses WHERE organization_id = $1 AND class_id = $2 ORDER BY sort_key, id";
}

impl ReadTx<'_> {
    /// Reads everything that is deleted with the entity of this id.
    pub(super) fn read_deletion(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<CascadeDeletion> {
        let mut removed = CascadeDeletion {
            groups: self.deleted_groups(plan, id)?,
            assignments: self.deleted_topics(plan, id)?,
            files: self.fetch_all(plan.files, args![id], |row| {
                row.take().map(|key: String| FileKey::new(key))
            })?,
            ..CascadeDeletion::default()
        };
        (removed.documents, removed.submissions, removed.messages) = self.fetch_one(plan.counts, args![id], |row| {
            Ok((row.take()?, row.take()?, row.take()?))
        })?;
        let (now, detached_topics) = (
            self.now(),
            self.fetch_all(plan.detached_topics, args![id], |row| row.take::<AssignmentId>())?,
        );
        removed.released = self.fetch_all(plan.detached_documents, args![id], |row| {
            let (group_context, mut document) = (group_context(row)?, document(row)?);
            // The same rule as the UPDATE that follows; `tests/api/cascade.rs` compares the results.
            let topics = [document.locked_by_assignment_id.clone(), document.assignment_id.clone()];
            for topic in topics.iter().flatten().filter(|topic| detached_topics.contains(topic)) {
                document.release(topic, now);
            }
            Ok(GroupDocument {
                group_context,
                document,
            })
        })?;
        Ok(removed)
    }

    pub(super) fn deleted_courses(&mut self, class: &ClassId) -> Result<Vec<DeletedCourse>> {
        self.fetch_all(&COURSES, args![class], |row| {
            Ok(DeletedCourse {
                id: row.take()?,
                name: row.take()?,
            })
        })
    }

    fn deleted_groups(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<Vec<DeletedGroup>> {
        let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
        for (group, user) in self.fetch_all(plan.members, args![id], |row| Ok((row.take()?, row.take()?)))? {
            members.entry(group).or_default().push(user);
        }
        self.fetch_all(plan.groups, args![id], |row| {
            let group_context = group_context(row)?;
            let members = members.remove(&group_context.group.id).unwrap_or_default();
            Ok(DeletedGroup { group_context, members })
        })
    }

    fn deleted_topics(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<Vec<DeletedAssignment>> {
        let mut group_contexts: HashMap<AssignmentId, Vec<GroupContext>> = HashMap::new();
        for (topic, group_context) in self.fetch_all(plan.topic_groups, args![id], |row| {
            Ok((row.take()?, group_context(row)?))
        })? {
            group_contexts.entry(topic).or_default().push(group_context);
        }
        self.fetch_all(plan.topics, args![id], |row| {
            let id: AssignmentId = row.take()?;
            Ok(DeletedAssignment {
                group_contexts: group_contexts.remove(&id).unwrap_or_default(),
                id,
                title: row.take()?,
                course_id: row.take()?,
            })
        })
    }
}

/// Reads the label of a group, its class, the status of the class and the start date.
fn group_context(row: &mut Columns<'_>) -> Result<GroupContext> {
    Ok(GroupContext {
        group: GroupLabel {
            id: row.take()?,
            name: row.take()?,
            group_number: row.take()?,
            display_name: row.take()?,
            course_id: row.take()?,
        },
        class: row.take()?,
        class_status: row.parse(ClassStatus::parse)?,
        start_date: row.take()?,
    })
}

/// Reads the columns of [`document_columns`].
fn document(row: &mut Columns<'_>) -> Result<Document> {
    Ok(Document {
        id: row.take()?,
        organization_id: row.take()?,
        work_room_id: row.take()?,
        group_id: row.take()?,
        title: row.take()?,
        document_type: row.parse(DocumentType::parse)?,
        file_extension: row.parse(FileExtension::parse)?,
        status: {
            let word = row.parse(DocumentStatus::parse)?;
            DocumentState::stored(word, row.parse_option(UnlockedStatus::parse)?)
        },
        locked_at: row.take()?,
        locked_by_assignment_id: row.take()?,
        assignment_id: row.take()?,
        generation: row.take()?,
        current_revision_id: row.take()?,
        version: row.take()?,
        size: row.take()?,
        created_by_id: row.take()?,
        last_edited_by: row.take()?,
        last_activity: row.take()?,
        save_failed_at: row.take()?,
        cut_at: row.take()?,
        freezing_until: row.take()?,
        unsaved_generation: row.take()?,
        submitted_at: row.take()?,
        submitted_by_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
